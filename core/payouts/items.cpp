#include "core/payouts/items.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/values/lookup.hpp"

namespace sluice {
namespace {

constexpr unsigned kItemKeyColumns = 6;

bool same(const PayoutItem& a, const PayoutItem& b) {
    return is_of_one_order(a, b) && std::tie(a.line, a.kind) == std::tie(b.line, b.kind);
}

std::vector<const Payout*> by_id(std::span<const Payout> payouts) {
    std::vector<const Payout*> sorted =
        mapped(payouts, [](const Payout& payout) { return &payout; });
    std::ranges::sort(sorted, {}, &Payout::payout_id);
    return sorted;
}

/// Moves `at` to the payout of a row that a scan has come to. Returns false if the row is of
/// another payout than the current or the next one.
bool follow(const std::vector<const Payout*>& payouts, std::size_t& at, const std::string& id) {
    if (payouts[at]->payout_id != id && at + 1 < payouts.size() &&
        payouts[at + 1]->payout_id == id) {
        ++at;
    }
    return payouts[at]->payout_id == id;
}

/// Length as u32, little endian, then the bytes.
void append_text(std::string& bytes, std::string_view text) {
    constexpr unsigned kBitsPerByte = 8;
    for (unsigned i = 0; i < sizeof(std::uint32_t); ++i) {
        bytes.push_back(static_cast<char>(text.size() >> (kBitsPerByte * i)));
    }
    bytes.append(text);
}

}  // namespace

bool is_of_one_order(const PayoutItem& a, const PayoutItem& b) {
    return std::tie(a.payout_id, a.program, a.shop_id, a.order_id) ==
           std::tie(b.payout_id, b.program, b.shop_id, b.order_id);
}

ItemSlices::ItemSlices(std::span<const Payout> payouts, LedgerReader& ledger)
    : payouts_(by_id(payouts)), ledger_(ledger) {}

bool ItemSlices::read_on(std::vector<std::pair<const Payout*, PayoutItem>>& slice) {
    if (!resumed_) {
        last_ = PayoutItem{};
        last_.payout_id = payouts_[at_]->payout_id;
    }
    bool full = false;
    ledger_.scan(last_, {0, resumed_ ? kItemKeyColumns : 1U}, [&](const PayoutItem& item) {
        if (resumed_ && same(item, last_)) {
            return true;
        }
        full = slice.size() >= kPayoutSlice && !is_of_one_order(item, slice.back().second);
        if (full || !follow(payouts_, at_, item.payout_id)) {
            return false;
        }
        slice.emplace_back(payouts_[at_], item);
        return true;
    });
    resumed_ = full && slice.back().first == payouts_[at_];
    if (resumed_) {
        last_ = slice.back().second;
    }
    at_ += full ? 0U : 1U;
    return !full;
}

bool ItemSlices::next(std::vector<std::pair<const Payout*, PayoutItem>>& slice) {
    slice.clear();
    while (at_ < payouts_.size() && read_on(slice)) {
    }
    return !slice.empty();
}

PartsOf parts_of(std::span<const Payout> payouts, LedgerReader& ledger) {
    PartsOf parts;
    const std::vector<const Payout*> sorted = by_id(payouts);
    for (std::size_t at = 0; at < sorted.size(); ++at) {
        ledger.scan(PayoutPart{sorted[at]->payout_id}, {0, 1}, [&](const PayoutPart& part) {
            const bool wanted = follow(sorted, at, part.payout_id);
            if (wanted) {
                parts[part.payout_id].push_back(part);
            }
            return wanted;
        });
    }
    return parts;
}

std::uint64_t orders_of(const std::vector<PayoutItem>& items) {
    using Order = std::pair<std::string_view, std::string_view>;
    std::vector<Order> orders;
    for (const PayoutItem& item : items) {
        const Order order{item.shop_id.view(), item.order_id.view()};
        if (!item.order_id.empty() && (orders.empty() || orders.back() != order)) {
            orders.push_back(order);
        }
    }
    if (!items.empty() && items.front().program != items.back().program) {
        std::ranges::sort(orders);
        orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    }
    return orders.size();
}

void ItemsDigest::add(const PayoutItem& item, Currency currency) {
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

void add_payout(RunningSha256& run, const CreatorId& creator, Currency currency,
                const Decimal& amount, const Digest256& digest) {
    std::string bytes;
    append_text(bytes, creator.view());
    append_text(bytes, currency.code());
    append_text(bytes, amount.to_string());
    bytes.append(digest.begin(), digest.end());
    run.add(bytes);
}

}  // namespace sluice
