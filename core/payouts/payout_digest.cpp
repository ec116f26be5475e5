#include "core/payouts/payout_digest.hpp"

#include "core/payouts/payout_names.hpp"

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

void RunningItemsDigest::add(const PayoutItem& item, Currency currency) {
    bytes_.clear();
    append_text(bytes_, item.program.view());
    append_text(bytes_, item.shop_id.view());
    append_text(bytes_, item.order_id.view());
    append_text(bytes_, item.line.view());
    append_text(bytes_, to_string(item.kind));
    append_text(bytes_, currency.code());
    append_text(bytes_, item.amount.to_string());
    sha_.add(bytes_);
}

Digest256 items_digest(const std::vector<PayoutItem>& items, Currency currency) {
    RunningItemsDigest digest;
    for (const PayoutItem& item : items) {
        digest.add(item, currency);
    }
    return digest.digest();
}

void add_payout(RunningSha256& run, const CreatorId& creator, Currency currency,
                const Decimal& amount, const Digest256& items) {
    std::string bytes;
    append_text(bytes, creator.view());
    append_text(bytes, currency.code());
    append_text(bytes, amount.to_string());
    bytes.append(items.begin(), items.end());
    run.add(bytes);
}

}  // namespace sluice
