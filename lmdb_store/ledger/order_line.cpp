#include "lmdb_store/ledger/order_line.hpp"

#include <limits>

namespace sluice::store {
namespace {

constexpr std::uint8_t kNotFrozenShort = 0xFF;
constexpr std::uint8_t kNoVariantSkuShort = 0xFF;
constexpr std::uint8_t kScaleBits = 0x0F;

bool fits_short(std::int64_t value, std::uint8_t scale) noexcept {
    return value >= 0 && value <= std::numeric_limits<std::uint32_t>::max() && scale <= kScaleBits;
}

}  // namespace

std::uint32_t rate_of(const fbs::OrderLine& line) noexcept {
    return line.rate() | static_cast<std::uint32_t>(line.flags() >> 1) << kRateLowBits;
}

bool fits_short(const fbs::OrderLine& line) noexcept {
    const std::uint32_t rate = rate_of(line);
    return fits_short(line.amount(), line.amount_scale()) &&
           fits_short(line.tax(), line.tax_scale()) &&
           fits_short(line.commission(), line.commission_scale()) && line.quantity() <= 0xFFFF &&
           (rate < kNotFrozenShort || rate == kNotFrozen) && line.id_bytes() <= 0xFF &&
           line.sku_bytes() <= 0xFF &&
           (line.variant_sku_bytes() < kNoVariantSkuShort ||
            line.variant_sku_bytes() == kNoVariantSku);
}

fbs::ShortLine shortened(const fbs::OrderLine& line) noexcept {
    const std::uint32_t rate = rate_of(line);
    return {static_cast<std::uint32_t>(line.amount()),
            static_cast<std::uint32_t>(line.tax()),
            static_cast<std::uint32_t>(line.commission()),
            static_cast<std::uint16_t>(line.quantity()),
            rate == kNotFrozen ? kNotFrozenShort : static_cast<std::uint8_t>(rate),
            static_cast<std::uint8_t>(line.id_bytes()),
            static_cast<std::uint8_t>(line.sku_bytes()),
            line.variant_sku_bytes() == kNoVariantSku
                ? kNoVariantSkuShort
                : static_cast<std::uint8_t>(line.variant_sku_bytes()),
            static_cast<std::uint8_t>(line.amount_scale() | line.tax_scale() << 4),
            static_cast<std::uint8_t>((line.flags() & kPresentBit) | line.commission_scale() << 4)};
}

fbs::OrderLine lengthened(const fbs::ShortLine& line) noexcept {
    const std::uint32_t rate = line.rate() == kNotFrozenShort ? kNotFrozen : line.rate();
    return {line.amount(),
            line.tax(),
            line.commission(),
            line.quantity(),
            static_cast<std::uint16_t>(rate),
            line.id_bytes(),
            line.sku_bytes(),
            line.variant_sku_bytes() == kNoVariantSkuShort
                ? kNoVariantSku
                : std::uint16_t{line.variant_sku_bytes()},
            static_cast<std::uint8_t>(line.scales() & kScaleBits),
            static_cast<std::uint8_t>(line.scales() >> 4),
            static_cast<std::uint8_t>(line.flags() >> 4),
            static_cast<std::uint8_t>((rate >> kRateLowBits) << 1 | (line.flags() & kPresentBit))};
}

}  // namespace sluice::store
