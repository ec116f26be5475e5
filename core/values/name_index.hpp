// Name index: finds a JSON key among the few names that a table knows, by a perfect hash that the
// compiler searches for. A key that the table does not know costs one comparison at most, so a
// sender cannot make the look-up slow by its choice of keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

class NameIndex {
public:
    static constexpr std::size_t kNamesMax = 32;
    static constexpr std::size_t kNone = 0xff;

    /// @param names  Distinct, at most kNamesMax. Fails to compile if no seed separates them.
    template <class Names, class GetName>
    static constexpr NameIndex make(const Names& names, GetName get_name) {
        for (std::uint64_t seed = 1; seed < 2000; ++seed) {
            NameIndex index;
            index.seed_ = seed * 0x9e37'79b9'7f4a'7c15;
            index.slots_.fill(kNone);
            bool separated = true;
            std::uint8_t position = 0;
            for (const auto& named : names) {
                std::uint8_t& slot = index.slots_[index.slot_of(get_name(named))];
                separated = separated && slot == kNone;
                slot = position++;
            }
            if (separated) {
                return index;
            }
        }
        throw "no seed separates these names";
    }

    /// Returns the only position whose name can equal `key`, or kNone. The caller compares.
    [[nodiscard]] constexpr std::size_t candidate(std::string_view key) const noexcept {
        return slots_[slot_of(key)];
    }

private:
    static constexpr unsigned kSlotBits = 7;

    /// Looks at the length and four bytes: the names of a table differ in at least one of them.
    [[nodiscard]] constexpr std::size_t slot_of(std::string_view key) const noexcept {
        if (key.empty()) {
            return 0;
        }
        const std::size_t last = key.size() - 1;
        const auto byte = [key, last](std::size_t at) {
            return std::uint64_t{static_cast<unsigned char>(key[at < last ? at : last])};
        };
        const std::uint64_t mixed = std::uint64_t{static_cast<std::uint8_t>(key.size())} << 32 |
                                    byte(0) << 24 | byte(6) << 16 | byte(9) << 8 | byte(last);
        return mixed * seed_ >> (64 - kSlotBits);
    }

    std::uint64_t seed_ = 1;
    std::array<std::uint8_t, std::size_t{1} << kSlotBits> slots_{};
};

}  // namespace sluice
