#include "core/apply/payees.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

/// Payouts of the creator, from the memo entries in the creator's journal.
std::vector<Payout> payouts_of(AccountNumber account, const CreatorId& creator,
                               LedgerReader& ledger) {
    std::set<std::string> ids;
    ledger.scan_creator_journal(account, creator, kFirstInstant, kEndOfTime,
                                [&ids](const JournalGroup& group) {
                                    ids.insert(group.payout_id);
                                    return true;
                                });
    std::vector<Payout> payouts;
    for (const std::string& id : ids) {
        Payout payout;
        payout.payout_id = id;
        if (!id.empty() && ledger.load(payout)) {
            payouts.push_back(std::move(payout));
        }
    }
    return payouts;
}

/// Whether the body of a command sets the profile of one of the creators.
bool sets_profile(const PendingApproval& row, const std::set<CreatorId>& names) {
    if (row.topic != Topic::kCreatorSet && row.topic != Topic::kCreatorImport) {
        return false;
    }
    const Result<Request> request = decode_request(row.topic, row.body);
    if (!request) {
        return false;
    }
    if (const auto* set = std::get_if<CreatorSet>(&request->command)) {
        return names.contains(set->creator);
    }
    const auto& rows = std::get<CreatorImport>(request->command).rows;
    return std::any_of(rows.begin(), rows.end(), [&names](const CreatorImport::Row& import) {
        return names.contains(import.creator);
    });
}

std::vector<PendingApproval> approvals_of(AccountNumber account, const std::set<CreatorId>& names,
                                          LedgerReader& ledger) {
    std::vector<PendingApproval> found;
    PendingApproval first;
    first.account = account;
    ledger.scan(first, {1, 1}, [&](const PendingApproval& row) {
        if (sets_profile(row, names)) {
            found.push_back(row);
        }
        return true;
    });
    return found;
}

}  // namespace

void change_payee(CreatorRow& profile, const std::string& payee, const CommandContext& context,
                  LedgerTxn& txn) {
    if (profile.payee == payee) {
        return;
    }
    PayeeChange change{profile.account,           profile.creator, context.source.received_at,
                       context.source.command_id, profile.payee,   payee,
                       context.actor(),           context.reason()};
    if (PayeeChange before = change; txn.load(before)) {  // an earlier row of the same import
        change.old_payee = before.old_payee;
    }
    txn.put(change);
    JournalGroup group = group_of(context.source, profile.account,
                                  account_settings(txn, profile.account).row.closed_until);
    group.creator = profile.creator;
    group.entries.push_back(
        memo_of(JournalReason::kMemoPayeeChanged,
                to_hex(payee_digest(profile.payee)) + " " + to_hex(payee_digest(payee))));
    post_group(txn, std::move(group));
    profile.payee = payee;
    profile.payee_since = context.source.received_at;
    profile.payee_changed = true;
}

Status check_forgettable(AccountNumber account, const CreatorId& creator,
                         const std::set<CreatorId>& names, LedgerReader& ledger) {
    std::string open;
    for (const Payout& payout : payouts_of(account, creator, ledger)) {
        if (payout.state <= PayoutState::kSent) {
            open += (open.empty() ? "" : ", ") + payout.payout_id + " (" +
                    std::string(to_string(payout.state)) + ")";
        }
    }
    if (!open.empty()) {
        return refused("creator " + creator.str() + " has payouts that are not over: " + open +
                       "; settle or void them first");
    }
    for (const PendingApproval& row : approvals_of(account, names, ledger)) {
        if (row.state == ApprovalState::kPending) {
            return refused(row.command_id + " waits and would set the profile of creator " +
                           creator.str() + "; approve or withdraw it first");
        }
    }
    return {};
}

void forget_creator(AccountNumber account, const CreatorId& creator,
                    const std::set<CreatorId>& names, LedgerTxn& txn) {
    CreatorRow profile{account, creator, {}, {}, {}};
    if (txn.load(profile)) {
        profile.name.clear();
        profile.payee.clear();
        txn.put(profile);
    }
    std::vector<PayeeChange> changes;
    txn.scan(PayeeChange{account, creator, {}, {}, {}, {}, {}, {}}, {2, 2},
             [&changes](const PayeeChange& row) {
                 changes.push_back(row);
                 return true;
             });
    for (PayeeChange& row : changes) {
        row.old_payee = forgotten_payee(row.old_payee);
        row.new_payee = forgotten_payee(row.new_payee);
        txn.put(row);
    }
    for (Payout& payout : payouts_of(account, creator, txn)) {
        payout.payee = forgotten_payee(payout.payee);
        txn.put(payout);
    }
    for (PendingApproval& row : approvals_of(account, names, txn)) {
        row.body.clear();
        txn.put(row);
    }
}

}  // namespace sluice
