// Payout listings: payouts of an account, what a run or preview makes, the items of one payout.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/payouts/payout_plan.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

struct PayoutFilter {
    std::optional<AccountId> account;  ///< Nothing: all accounts.
    bool all_accounts = false;
    std::optional<PayoutState> state;
    std::string run;  ///< Empty: of any.
};
/// Adds `--account A` and `--all-accounts`, of which one is needed.
void add_payout_scope(CLI::App& app, PayoutFilter& target);

[[nodiscard]] std::vector<Column> payout_columns();
void write_payout_rows(LedgerReader& ledger, const PayoutFilter& filter, Listing& out);

[[nodiscard]] std::vector<Column> payout_item_columns();
void write_payout_items(LedgerReader& ledger, const Payout& payout, Listing& out);

/// Payouts of a run, by number.
void scan_run(LedgerReader& ledger, const std::string& run, const Visitor<Payout>& visit);
[[nodiscard]] std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run);

/// What `payout preview` and `payout close` print. JSON is one object: payouts, skipped, digest; a
/// table or CSV has the payouts, then the others.
class RunListing {
public:
    RunListing(Format format, LedgerReader& ledger, AccountNumber account);
    void add(const PlannedPayout& planned, Timestamp until);
    void add(const Payout& payout);
    void finish(const std::vector<Skipped>& skipped, const std::string& digest);

private:
    void add_row(Json row);

    Format format_;
    LedgerReader& ledger_;
    AccountNumber account_;
    std::string account_id_;
    bool first_ = true;
    std::unique_ptr<Listing> payouts_;
};

}  // namespace sluice::cli
