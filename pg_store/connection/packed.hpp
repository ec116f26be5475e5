// Packed: numbers and texts as bytes, big endian. Internal to pg_store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/ledger/failure.hpp"

namespace sluice::pg {

/// The fault of a field. The reader of the row adds which row it is.
class DamagedField : public LedgerFailure {
public:
    explicit DamagedField(const std::string& what)
        : LedgerFailure(corrupt("the ledger holds a damaged row: " + what)), wrong(what) {}
    std::string wrong;
};
[[noreturn]] inline void throw_damaged(const std::string& what) {
    throw DamagedField(what);
}

class Packer {
public:
    template <class Integer>
    Packer& number(Integer value) {
        for (std::size_t i = sizeof(Integer); i-- > 0;) {
            bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
        }
        return *this;
    }
    Packer& bytes(std::string_view raw) {
        bytes_.append(raw);
        return *this;
    }
    /// Adds a text of up to 255 bytes.
    Packer& text(std::string_view text) {
        return number(static_cast<std::uint8_t>(text.size())).bytes(text);
    }
    [[nodiscard]] std::string take() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

/// Damage throws.
class Unpacker {
public:
    /// @param ended  The fault of bytes that end before a value does.
    explicit Unpacker(std::string_view bytes,
                      const char* ended = "packed bytes end too early") noexcept
        : rest_(bytes), ended_(ended) {}
    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
    template <class Integer>
    Integer number() {
        std::uint64_t value = 0;
        for (const char byte : bytes(sizeof(Integer))) {
            value = value << 8 | static_cast<unsigned char>(byte);
        }
        return static_cast<Integer>(value);
    }
    std::string_view bytes(std::size_t count) {
        if (rest_.size() < count) {
            throw_damaged(ended_);
        }
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    std::string_view text() { return bytes(number<std::uint8_t>()); }

private:
    std::string_view rest_;
    const char* ended_;
};

}  // namespace sluice::pg
