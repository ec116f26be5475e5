#include "lmdb_store/rows/field_reader.hpp"

namespace sluice::store {

FieldReader::FieldReader(std::string_view key, std::string_view value) noexcept {
    if (value.empty()) {
        return;
    }
    if (value.size() <= kSealBytes) {
        ok_ = false;
        return;
    }
    const std::string_view fields = value.substr(0, value.size() - kSealBytes);
    std::uint32_t seal = 0;
    std::memcpy(&seal, value.data() + fields.size(), kSealBytes);
    ok_ = seal == seal_of(key, fields);
    rest_ = ok_ ? fields : std::string_view{};
}

std::uint64_t FieldReader::long_number() noexcept {
    constexpr unsigned kShiftMax = 63;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift <= kShiftMax && !rest_.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(rest_.front());
        const std::uint64_t bits = byte & 0x7FU;
        rest_.remove_prefix(1);
        value |= bits << shift;
        if (byte < 0x80) {
            // Each number has one encoding: no leading zeros, and no bit beyond 64.
            expect((byte != 0 || shift == 0) && (bits << shift) >> shift == bits);
            return ok_ ? value : 0;
        }
    }
    fail();
    return 0;
}

void FieldReader::operator()(Timestamp& at) noexcept {
    const std::uint64_t taken = number();
    Timestamp read{unzigzag(taken >> 1), 0};
    if ((taken & 1) != 0) {
        read.nanos = small<std::uint32_t>();
        expect(read.nanos != 0);
    }
    expect(is_valid(read));
    at = ok_ ? read : Timestamp{};
}

void FieldReader::operator()(Decimal& value) noexcept {
    constexpr unsigned kShiftMax = 122;
    const std::string_view first = take(1);
    const unsigned low = ok_ ? static_cast<unsigned char>(first.front()) : 0U;
    UInt128 bits = (low >> 4) & 7;
    bool more = (low & 0x80) != 0;
    for (unsigned shift = 3; more && ok_; shift += 7) {
        const std::string_view next = take(1);
        const unsigned byte = ok_ ? static_cast<unsigned char>(next.front()) : 0U;
        more = (byte & 0x80) != 0;
        const UInt128 part = byte & 0x7F;
        expect(shift <= kShiftMax && (more || byte != 0));
        expect(ok_ && (part << shift) >> shift == part);
        bits |= ok_ ? part << shift : 0;
    }
    const auto unscaled = static_cast<Int128>((bits >> 1) ^ (~(bits & 1) + 1));
    const Decimal read(unscaled, static_cast<std::uint8_t>(low & 0x0F));
    expect(is_valid(read));
    value = ok_ ? read : Decimal();
}

void FieldReader::operator()(Currency& currency) noexcept {
    if (!rest_.empty() && rest_.front() == '\0') {
        rest_.remove_prefix(1);
        currency = Currency();
        return;
    }
    const std::string_view code = take(Currency().code().size());
    if (ok_ && code != currency.code()) {
        const auto parsed = Currency::parse(code);
        expect(parsed.has_value());
        currency = parsed.value_or(Currency());
    }
}

}  // namespace sluice::store
