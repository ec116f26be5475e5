// Paged reads: reads of a stored ledger that continue after a row, for lists that are shown a page
// at a time, and counts of every node's rows. Snapshots of both ledgers have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// The orders of a shop that lie next to an id.
struct OrderNeighbours {
    ShopNumber shop;
    std::optional<OrderId> before{}, after{};
};

struct DeadCount {
    std::uint64_t privacy_requests = 0;  ///< Requests about a person, which wait for an answer.
    std::uint64_t others = 0;
};

/// A place of the journal of an account and node. Groups below it begin with a lower entry and end
/// with a lower change.
struct JournalPlace {
    std::uint64_t first_entry = std::numeric_limits<std::int64_t>::max();
    std::uint64_t last_change = std::numeric_limits<std::int64_t>::max();
};

class PagedReads : public Interface {
public:
    /// Fills in the rows of one table whose keys are given, with one question to a ledger behind a
    /// network, and sets which there are. Returns false if rows are best loaded one by one.
    virtual bool load_rows(std::span<const RowRef> rows, std::vector<bool>& found) {
        static_cast<void>(rows);
        static_cast<void>(found);
        return false;
    }
    /// Visits the described rows that have the first `same` key columns of the given row, from the
    /// last one on. If `from` is larger, the scan begins below the row's first `from` key columns.
    virtual void scan_rows_back(RowView before, KeyRange range, const RowVisitor& visit) = 0;
    template <Described Row>
    void scan_back(const Row& before, KeyRange range,
                   const std::type_identity_t<Visitor<Row>>& visit) {
        scan_rows_back(before, range, [&visit](RowView row) { return visit(row.as<Row>()); });
    }
    /// Returns whether a standby answers, which may lack the last changes of its primary.
    [[nodiscard]] virtual bool is_of_standby() { return false; }
    /// Visits the orders of a shop whose ids come after `after`, by order id (bytes).
    virtual void scan_orders_after(AccountNumber account, ShopNumber shop, const OrderId& after,
                                   const Visitor<OrderState>& visit) = 0;
    /// Returns each shop's orders before and after an id (bytes), which the shop may not have.
    [[nodiscard]] virtual std::vector<OrderNeighbours> neighbours(AccountNumber account,
                                                                  std::span<const ShopNumber> shops,
                                                                  const OrderId& id) = 0;
    /// Returns the orders whose ids begin with `beginning`, shop by shop and by id, at most `max`.
    [[nodiscard]] virtual std::vector<OrderKey> orders_beginning(AccountNumber account,
                                                                 std::span<const ShopNumber> shops,
                                                                 std::string_view beginning,
                                                                 std::size_t max) = 0;
    /// Visits the catalog records of the shop of `after` whose keys come after it, by key.
    virtual void scan_catalog_after(const CatalogKey& after,
                                    const Visitor<CatalogRecord>& visit) = 0;
    /// Returns the last groups of one account on one node that lie below a place of the node's
    /// journal, at most `max`, the newest first. Passes few groups of other accounts.
    [[nodiscard]] virtual std::vector<JournalGroup> chain_before(AccountNumber account,
                                                                 std::uint32_t node,
                                                                 const JournalPlace& before,
                                                                 std::size_t max) = 0;
    /// Visits the groups of one account on one node whose first entry is `from_entry` or later, by
    /// entry number. Passes the groups of other accounts on that node.
    /// @param node  LedgerHead::number
    virtual void scan_chain(AccountNumber account, std::uint32_t node, std::uint64_t from_entry,
                            const Visitor<JournalGroup>& visit) = 0;
    /// Returns the number of every node's dead letters of an account with a receipt in [from, to),
    /// by shop id.
    [[nodiscard]] virtual std::map<std::string, DeadCount> dead_by_shop(AccountNumber account,
                                                                        Timestamp from,
                                                                        Timestamp to) = 0;
};

/// Fills in the rows whose keys are given, and erases those that the ledger does not have. For a
/// page of a list: all rows are in memory.
template <Described Row>
void load_all(LedgerReader& ledger, std::vector<Row>& rows) {
    const std::vector<RowRef> refs(rows.begin(), rows.end());
    std::vector<bool> found;
    auto* const together = dynamic_cast<PagedReads*>(&ledger);
    if (together == nullptr || !together->load_rows(refs, found)) {
        found.clear();
        for (const RowRef row : refs) {
            found.push_back(ledger.load_row(row));
        }
    }
    std::size_t at = 0;
    std::erase_if(rows, [&](const Row&) { return !found[at++]; });
}

/// Returns the paged reads of a snapshot. Requires: the reader is a snapshot of a stored ledger.
[[nodiscard]] inline PagedReads& paged(LedgerReader& ledger) {
    auto* const reads = dynamic_cast<PagedReads*>(&ledger);
    SLUICE_ASSERT(reads != nullptr);
    return *reads;
}

}  // namespace sluice
