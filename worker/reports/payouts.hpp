// Payout listings: what a run or preview makes, the items of one payout. (report payouts and
// payout list are in worker/reports/report.hpp.)
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/explain/node_names.hpp"
#include "core/ledger/ledger.hpp"
#include "core/payouts/payout_plan.hpp"
#include "core/rules/account_settings.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

[[nodiscard]] std::vector<Column> payout_item_columns();
void write_payout_items(LedgerReader& ledger, const Payout& payout, Listing& out);

/// Payouts of a run, by number.
void scan_run(LedgerReader& ledger, const std::string& run, const Visitor<Payout>& visit);
[[nodiscard]] std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run);

/// What `payout preview` and `payout close` print. JSON is one object: payouts, skipped, digest; a
/// table or CSV has the payouts, then the others.
class RunListing {
public:
    RunListing(Format format, LedgerReader& ledger, AccountNumber account,
               const AccountId& account_id);
    void add(const PlannedPayout& planned, Timestamp until, const AccountSettings& settings);
    void add(const Payout& payout);
    void finish(const std::vector<Skipped>& skipped, const std::string& digest);

private:
    void add_row(const Json& row);

    Format format_;
    LedgerReader& ledger_;
    PayoutNodes nodes_;
    AccountNumber account_;
    AccountId account_id_;
    bool first_ = true;
    std::unique_ptr<Listing> payouts_;
};

}  // namespace sluice::cli
