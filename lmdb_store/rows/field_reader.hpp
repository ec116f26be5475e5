// Field reader: takes what a FieldWriter wrote. The bytes may be anything.
//
// After a field that failed, ok() is false, and values are unspecified but in their ranges. Texts
// and lists keep their buffers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/ledger/valid.hpp"
#include "lmdb_store/rows/field_writer.hpp"

namespace sluice::store {

class FieldReader {
public:
    /// @param key  The key under which the value is stored.
    FieldReader(std::string_view key, std::string_view value) noexcept;

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    /// Returns whether the whole value was taken, and all of it was sound.
    [[nodiscard]] bool complete() const noexcept { return ok_ && rest_.empty(); }
    void fail() noexcept {
        ok_ = false;
        rest_ = {};
    }

    void operator()(std::uint64_t& value) noexcept { value = number(); }
    void operator()(std::uint32_t& value) noexcept { value = small<std::uint32_t>(); }
    void operator()(std::uint8_t& value) noexcept { value = small<std::uint8_t>(); }
    void operator()(bool& value) noexcept {
        const std::uint64_t taken = number();
        expect(taken <= 1);
        value = taken == 1;
    }
    template <class Tag>
    void operator()(NumberId<Tag>& value) noexcept {
        (*this)(value.value);
    }
    void operator()(SequenceNumber& value) noexcept { value.value = number(); }
    void operator()(Timestamp& at) noexcept;
    void operator()(Decimal& value) noexcept;
    void operator()(Currency& currency) noexcept;
    template <std::size_t N>
    void operator()(std::array<std::uint8_t, N>& digest) noexcept {
        const std::string_view taken = take(N);
        if (ok_) {
            std::memcpy(digest.data(), taken.data(), N);
        }
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(Enum& value) noexcept {
        const auto taken = static_cast<Enum>(small<std::uint8_t>());
        expect(is_valid(taken));
        value = ok_ ? taken : value;
    }
    /// Reads an enum from its byte.
    /// @param is_one  Returns true for a byte that is a value of the enum.
    void one_of(std::uint8_t& value, bool (*is_one)(std::uint8_t)) noexcept {
        const auto taken = small<std::uint8_t>();
        expect(is_one(taken));
        value = ok_ ? taken : value;
    }
    void operator()(AnyTextId& id) { id.assign(text()); }
    void operator()(std::string& value) { value.assign(text()); }
    template <class Value>
    void operator()(std::optional<Value>& value) {
        bool present = false;
        (*this)(present);
        if (!present) {
            value.reset();
            return;
        }
        if (!value) {
            value.emplace();
        }
        (*this)(*value);
    }

    /// Reads fields one after the other.
    template <class First, class... Rest>
    requires(sizeof...(Rest) > 0) [[gnu::always_inline]] void operator()(First& first,
                                                                         Rest&... rest) {
        (*this)(first);
        ((*this)(rest), ...);
    }

    [[nodiscard]] std::uint64_t number() noexcept {
        if (!rest_.empty() && static_cast<unsigned char>(rest_.front()) < 0x80) {
            const auto value = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            return value;
        }
        return long_number();
    }
    [[nodiscard]] std::string_view text() noexcept { return take(number()); }
    /// Calls `field(row)` for as many rows as were written.
    template <class Rows, class Field>
    void each(Rows& rows, Field&& field) {
        const std::uint64_t count = number();
        expect(count <= rest_.size());  // none takes less than a byte
        rows.resize(ok_ ? count : 0);
        for (auto& row : rows) {
            field(row);
        }
    }
    void like(AnyTextId& id, const AnyTextId& other) {
        const std::string_view taken = text();
        id.assign(taken.empty() ? other.view() : taken);
    }
    void like(Timestamp& at, const Timestamp& other) {
        bool same = false;
        (*this)(same);
        at = other;
        if (!same) {
            (*this)(at);
        }
    }

protected:
    void expect(bool sound) noexcept {
        if (!sound) {
            fail();
        }
    }

private:
    [[nodiscard]] std::uint64_t long_number() noexcept;
    [[nodiscard]] std::string_view take(std::uint64_t count) noexcept {
        if (count > rest_.size()) {
            fail();
            return {};
        }
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    template <class Small>
    [[nodiscard]] Small small() noexcept {
        const std::uint64_t taken = number();
        expect(taken <= static_cast<Small>(~Small{0}));
        return static_cast<Small>(ok_ ? taken : 0);
    }

    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace sluice::store
