// Changes: what a command would do, taken from the ledger before it and after it, whatever its verb
// (controls K13). The policy judges it (guard.hpp), and an approval is of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/approvals/limits.hpp"
#include "core/ledger/overlay.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// Money of one creator, program and currency.
struct MovedSum {
    Decimal net;
    Decimal size;  ///< Sum of the absolute values: of each posting by hand, of each order.
};
using MovedMoney = std::map<std::tuple<ProgramId, CreatorId, Currency>, MovedSum>;

/// The changes of one account. Texts name the changes of one kind, each before and after.
struct AccountChanges {
    AccountId id;           ///< If rows that are written have it; an account may be new.
    MovedMoney by_hand;     ///< Posted without an order event: adjustments, credits and the like.
    MovedMoney commission;  ///< MovedSum by orders: attributed, detached, rejected.
    std::set<CreatorId> paid_otherwise;  ///< Creators who come with a payee, or get another one.
    std::set<std::string> payees;        ///< Also of codes that another creator had.
    std::set<std::string> rates;         ///< Rates that may rise: programs, groups, names.
    std::set<std::string> policies, periods, others;
};
using ChangeSet = std::map<AccountNumber, AccountChanges>;

/// Returns the changes of the accounts that have some.
[[nodiscard]] ChangeSet changes_of(Overlay& after, LedgerReader& before);
/// Returns the commission that was moved, by account: a part of changes_of().
[[nodiscard]] std::map<AccountNumber, MovedMoney> commission_of(const Overlay& after);
/// Returns the amounts as they are compared with a limit.
/// @param profiles  Has the payees.
[[nodiscard]] std::vector<LimitAmount> limit_amounts(const MovedMoney& moved, AccountNumber account,
                                                     LedgerReader& profiles);
/// Digest of everything that is in the changes. No time and no number of an input is part of it.
[[nodiscard]] Digest256 digest_of(const ChangeSet& changes);

}  // namespace sluice
