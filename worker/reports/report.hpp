// Reports: rows of the ledger as listings. Each reads one snapshot, row by row, in bounded memory
// (balances and statements: one row for each creator).
//
// Storage failures are thrown as LedgerFailure. Reports are ordered: orders by shop and order,
// the journal by entry, balances by account, program, creator and currency, products by shop and
// product, payouts in the order of closing.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

struct ReportFilter {
    std::optional<AccountId> account;  ///< Nothing: every account.
    std::optional<ShopId> shop;
    std::optional<CreatorId> creator;
    std::optional<Timestamp> from;  ///< Inclusive.
    std::optional<Timestamp> to;    ///< Exclusive.

    [[nodiscard]] bool covers(Timestamp time) const noexcept {
        return (!from || *from <= time) && (!to || time < *to);
    }
    [[nodiscard]] bool covers(const CreatorId& id) const noexcept {
        return !creator || *creator == id;
    }
};

/// A report: its columns, and what writes its rows.
struct Report {
    std::string_view name;
    std::string_view description;
    std::vector<Column> columns;
    void (*write)(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);
    bool by_shop, by_creator, by_time;  ///< Which filters mean something here.
    bool needs_account;                 ///< `--account`, or `--all-accounts` (S4).
};

[[nodiscard]] const std::vector<Report>& reports();

void write_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);

/// Shops of the ledger that the filter covers, by shop id.
[[nodiscard]] std::vector<ShopRow> shops_of(LedgerReader& ledger, const ReportFilter& filter);

}  // namespace sluice::cli
