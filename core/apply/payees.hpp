// Payees: changes of the reference by which a creator is paid, with their memo entries and history,
// and their removal by a forget (controls K1, K2).
#pragma once

#include <set>
#include <string>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Sets the payee of a profile that is stored. The caller writes the profile.
void change_payee(CreatorRow& profile, const std::string& payee, const CommandContext& context,
                  LedgerTxn& txn);

/// Refuses while the creator has payouts that are not over, or a pending change of the payee.
/// @param names  All ids of the creator.
[[nodiscard]] Status check_forgettable(AccountNumber account, const CreatorId& creator,
                                       const std::set<CreatorId>& names, LedgerReader& ledger);
/// Takes the name and payee out of all rows. Digests of the payees stay.
void forget_creator(AccountNumber account, const CreatorId& creator,
                    const std::set<CreatorId>& names, LedgerTxn& txn);

}  // namespace sluice
