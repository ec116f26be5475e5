// Accounts and creators as reports name them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/ledger/ledger.hpp"

namespace sluice::cli {

/// Ids of all accounts of the ledger.
[[nodiscard]] std::map<AccountNumber, AccountId> account_ids(LedgerReader& ledger);

/// The account of a payout, a run, or a command that posted money, waits or gave orders out.
/// Nothing: the ledger knows no such id.
[[nodiscard]] std::optional<AccountId> account_of(LedgerReader& ledger, const std::string& id);

/// What creators are called after `creator rename`, read at once: no read is needed while a scan
/// runs. Ids belong to their account.
class CreatorNames {
public:
    explicit CreatorNames(LedgerReader& ledger);
    /// By what reports call a creator whose first id this is.
    [[nodiscard]] const CreatorId& shown(AccountNumber account, const CreatorId& first) const;
    /// The first id of a creator that may be called by a later one.
    [[nodiscard]] const CreatorId& first(AccountNumber account, const CreatorId& given) const;

private:
    using Names = std::map<std::pair<AccountNumber, CreatorId>, CreatorId>;

    Names shown_, first_;
};

}  // namespace sluice::cli
