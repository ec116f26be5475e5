#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {
namespace {

constexpr std::uint16_t kNegative = 0x4000;
constexpr unsigned kDigitBase = 10'000;  // A numeric's digit holds four decimal ones.
constexpr unsigned kDigitWidth = 4;
constexpr std::size_t kDigitsMax = 12;  // 128 bits have 39 decimal digits.

struct NumericDigits {
    std::array<std::uint16_t, kDigitsMax> digits{};  ///< The last ones first.
    std::size_t count = 0;
    std::size_t behind_point = 0;
};

NumericDigits split(const Decimal& value) {
    UInt128 left = value.is_negative() ? -static_cast<UInt128>(value.unscaled())
                                       : static_cast<UInt128>(value.unscaled());
    NumericDigits out{.behind_point = (value.scale() + kDigitWidth - 1U) / kDigitWidth};
    // The first group may be a part: `12.5` is 12 and 5000.
    const unsigned part = value.scale() % kDigitWidth;
    if (part != 0) {
        unsigned whole = 1;
        unsigned missing = 1;
        for (unsigned i = 0; i < part; ++i) {
            whole *= 10;
        }
        for (unsigned i = part; i < kDigitWidth; ++i) {
            missing *= 10;
        }
        out.digits[out.count++] = static_cast<std::uint16_t>(unsigned(left % whole) * missing);
        left /= whole;
    }
    while (left != 0) {
        out.digits[out.count++] = static_cast<std::uint16_t>(left % kDigitBase);
        left /= kDigitBase;
    }
    return out;
}

}  // namespace

RowWriter& RowWriter::text(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    buffer_.append(value);
    return *this;
}

RowWriter& RowWriter::null() {
    put(~std::uint32_t{0});
    return *this;
}

RowWriter& RowWriter::instant(const Timestamp& at) {
    return i8(at.seconds).i4(static_cast<std::int32_t>(at.nanos));
}

RowWriter& RowWriter::instant(const std::optional<Timestamp>& at) {
    return at ? instant(*at) : null().null();
}

RowWriter& RowWriter::numeric(const Decimal& value) {
    NumericDigits split_up = split(value);
    // Without the zeros at both ends; the scale says how many digits after the point are shown.
    std::size_t first = 0;
    while (first < split_up.count && split_up.digits[first] == 0) {
        ++first;
    }
    std::size_t end = split_up.count;
    while (end > first && split_up.digits[end - 1] == 0) {
        --end;
    }
    const auto weight = end == first ? 0
                                     : static_cast<std::int64_t>(end) - 1 -
                                           static_cast<std::int64_t>(split_up.behind_point);
    put(static_cast<std::uint32_t>(8 + 2 * (end - first)));
    put(static_cast<std::uint16_t>(end - first));
    put(static_cast<std::uint16_t>(weight));
    put<std::uint16_t>(value.is_negative() ? kNegative : 0);
    put<std::uint16_t>(value.scale());
    for (std::size_t i = end; i > first; --i) {
        put(split_up.digits[i - 1]);
    }
    return *this;
}

std::size_t RowWriter::begin_array(Type type, std::size_t count) {
    const std::size_t at = buffer_.size();
    put<std::uint32_t>(0);  // patched by end_array
    put<std::uint32_t>(count == 0 ? 0 : 1);
    put<std::uint32_t>(1);  // may hold nulls
    put(static_cast<std::uint32_t>(type));
    if (count != 0) {
        put(static_cast<std::uint32_t>(count));
        put<std::uint32_t>(1);  // counts from 1
    }
    return at;
}

void RowWriter::end_array(std::size_t at) {
    const auto size = static_cast<std::uint32_t>(buffer_.size() - at - 4);
    for (unsigned i = 0; i < 4; ++i) {
        buffer_[at + i] = static_cast<char>(size >> (24 - 8 * i));
    }
}

RowWriter& RowWriter::array_of_fields(Type type, std::size_t count, std::string_view fields) {
    const std::size_t at = begin_array(type, count);
    buffer_.append(fields);
    end_array(at);
    return *this;
}

}  // namespace sluice::pg
