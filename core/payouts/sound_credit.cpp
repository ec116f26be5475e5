#include "core/payouts/sound_credit.hpp"

#include <algorithm>

#include "core/journal/journal.hpp"
#include "core/ledger/table.hpp"

namespace sluice {
namespace {

DamagedRow damaged(const MoneyCommand& row, const std::string& what) {
    return {row_name(row), what, OrderKey{row.account, {}, OrderId(row.command_id)}};
}

Decimal owed_by(const JournalGroup& group) {
    Decimal sum;
    for (const JournalEntry& entry : group.entries) {
        sum += change_in(entry, LedgerAccount::kOwed);
    }
    return sum;
}

std::string differs(const char* what, const Decimal& stored, const char* source,
                    const Decimal& right) {
    return stored == right ? std::string()
                           : std::string(what) + " is " + stored.to_string() + ", " + source +
                                 " say " + right.to_string();
}

/// Whether payouts can hold this much of a credit: nothing of the other sign, unless the credit was
/// reversed after it was paid.
bool can_be_allocated(const Decimal& allocated, const MoneyCommand& credit) {
    const Decimal other =
        credit.reversed_by.empty() ? zero_amount(credit.currency) : -credit.amount;
    return std::min(credit.amount, other) <= allocated &&
           allocated <= std::max(credit.amount, other);
}

}  // namespace

bool SoundCredits::load(const std::string& command_id, MoneyCommand& credit) {
    credit = MoneyCommand{};
    credit.command_id = command_id;
    if (!ledger_.load(credit)) {
        return false;
    }
    if (!credit.is_credit()) {
        throw damaged(credit, "it is no credit, opening balance or write-off");
    }
    if (creator_ != credit.creator || account_ != credit.account) {
        read(credit.account, credit.creator);
    }
    if (const std::string damage = damage_of(credit); !damage.empty()) {
        throw damaged(credit, damage);
    }
    return true;
}

/// Loads the item of the credit that the payout has. Returns false if it has none.
bool SoundCredits::load_item(const Payout& payout, const MoneyCommand& credit, PayoutItem& item) {
    item = PayoutItem{};
    item.payout_id = payout.payout_id;
    item.program = credit.program;
    item.shop_id = credit.shop_id;
    item.order_id = credit.order_id;
    item.line = LineItemId(credit.command_id);
    item.kind = ItemKind::kCredit;
    return payout.currency == credit.currency &&
           !released_.contains({payout.payout_id, credit.command_id}) && ledger_.load(item);
}

std::vector<std::string> SoundCredits::payouts_of(const MoneyCommand& credit) {
    std::vector<std::string> ids;
    PayoutItem item;
    for (const Payout& payout : payouts_) {
        if (load_item(payout, credit, item)) {
            ids.push_back(payout.payout_id);
        }
    }
    return ids;
}

void SoundCredits::expect_release(std::span<const Payout> ended) {
    for (const Payout& payout : ended) {
        ended_.insert(payout.payout_id);
    }
}

void SoundCredits::released(const std::string& payout_id, const std::string& command_id) {
    released_.emplace(payout_id, command_id);
}

/// Reads other rows only after the scan, because a scan allows no other read.
void SoundCredits::read(AccountNumber account, const CreatorId& creator) {
    account_ = account;
    creator_ = creator;
    posted_.clear();
    std::set<std::string> payouts;
    std::vector<std::pair<std::string, Decimal>> reversals;
    ledger_.scan_creator_journal(account, creator, kFirstInstant, kEndOfTime,
                                 [&](const JournalGroup& group) {
                                     const JournalReason reason = group.entries.front().reason;
                                     if (!group.payout_id.empty()) {
                                         payouts.insert(group.payout_id);
                                     } else if (is_credit(reason)) {
                                         posted_[group.command_id].amount += owed_by(group);
                                     } else if (reason == JournalReason::kReversal) {
                                         reversals.emplace_back(group.command_id, owed_by(group));
                                     }
                                 });
    for (const auto& [id, amount] : reversals) {
        read_reversal(id, amount);
    }
    read_payouts({payouts.begin(), payouts.end()});
}

/// A reversal whose row names another one would let the reversed credit be paid.
void SoundCredits::read_reversal(const std::string& command_id, const Decimal& amount) {
    MoneyCommand reversal{.command_id = command_id};
    MoneyCommand reversed{.command_id = ledger_.load(reversal) ? reversal.reverses : std::string()};
    if (reversed.command_id.empty() || !ledger_.load(reversed) ||
        reversed.reversed_by != command_id) {
        throw damaged(reversal, "the journal has a reversal by it, and no row that it reversed");
    }
    if (reversed.is_credit()) {
        posted_[reversed.command_id].reversed += amount;
    }
}

void SoundCredits::read_payouts(const std::vector<std::string>& ids) {
    payouts_.clear();
    for (const std::string& id : ids) {
        Payout payout{.payout_id = id};
        if (ledger_.load(payout) && (is_active(payout.state) || ended_.contains(id))) {
            payouts_.push_back(std::move(payout));
        }
    }
}

std::string SoundCredits::damage_of(const MoneyCommand& credit) {
    const Posted posted = posted_[credit.command_id];
    if (std::string wrong = differs("its amount", credit.amount, "its postings", posted.amount);
        !wrong.empty()) {
        return wrong;
    }
    const Decimal left = posted.amount + posted.reversed;
    if (std::string wrong = differs("accrued", credit.accrued, "its postings", left);
        !wrong.empty()) {
        return wrong;
    }
    if (!left.is_zero() != credit.reversed_by.empty()) {
        return "it is reversed by half";
    }
    Decimal allocated = zero_amount(credit.currency);
    std::uint32_t items = 0;
    for (const Payout& payout : payouts_) {
        PayoutItem item;
        if (load_item(payout, credit, item)) {
            allocated += item.amount;
            ++items;
        }
    }
    if (std::string wrong = differs("allocated", credit.allocated, "its active items", allocated);
        !wrong.empty()) {
        return wrong;
    }
    if (credit.active_items != items) {
        return "it counts " + std::to_string(credit.active_items) + " active items, there are " +
               std::to_string(items);
    }
    return can_be_allocated(allocated, credit)
               ? std::string()
               : "its active items hold " + allocated.to_string() + ", more than it ever accrued";
}

}  // namespace sluice
