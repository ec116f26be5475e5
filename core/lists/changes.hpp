// Changes: an account's chains as a feed that others follow. A change is one journal group.
//
// Threads: as of the reader. Errors are thrown as LedgerFailure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/report.hpp"

namespace sluice::lists {

/// How far one chain was read.
struct ChainPlace {
    static constexpr std::size_t kHashBytes = 8;

    std::uint64_t change = 0;                     ///< Number of the last change, or 0.
    std::array<std::uint8_t, kHashBytes> hash{};  ///< The first bytes of its hash.
    friend bool operator==(const ChainPlace&, const ChainPlace&) = default;
};
/// How far an account's chains were read, by the UUID of their nodes. A node that is absent was not
/// read yet.
using FeedPlace = std::map<std::string, ChainPlace>;

struct Change {
    JournalGroup group;
    Digest256 previous_hash{};  ///< The change before on this node has it; 0 before the first.
};

struct Changes {
    std::vector<Change> changes{};
    FeedPlace next;
    bool more = false;          ///< There are further ones.
    std::uint64_t entries = 0;  ///< The account's chains have so many.
    bool diverged = false;      ///< The chains are not those that the place was taken from.
    bool ended_before = false;  ///< A chain ends before the place: it diverged, or a standby lags.
};
/// Returns the account's changes after `after`: at most `limit`, and no more than fill about
/// `bytes_max` bytes, but at least one. Those of one node come by number, those of several
/// by receipt. Requires: the reader is a snapshot of a stored ledger.
/// @param without  Nodes whose changes are not read.
[[nodiscard]] Changes changes_after(LedgerReader& ledger, AccountNumber account,
                                    const FeedPlace& after, std::size_t limit,
                                    std::size_t bytes_max,
                                    const std::set<std::string>& without = {});
/// Visits the account's changes on one node, from the one that has the number `from` on, until
/// `visit` returns false.
void visit_changes(LedgerReader& ledger, AccountNumber account, const std::string& node,
                   std::uint64_t from, const Visitor<Change>& visit);

/// Returns the change number of a group's first entry.
[[nodiscard]] std::uint64_t first_change(const JournalGroup& group) noexcept;

/// Returns the place after a group.
[[nodiscard]] ChainPlace place_of(const JournalGroup& group);

/// Returns the place after the last change of each account that has changes.
[[nodiscard]] std::map<AccountNumber, FeedPlace> ends_of_feeds(LedgerReader& ledger);
/// Returns the place after the account's last change.
[[nodiscard]] FeedPlace end_of_feed(LedgerReader& ledger, AccountNumber account);

/// Returns `commission.changed` and so on.
[[nodiscard]] std::string_view change_type(const JournalGroup& group);
[[nodiscard]] const std::vector<std::string_view>& change_types();

/// Columns of changes, which are members of ChangeRows::json().
[[nodiscard]] const std::vector<Column>& change_columns();

/// Builds the JSON of changes. Looks up the traces of their events, those of one order once.
class ChangeRows {
public:
    /// @param show_payee  As of JournalRows.
    ChangeRows(LedgerReader& ledger, AccountNumber account, JournalRows::ShowPayee show_payee);

    /// @param bytes_max  A change that has more shows its first entries only, and `entries_total`.
    [[nodiscard]] Json json(const Change& change,
                            std::size_t bytes_max = std::numeric_limits<std::size_t>::max());
    /// Returns the members of json() without the entries.
    [[nodiscard]] Json head(const Change& change);
    /// Returns an entry as `report journal` prints it.
    [[nodiscard]] Row row(const Change& change, std::size_t index) const;

private:
    [[nodiscard]] Json trace_of(const JournalGroup& group);

    LedgerReader& ledger_;
    JournalRows rows_;
    std::vector<Column> columns_;
    std::map<std::string, std::uint32_t> nodes_;  ///< LedgerHead::number
    /// Traces of the order that was asked for last, by its inputs.
    std::optional<OrderKey> traced_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, TraceParent> traces_;
};

}  // namespace sluice::lists
