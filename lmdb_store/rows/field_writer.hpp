// Field writer: typed fields as bytes, one after the other. docs/record-format.md lists the forms.
//
// Equal fields give equal bytes. A row's fields are sealed with the key of the row, so that a value
// that was altered, or that is stored under another key, is recognised.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/values/crc32c.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::store {

inline constexpr std::size_t kSealBytes = sizeof(std::uint32_t);
/// CRC32C of the key and the fields.
[[nodiscard]] inline std::uint32_t seal_of(std::string_view key, std::string_view fields) noexcept {
    return crc32c(crc32c(0, key), fields);
}

/// Maps small numbers of either sign to small unsigned numbers.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

/// Reusable; keeps its buffer.
class FieldWriter {
public:
    void clear() noexcept { size_ = 0; }
    /// Valid until the next write. Without fields the value is empty, because the key says all.
    [[nodiscard]] std::string_view sealed(std::string_view key) {
        if (size_ == 0) {
            return {};
        }
        const std::uint32_t seal = seal_of(key, {bytes_.data(), size_});
        std::memcpy(room(kSealBytes), &seal, kSealBytes);
        size_ += kSealBytes;
        return {bytes_.data(), size_};
    }

    void operator()(std::uint64_t value) { number(value); }
    void operator()(std::uint32_t value) { number(value); }
    void operator()(std::uint8_t value) { number(value); }
    void operator()(bool value) { number(value ? 1 : 0); }
    template <class Tag>
    void operator()(NumberId<Tag> value) {
        number(value.value);
    }
    void operator()(SequenceNumber value) { number(value.value); }
    void operator()(const Timestamp& at) {
        number(zigzag(at.seconds) << 1 | (at.nanos != 0 ? 1 : 0));
        if (at.nanos != 0) {
            number(at.nanos);
        }
    }
    /// The first byte holds the scale and the lowest bits, so that most zeros take one byte.
    void operator()(const Decimal& value) {
        const auto bits = static_cast<UInt128>(value.unscaled());
        UInt128 rest = (bits << 1) ^ (value.is_negative() ? ~UInt128{0} : UInt128{0});
        char* at = room(kDecimalBytesMax);
        const auto low = static_cast<unsigned>(rest & 7) << 4 | value.scale();
        rest >>= 3;
        at[0] = static_cast<char>(low | (rest != 0 ? 0x80U : 0U));
        std::size_t size = 1;
        for (; rest != 0; rest >>= 7) {
            at[size++] = static_cast<char>((rest & 0x7F) | (rest >> 7 != 0 ? 0x80 : 0));
        }
        size_ += size;
    }
    /// An absent currency is one 0x00.
    void operator()(const Currency& currency) {
        const std::string_view code = currency.code();
        raw(code.front() == '\0' ? code.substr(0, 1) : code);
    }
    template <std::size_t N>
    void operator()(const std::array<std::uint8_t, N>& digest) {
        raw({reinterpret_cast<const char*>(digest.data()), digest.size()});
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(Enum value) { number(static_cast<std::uint64_t>(value)); }
    void operator()(const AnyTextId& id) { text(id.view()); }
    void operator()(const std::string& value) { text(value); }
    template <class Value>
    void operator()(const std::optional<Value>& value) {
        (*this)(value.has_value());
        if (value) {
            (*this)(*value);
        }
    }

    /// Writes fields one after the other.
    template <class First, class... Rest>
    requires(sizeof...(Rest) > 0) [[gnu::always_inline]] void operator()(const First& first,
                                                                         const Rest&... rest) {
        (*this)(first);
        ((*this)(rest), ...);
    }

    void number(std::uint64_t value) {
        char* at = room(kNumberBytesMax);
        std::size_t size = 0;
        for (; value >= 0x80; value >>= 7) {
            at[size++] = static_cast<char>(value | 0x80);
        }
        at[size++] = static_cast<char>(value);
        size_ += size;
    }
    void text(std::string_view value) {
        number(value.size());
        raw(value);
    }
    /// Calls `field(row)` for each.
    template <class Rows, class Field>
    void each(const Rows& rows, Field&& field) {
        number(rows.size());
        for (const auto& row : rows) {
            field(row);
        }
    }
    /// Writes an empty text for an id equal to `other`. For ids that are never empty.
    void like(const AnyTextId& id, const AnyTextId& other) {
        text(id.view() == other.view() ? std::string_view{} : id.view());
    }
    void like(const Timestamp& at, const Timestamp& other) {
        (*this)(at == other);
        if (at != other) {
            (*this)(at);
        }
    }

protected:
    void raw(std::string_view value) {
        if (!value.empty()) {
            std::memcpy(room(value.size()), value.data(), value.size());
            size_ += value.size();
        }
    }

private:
    static constexpr std::size_t kNumberBytesMax = 10;
    static constexpr std::size_t kDecimalBytesMax = 19;

    char* room(std::size_t wanted) {
        if (bytes_.size() - size_ < wanted) [[unlikely]] {
            grow(wanted);
        }
        return bytes_.data() + size_;
    }
    [[gnu::noinline]] void grow(std::size_t wanted) {
        bytes_.resize(std::max(2 * bytes_.size(), size_ + wanted));
    }

    std::string bytes_ = std::string(1024, '\0');
    std::size_t size_ = 0;
};

}  // namespace sluice::store
