#include "tool/reconcile/verdict.hpp"

#include <algorithm>
#include <optional>

#include "core/rules/order_book.hpp"

namespace sluice::cli {
namespace {

void compare_amount(ListField field, const std::optional<Decimal>& listed,
                    const std::string& stored, std::vector<FieldDifference>& differences) {
    const std::optional<Decimal> kept = Decimal::parse(stored);
    if (listed && (!kept || *listed != *kept)) {
        differences.push_back({name_of(field), listed->to_string(), stored});
    }
}

/// On WooCommerce a refund, and its deletion, may leave the version as it was. Lines that the list
/// lacks are not compared, because a shop may have removed one after its refund.
void compare_refunds(const ListedOrder& listed, const OrderState& stored,
                     std::vector<FieldDifference>& differences) {
    const EffectiveRefunds refunds(stored.refunds);
    Decimal stated, kept;
    bool differ = false;
    for (const ListedRefund& row : listed.refunds) {
        const Decimal amount = refunds.amount(LineItemId(row.line));
        differ = differ || amount != row.amount;
        stated += row.amount;
        kept += amount;
    }
    if (differ) {
        differences.push_back({"refund_line_items", stated.to_string(), kept.to_string()});
    }
}

std::vector<FieldDifference> differences_between(const ListedOrder& listed,
                                                 const OrderState& stored) {
    std::vector<FieldDifference> found;
    compare_amount(ListField::kAmount, listed.amount, stored.amount, found);
    compare_amount(ListField::kTax, listed.tax, stored.tax, found);
    compare_amount(ListField::kShipping, listed.shipping, stored.shipping, found);
    compare_refunds(listed, stored, found);
    if (listed.currency && *listed.currency != stored.currency) {
        found.push_back({name_of(ListField::kCurrency), std::string(listed.currency->code()),
                         std::string(stored.currency.code())});
    }
    if (listed.cancelled && *listed.cancelled != stored.cancelled_at.has_value()) {
        const auto word = [](bool cancelled) { return cancelled ? "cancelled" : "not cancelled"; };
        found.push_back({name_of(ListField::kCancelledAt), word(*listed.cancelled),
                         word(stored.cancelled_at.has_value())});
    }
    return found;
}

/// Returns the part of a version by which a list can be compared: the rest of a rank of Shopify
/// is the moment of a webhook, which a list does not state.
Timestamp comparable(const ListedOrder& listed, Timestamp version) {
    constexpr std::uint32_t kRankNanos = 1'000'000;
    return listed.is_ranked ? Timestamp{version.seconds, version.nanos - version.nanos % kRankNanos}
                            : version;
}

OrderVerdict judge_settled(const ListedOrder& listed, const OrderState* stored) {
    if (stored == nullptr) {
        return {OrderClass::kMissing, {}};
    }
    const Timestamp kept = comparable(listed, stored->version);
    const Timestamp stated = comparable(listed, listed.version.value_or(kept));
    if (listed.version && stated != kept) {
        return {stated > kept ? OrderClass::kStale : OrderClass::kNewer,
                {{name_of(ListField::kVersion), listed.version->to_string(),
                  stored->version.to_string()}}};
    }
    auto differences = differences_between(listed, *stored);
    const OrderClass kind = differences.empty() ? OrderClass::kSame : OrderClass::kDifferent;
    return {kind, std::move(differences)};
}

}  // namespace

OrderVerdict judge(const ListedOrder& listed, const OrderState* stored, Timestamp settled_until) {
    OrderVerdict verdict = judge_settled(listed, stored);
    const std::optional<Timestamp> latest = std::max(listed.version, listed.ordered_at);
    const bool is_information =
        verdict.kind == OrderClass::kSame || verdict.kind == OrderClass::kNewer;
    if (!is_information && latest && *latest > settled_until) {
        return {OrderClass::kRecent, {}};
    }
    return verdict;
}

}  // namespace sluice::cli
