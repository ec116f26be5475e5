#include "core/orders/month_rating.hpp"

#include "core/orders/change.hpp"
#include "core/orders/volume.hpp"
#include "core/rules/owed_changes.hpp"

namespace sluice {

const Money& MonthRating::volume(Currency currency) {
    const auto [found, added] = volumes_.try_emplace(currency);
    if (added) {
        found->second = stored_volume(
            {work_.key.account, work_.program, work_.creator, work_.month, currency, {}}, txn_);
    }
    return found->second;
}

void MonthRating::rate(const OrderKey& order) {
    OrderChange change(txn_, programs_, source_);
    if (!change.load_unless_damaged(order) || !change.state().live) {
        return;
    }
    OrderState& state = change.state();
    if (!tiers_.rate(*state.position(), volume(state.currency))) {
        return;
    }
    source_.note = "volume " + to_string(volume(state.currency)) + " in " + month_text(work_.month);
    PostingCause cause{.all = JournalReason::kTier};
    change.post(*state.position(), owed_changes(state, cause));
    change.finish();
}

}  // namespace sluice
