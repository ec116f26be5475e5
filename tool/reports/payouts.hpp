// Payout listings: the payouts of a payout run or preview, and the items of one payout. `report
// payouts` and `payout list` are in report.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/report.hpp"
#include "core/payouts/plan.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {

using lists::payout_list;
using lists::payout_row;
using lists::skipped_list;
using lists::skipped_of;
using lists::skipped_row;

/// Prints what a preview leaves for later, by currency: amounts that clear after its cut-off, and
/// amounts that cleared but are dated from the cut-off on, such as those of back-dated orders.
void print_left_for_later(LedgerReader& ledger, AccountNumber account, const PayoutClose& close);

/// Output of `payout preview` and `payout close`. JSON is one object with payouts, skipped and
/// digest. A table lists the payouts with totals, then the skipped ones. CSV is one table: a
/// skipped row has skip_reason and skipped_amount, and the last row has the digest alone.
class PayoutRunListing {
public:
    PayoutRunListing(Format format, LedgerReader& ledger, AccountNumber account,
                     const AccountId& account_id);
    void add(const PlannedPayout& planned, Timestamp until);
    void add(const Payout& payout);
    void finish(const std::vector<Skipped>& skipped, const std::string& digest);

private:
    struct Total {
        Decimal amount;
        std::uint64_t payouts = 0, waiting = 0;
    };

    void add_row(const Row& row);
    void add_total(const Payout& payout);
    void finish_csv(const std::vector<Skipped>& skipped, const std::string& digest);

    Format format_;
    LedgerReader& ledger_;
    lists::PayoutNames names_;
    AccountNumber account_;
    AccountId account_id_;
    bool first_ = true;
    std::map<Currency, Total> totals_;
    std::unique_ptr<Listing> payouts_;
};

}  // namespace sluice::cli
