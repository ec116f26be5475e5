#include "lmdb_store/ledger/value.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/ledger/valid.hpp"

namespace sluice::store {
fbs::Wide to_wide(const Decimal& value) noexcept {
    const auto bits = static_cast<UInt128>(value.unscaled());
    return {static_cast<std::uint64_t>(bits), static_cast<std::int64_t>(value.unscaled() >> 64),
            value.scale()};
}

bool from_wide(const fbs::Wide& wide, Decimal& value) noexcept {
    const auto high = static_cast<UInt128>(static_cast<Int128>(wide.high()));
    value = Decimal(static_cast<Int128>((high << 64) | wide.low()), wide.scale());
    return is_valid(value);
}

std::int64_t WideDecimals::put(const Decimal& value, std::uint8_t& scale) {
    scale = value.scale();
    const Int128 unscaled = value.unscaled();
    if (unscaled >= std::numeric_limits<std::int64_t>::min() &&
        unscaled <= std::numeric_limits<std::int64_t>::max()) {
        return static_cast<std::int64_t>(unscaled);
    }
    scale |= kWideBit;
    wides_.push_back(to_wide(value));
    return static_cast<std::int64_t>(wides_.size() - 1);
}

Decimal WideDecimalReader::get(std::int64_t value, std::uint8_t scale) noexcept {
    if ((scale & WideDecimals::kWideBit) == 0) {
        const Decimal narrow(value, scale);
        ok_ = ok_ && is_valid(narrow);
        return ok_ ? narrow : Decimal();
    }
    Decimal wide;
    const auto index = static_cast<std::uint64_t>(value);
    ok_ = ok_ && wides_ != nullptr && index < wides_->size() &&
          from_wide(*wides_->Get(static_cast<flatbuffers::uoffset_t>(index)), wide);
    return ok_ ? wide : Decimal();
}

Digest256 from_hash(const fbs::Hash& hash) noexcept {
    Digest256 digest;
    std::memcpy(digest.data(), hash.bytes()->data(), digest.size());
    return digest;
}

fbs::Money3 to_money3(const Currency& currency) noexcept {
    std::array<std::uint8_t, 3> code{};
    std::copy_n(currency.code().begin(), code.size(), code.begin());
    return fbs::Money3(flatbuffers::span<const std::uint8_t, 3>(code));
}

bool from_money3(const fbs::Money3& code, Currency& currency) noexcept {
    const std::string_view text(reinterpret_cast<const char*>(code.code()->data()), 3);
    if (text == currency.code()) {
        return true;
    }
    if (text == Currency().code()) {
        currency = Currency();
        return true;
    }
    const auto parsed = Currency::parse(text);
    if (parsed) {
        currency = *parsed;
    }
    return parsed.has_value();
}

}  // namespace sluice::store
