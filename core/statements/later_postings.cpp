#include "core/statements/later_postings.hpp"

#include "core/journal/journal.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/lookup.hpp"

namespace sluice {

LaterPostings::LaterPostings(LedgerReader& ledger, AccountNumber account, Timestamp at)
    : account_(account) {
    ledger.scan_account_journal(account, at, kEndOfTime,
                                [this](const JournalGroup& group) { add(group); });
    find_credits(ledger);
    find_items(ledger);
    for (const auto& [unit, change] : units_) {
        if (unit.shop.value == 0) {
            add_credit(ledger, unit, change);
        } else {
            add_position(ledger, unit, change);
        }
    }
}

const AccountSums* LaterPostings::books(const BalanceKey& key) const {
    return find_value(books_, key);
}

bool LaterPostings::changed(const OpenAmount& row) const {
    return units_.contains({row.program, row.creator, row.shop, row.order_id});
}

const std::vector<OpenAmount>& LaterPostings::open_then(const ProgramId& program) const {
    static const std::vector<OpenAmount> kNone;
    const std::vector<OpenAmount>* const found = find_value(open_, program);
    return found == nullptr ? kNone : *found;
}

void LaterPostings::add_accrued(Change& change, const JournalEntry& entry) {
    add_to(change.accrued, entry.currency,
           {entry.currency, change_in(entry, LedgerAccount::kOwed)});
}

void LaterPostings::add(const JournalGroup& group) {
    for (const JournalEntry& entry : group.entries) {
        if (is_memo(entry.reason)) {
            continue;
        }
        const BalanceKey key{account_, group.program, group.creator, entry.currency};
        value_at(books_, key, zero_books(entry.currency)) += change_by(entry);
        switch (entry.reason) {
            case JournalReason::kPayout:
                closed_.emplace(group.payout_id, group.creator);
                break;
            case JournalReason::kVoid:
            case JournalReason::kFailed:
            case JournalReason::kReturned:
                reopened_.emplace(group.payout_id, group.creator);
                break;
            case JournalReason::kSettle:
                break;
            case JournalReason::kCredit:
            case JournalReason::kOpening:
            case JournalReason::kWriteOff:
            case JournalReason::kReversal:
                credits_.push_back(group);
                return;  // a command posts one such entry
            default: {
                Change& change = units_[{group.program, group.creator, group.shop, group.order_id}];
                add_accrued(change, entry);
            }
        }
    }
}

/// Finds the object of each reversal: a credit, or an adjustment of a position.
void LaterPostings::find_credits(LedgerReader& ledger) {
    for (const JournalGroup& group : credits_) {
        Unit unit{group.program, group.creator, ShopNumber{}, OrderId(group.command_id)};
        if (group.entries.front().reason == JournalReason::kReversal) {
            MoneyCommand reversal, reversed;
            reversal.command_id = group.command_id;
            reversed.command_id = ledger.load(reversal) ? reversal.reverses : std::string();
            const bool of_credit = ledger.load(reversed) && reversed.is_credit();
            unit.shop = of_credit ? ShopNumber{} : group.shop;
            unit.order_id = of_credit ? OrderId(reversed.command_id) : group.order_id;
        }
        Change& change = units_[unit];
        for (const JournalEntry& entry : group.entries) {
            add_accrued(change, entry);
        }
    }
    credits_.clear();
}

/// Finds the items of payouts that were closed, or ended, after the instant.
void LaterPostings::find_items(LedgerReader& ledger) {
    std::map<std::string, CreatorId> moved = closed_;
    moved.insert(reopened_.begin(), reopened_.end());
    for (const auto& [payout_id, creator] : moved) {
        const bool was_closed = closed_.contains(payout_id);
        const bool was_reopened = reopened_.contains(payout_id);
        const PayoutItem first{.payout_id = payout_id};
        ledger.scan(first, {1, 1}, [&, owner = creator](const PayoutItem& item) {
            if (item.kind != ItemKind::kCredit) {
                units_.try_emplace({item.program, owner, item.shop, item.order_id});
                return;
            }
            Change& change = units_[{item.program, owner, ShopNumber{}, OrderId(item.line.view())}];
            if (was_closed != was_reopened) {  // closed and ended since: not active at either time
                change.allocated += was_closed ? item.amount : -item.amount;
                change.items += was_closed ? 1 : -1;
            }
        });
    }
}

bool LaterPostings::stood_then(const PositionPayout& payout) const {
    return !closed_.contains(payout.payout_id) &&
           (payout.active || reopened_.contains(payout.payout_id));
}

void LaterPostings::add_position(LedgerReader& ledger, const Unit& unit, const Change& change) {
    OrderState state;
    if (!ledger.load_order({account_, unit.shop, unit.order_id}, state)) {
        return;
    }
    const auto index = find_position(state, unit.program, unit.creator);
    if (!index) {
        return;
    }
    const Position& position = state.positions[*index];
    bool cleared = false;
    std::map<Currency, Decimal> allocated;
    for (const PositionPayout& payout : position.payouts) {
        if (stood_then(payout)) {
            cleared = true;
            add_to(allocated, payout.currency, {payout.currency, payout.amount});
        }
    }
    for (const Currency currency : currencies_of(position)) {
        const auto amount = [currency](const std::map<Currency, Decimal>& sums) {
            return value_or(sums, currency, zero_amount(currency));
        };
        const Decimal open =
            accrued_in(position, currency) - amount(change.accrued) - amount(allocated);
        if (!open.is_zero()) {
            open_[unit.program].push_back(open_row(state, position, currency, open));
            open_[unit.program].back().cleared = cleared;
        }
    }
}

void LaterPostings::add_credit(LedgerReader& ledger, const Unit& unit, const Change& change) {
    MoneyCommand credit{.command_id = unit.order_id.str()};
    if (!ledger.load(credit)) {
        return;
    }
    const auto accrued = change.accrued.find(credit.currency);
    if (accrued != change.accrued.end()) {
        credit.accrued -= accrued->second;
    }
    credit.allocated -= change.allocated;
    credit.active_items =
        static_cast<std::uint32_t>(std::int64_t{credit.active_items} - change.items);
    for (const OpenAmount& row : open_amounts(credit)) {
        open_[unit.program].push_back(row);
    }
}

}  // namespace sluice
