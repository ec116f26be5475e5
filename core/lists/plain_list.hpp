// Plain list: the rows of one described table, in the order of its key. Its entry in plain_lists()
// makes the command `report NAME`, the resource of the API and the table of an export, as far as it
// names them.
//
// Threads: as of the reader. Errors are thrown as LedgerFailure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/lists/list.hpp"
#include "core/lists/names.hpp"
#include "core/lists/row_output.hpp"

namespace sluice::lists {

/// A row of the table, and what its cells name.
struct PlainRow {
    RowView row;
    std::string_view account_id;  ///< Empty if the row names no account.
    const CreatorNames* names;    ///< Null in an export, which has first ids.
    LedgerReader& ledger;         ///< Not read in an export, whose rows are those of a scan.

    template <Described Row>
    [[nodiscard]] const Row& as() const {
        return row.as<Row>();
    }
};
/// The creator whom the row names by the first id, as the list shows it.
template <Described Row>
[[nodiscard]] Value shown_creator(const PlainRow& of) {
    const Row& row = of.as<Row>();
    return of.names == nullptr ? row.creator : of.names->shown(row.account, row.creator);
}

/// The cell that a member of the table's row is: `cell<&Period::until>`.
template <auto kMember>
[[nodiscard]] Value cell(const PlainRow& of) {
    const auto in_row = []<class Row, class Member>(RowView row, Member Row::*member) -> Value {
        return row.as<Row>().*member;
    };
    return in_row(of.row, kMember);
}
/// Null for an empty text.
template <auto kMember>
[[nodiscard]] Value cell_or_null(const PlainRow& of) {
    const auto in_row = []<class Row, class Member>(RowView row, Member Row::*member) {
        return or_null(row.as<Row>().*member);
    };
    return in_row(of.row, kMember);
}

/// Callers that may read a resource.
enum class ReadBy : std::uint8_t {
    kOrders,    ///< With read_orders.
    kCreators,  ///< With read_ledger, or with the role support.
    kLedger,    ///< With read_ledger.
};

struct PlainList {
    std::string_view command{};        ///< `report NAME`; empty without a command.
    std::string_view command_text{};   ///< As its help names it.
    std::string_view resource{};       ///< Path below /v1/; empty without a resource.
    std::string_view resource_text{};  ///< As its document names it.
    ReadBy read_by = ReadBy::kLedger;  ///< The resource.
    std::string_view exported_as{};    ///< Table of an export; empty without one.

    const DescribedTable* table = nullptr;
    /// The columns of the table's key that all rows of a listing have alike: `account`,
    /// `account until`, or `payout_id`. The key begins with them.
    std::string_view within = "account";
    bool by_creator = false;             ///< A caller may ask for one creator's rows.
    const PlainList* history = nullptr;  ///< The list that a caller may ask for in its place.
    List<PlainRow> cells{};
    List<PlainRow> exported_cells{};  ///< If an export has other ones.

    [[nodiscard]] const std::vector<Column>& columns() const noexcept { return cells.columns(); }
    [[nodiscard]] const List<PlainRow>& exported() const noexcept {
        return exported_cells.columns().empty() ? cells : exported_cells;
    }
    /// Returns the number of the key's columns that tell the rows of a listing apart.
    [[nodiscard]] std::size_t key_columns() const;
};

/// The rows that a caller asks for.
struct PlainListing {
    AccountNumber account;
    AccountId account_id;
    /// Other columns than the account, and the texts that rows have in them.
    std::vector<std::pair<std::string_view, std::string>> with{};
    /// Texts of the key_columns() of the last row that was seen.
    std::optional<std::vector<std::string>> after{};
};

/// Returns the next rows of a listing, at most `rows_max` out of `read_max`, and sets `after` to
/// the place behind them, or to nothing if they are the last. Returns nothing if `after` was no
/// place of the list.
[[nodiscard]] std::optional<std::vector<Row>> plain_rows(LedgerReader& ledger,
                                                         const PlainList& list,
                                                         PlainListing& listing,
                                                         std::size_t rows_max,
                                                         std::size_t read_max);
/// Writes all rows of a listing.
void write_plain(LedgerReader& ledger, const PlainList& list, PlainListing listing, RowOutput& out);

/// Returns the account that the row's key begins with, or 0.
[[nodiscard]] AccountNumber account_of(RowView row);

}  // namespace sluice::lists
