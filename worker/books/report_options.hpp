// Report options: what a report takes, and which names in them exist.
#pragma once

#include <string>

#include "worker/cli/cli.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {

struct ReportCommand {
    const Report* report = nullptr;
    ReportFilter filter;
    bool all_accounts = false;
    std::string ledger;
    Format format = Format::kTable;
};

/// Declares a subcommand for a report, with its options and no other.
void declare_report_command(Subcommand group, const Report& report, const std::string& name);

/// A name that does not exist is a mistake of the caller: it gets no empty report.
/// kNotFound: account, shop or creator.
[[nodiscard]] Status check_names(const Frame& frame, LedgerReader& ledger,
                                 const ReportFilter& filter);

}  // namespace sluice::cli
