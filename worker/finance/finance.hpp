// Finance: the subcommands for the people who pay creators, noun by noun.
#pragma once

#include <string>

#include "core/reports/report.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {

using reports::account_ids;
using reports::CreatorNames;
using reports::Report;
using reports::ReportFilter;
using reports::shops_of;

void declare_program(Subcommand app);
void declare_program_preview(Subcommand group);
void declare_creator(Subcommand app);
void declare_click(Subcommand app);
void declare_order(Subcommand app);  // hold, release, reject, attribute, detach, anomaly, order
void declare_money(Subcommand app);  // adjust, credit, reverse
void declare_opening(Subcommand app);
void declare_write_off(Subcommand app);
void declare_approvals(Subcommand app);  // approve, withdraw, approvals
void declare_payout(Subcommand app);
void declare_export(Subcommand group);  // payout export
void declare_bank(Subcommand app);
void declare_period(Subcommand app);
void declare_export_journal(Subcommand group);
void declare_report(Subcommand app);
void declare_explain(Subcommand app);

/// A report, and what the command line asks of it.
struct ReportCommand {
    const Report* report = nullptr;
    ReportFilter filter;
    bool all_accounts = false;
    ListOptions list;
};

/// Declares a subcommand for a report, with the options of that report.
void declare_report_command(Subcommand group, const Report& report, const std::string& name);

/// Checks the account, shop and creator that a filter names, because a misspelt name would look
/// like an empty report. Returns kNotFound for an unknown one.
[[nodiscard]] Status check_names(const Frame& frame, LedgerReader& ledger,
                                 const ReportFilter& filter);

}  // namespace sluice::cli
