// A line in an order's value: the long form that holds anything, and the short one that nearly
// every order's lines fit. Pure. Internal to this room.
#pragma once

#include <cstdint>

#include "lmdb_store/ledger/ledger_generated.h"

namespace sluice::store {

inline constexpr std::uint8_t kPresentBit = 1;
inline constexpr unsigned kRateLowBits = 16;
inline constexpr std::uint32_t kNotFrozen = (1U << 23) - 1;
inline constexpr std::uint16_t kNoVariantSku = 0xFFFF;

/// The index of its rate, or kNotFrozen.
[[nodiscard]] std::uint32_t rate_of(const fbs::OrderLine& line) noexcept;

[[nodiscard]] bool fits_short(const fbs::OrderLine& line) noexcept;
/// Requires: fits_short(line). lengthened() undoes it.
[[nodiscard]] fbs::ShortLine shortened(const fbs::OrderLine& line) noexcept;
[[nodiscard]] fbs::OrderLine lengthened(const fbs::ShortLine& line) noexcept;

}  // namespace sluice::store
