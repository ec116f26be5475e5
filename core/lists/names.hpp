// Accounts and creators as reports name them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice::lists {

/// Returns ids of all accounts of the ledger.
[[nodiscard]] std::map<AccountNumber, AccountId> account_ids(LedgerReader& ledger);

/// Returns the account of a payout, a payout run, or a command that posted money, is pending or
/// attributed orders; or nothing if the ledger knows no such id.
[[nodiscard]] std::optional<AccountId> account_of(LedgerReader& ledger, const std::string& id);

/// Returns the creator's row, or an empty one if it has none.
[[nodiscard]] CreatorRow profile_of(LedgerReader& ledger, AccountNumber account,
                                    const CreatorId& creator);

/// Names of creators after `creator rename`, read at once, because a scan allows no other read.
/// Ids belong to their account.
class CreatorNames {
public:
    /// Reads every account.
    explicit CreatorNames(LedgerReader& ledger);
    /// Reads one account.
    CreatorNames(LedgerReader& ledger, AccountNumber account);
    /// Returns the current name of the creator whose first id this is.
    [[nodiscard]] const CreatorId& shown(AccountNumber account, const CreatorId& first) const;
    /// Returns the first ids of the account's creators that have another name now, sorted.
    [[nodiscard]] std::vector<CreatorId> renamed(AccountNumber account) const;
    /// Returns the first id of a creator that any of its ids names.
    [[nodiscard]] const CreatorId& first(AccountNumber account, const CreatorId& given) const;

private:
    using Names = std::map<std::pair<AccountNumber, CreatorId>, CreatorId>;

    void read(LedgerReader& ledger, AccountNumber account, unsigned columns);

    Names shown_, first_;
};

}  // namespace sluice::lists
