// Report options: how a subcommand asks for a report.
#pragma once

#include <string>

#include "core/lists/report.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {

/// Adds `report clicks`.
void declare_click_report(Subcommand group);

using lists::account_ids;
using lists::CreatorNames;
using lists::Report;
using lists::ReportFilter;
using lists::shops_of;

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
/// Warns on standard error, with `more` behind it, if check_names() returns an error.
void warn_unknown_names(const Frame& frame, LedgerReader& ledger, const ReportFilter& filter,
                        const char* more);

}  // namespace sluice::cli
