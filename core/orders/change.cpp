#include "core/orders/change.hpp"

#include <utility>

#include "core/orders/reply.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {

bool OrderChange::load(const OrderKey& key) {
    if (!load_sound_order(txn_, key, state_)) {
        return false;
    }
    before_ = indexed(state_);
    volume_ = counted_volume(state_, programs_, txn_);
    return true;
}

bool OrderChange::load_unless_damaged(const OrderKey& key) {
    return skip_damaged([&] { return load(key); });
}

Status OrderChange::load(const CommandContext& context, const OrderId& order) {
    if (Status reason = check_reason(context); !reason) {
        return reason;
    }
    if (!load({context.account, context.shop, order})) {
        return not_found("there is no order " + order.str() + " in shop " + context.shop_id.str());
    }
    return {};
}

const AccountSettings& OrderChange::settings() {
    return programs_.settings(txn_, state_.key.account);
}

void OrderChange::post(Position& position, std::vector<JournalEntry> postings,
                       std::vector<JournalEntry> memos) {
    const std::uint64_t first =
        post_owed(txn_, state_, position, source_, settings().row.closed_until, std::move(postings),
                  std::move(memos));
    if (first != 0) {
        state_.other_groups.push_back(first);
    }
}

void OrderChange::post_memo(JournalReason reason, std::string_view line) {
    post_order_memo(txn_, state_, source_, settings().row.closed_until, reason, line);
}

void OrderChange::finish() {
    judge_anomalies(txn_, state_, settings(), source_, {});
    reindex(txn_, state_, before_);
    count_volume(state_, volume_, source_, programs_, txn_);
    txn_.put_order(state_);
}

}  // namespace sluice
