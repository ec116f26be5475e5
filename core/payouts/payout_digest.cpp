#include "core/payouts/payout_digest.hpp"

#include "core/rules/payout_names.hpp"

namespace sluice {
namespace {

/// Length as u32, little endian, then the bytes.
void append_text(std::string& bytes, std::string_view text) {
    constexpr unsigned kBitsPerByte = 8;
    for (unsigned i = 0; i < sizeof(std::uint32_t); ++i) {
        bytes.push_back(static_cast<char>(text.size() >> (kBitsPerByte * i)));
    }
    bytes.append(text);
}

}  // namespace

Digest256 items_digest(const std::vector<PayoutItem>& items, Currency currency) {
    std::string bytes;
    for (const PayoutItem& item : items) {
        append_text(bytes, item.program.view());
        append_text(bytes, item.shop_id.view());
        append_text(bytes, item.order_id.view());
        append_text(bytes, item.line.view());
        append_text(bytes, to_string(item.kind));
        append_text(bytes, currency.code());
        append_text(bytes, item.amount.to_string());
    }
    return sha256(bytes);
}

void append_payout(std::string& bytes, const CreatorId& creator, Currency currency,
                   const Decimal& amount, const Digest256& items) {
    append_text(bytes, creator.view());
    append_text(bytes, currency.code());
    append_text(bytes, amount.to_string());
    bytes.append(items.begin(), items.end());
}

}  // namespace sluice
