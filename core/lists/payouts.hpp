// Rows of payouts: the payouts of an account or payout run, the items of one payout, and what a
// payout run left out.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/lists/list.hpp"
#include "core/lists/plain_list.hpp"
#include "core/lists/row_output.hpp"

namespace sluice::lists {

/// Profiles of creators and nodes of payout runs, which the rows of payouts name.
class PayoutNames {
public:
    explicit PayoutNames(LedgerReader& ledger) : ledger_(ledger) {}

    /// Reads together what these payouts name. Without it, each row reads what it names.
    void expect(std::span<const Payout> payouts);
    [[nodiscard]] const CreatorRow& profile(AccountNumber account, const CreatorId& creator);
    /// Returns the UUID of the queue, or an empty string if the ledger lacks the payout run.
    [[nodiscard]] const std::string& node(const std::string& payout_id);

private:
    LedgerReader& ledger_;
    std::map<std::pair<AccountNumber, CreatorId>, CreatorRow> profiles_;
    std::map<std::string, std::string> nodes_;  ///< By payout run.
};

struct PayoutOf {
    std::string_view account_id;  ///< Empty if the ledger does not know it.
    const Payout& payout;         ///< Without an id it is planned only.
    const std::vector<PayoutPart>& parts;
    const CreatorRow& profile;
    const std::string& node;  ///< UUID of the queue that its payout run came through, or empty.

    [[nodiscard]] bool is_planned() const noexcept { return payout.payout_id.empty(); }
};
[[nodiscard]] const List<PayoutOf>& exported_payout_list();
[[nodiscard]] Row payout_row(PayoutNames& names, const AccountId& account_id, const Payout& payout,
                             const std::vector<PayoutPart>& parts);

/// In an export, the line of a credit is the id of its command.
[[nodiscard]] const PlainList& payout_item_list();
void write_payout_items(LedgerReader& ledger, const Payout& payout, RowOutput& out);

[[nodiscard]] std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run);
struct SkippedOf {
    const CreatorId& creator;  ///< As it is shown.
    const Skipped& skipped;
};
[[nodiscard]] const List<SkippedOf>& skipped_list();
[[nodiscard]] Row skipped_row(LedgerReader& ledger, AccountNumber account, const Skipped& row);

}  // namespace sluice::lists
