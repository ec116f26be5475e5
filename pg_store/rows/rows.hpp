// Rows of the tables that are not described (core/ledger/table.hpp): the columns, one writer and
// one reader for each. Readers throw DamagedRow. Internal to pg_store; pure.
#pragma once

#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/rows/packed_rows.hpp"

namespace sluice::pg {

/// Ids of products may be longer than an index entry: a long one is cut and marked with its
/// SHA-256.
inline constexpr std::size_t kKeyTextBytesMax = 1024;
[[nodiscard]] std::string key_text(std::string_view id);

/// Returns the text as PostgreSQL takes it: UTF-8 without U+0000. Every other byte becomes '?'.
[[nodiscard]] std::string clean_text(std::string_view text);

/// Returns the statement that copies rows into a table.
[[nodiscard]] inline std::string copy_into(const std::string& table, const std::string& columns) {
    return "COPY sluice_ledger." + table + " (" + columns + ") FROM STDIN (FORMAT binary)";
}

/// Adds the name of the row to the error if `read` finds damage.
template <class Read>
auto read_named(const std::string& row, const std::optional<OrderKey>& order, Read&& read)
    -> decltype(read()) {
    try {
        return read();
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row, damaged.wrong, order);
    }
}

inline constexpr const char* kHeadColumns =
    "node, number, applied_seq, last_received_s, last_received_ns, inputs_sha256, next_entry, "
    "next_work, applied, stale, duplicate, catalog, commands, dead, orders, journal_entries, "
    "clicks, clicks_stored, clicks_known, clicks_without_link, clicks_expired, anomalies";
[[nodiscard]] LedgerHead read_head(RowReader& row);
/// Writes the fields that `UPDATE heads` of txn.cpp takes: all but the node.
void write_head(const LedgerHead& head, RowWriter& row);

/// Reads `hash, entries, last_group`. Throws DamagedField, as the next two do.
[[nodiscard]] ChainHead read_chain(RowReader& row);
/// Reads `owed, in_payout, paid`.
void read_sums(RowReader& row, AccountSums& sums);
/// Reads `account, program, creator, currency`, and the sums.
void read_balance(RowReader& row, Balance& balance);

/// As COPY takes them.
inline constexpr const char* kJournalColumns =
    "account, shop, order_id, node, first_entry, event_seq, command_id, payout_id, program, "
    "creator, recorded_s, recorded_ns, accounting_s, accounting_ns, note, actor, line_ids, "
    "currencies, amounts, reasons, refers_to, hash, last_change, order_change";
inline constexpr std::int16_t kJournalColumnsCount = 24;
/// As read_journal() takes them: the node's UUID in place of its number.
inline constexpr const char* kJournalRead =
    "journal.account, journal.shop, order_id, (SELECT h.node FROM sluice_ledger.heads h WHERE "
    "h.number = journal.node) AS uuid, first_entry, event_seq, command_id, payout_id, program, "
    "creator, recorded_s, recorded_ns, accounting_s, accounting_ns, note, actor, line_ids, "
    "currencies, amounts, reasons, refers_to, hash, last_change, order_change";
[[nodiscard]] JournalGroup read_journal(RowReader& row);
void write_journal(const JournalGroup& group, std::uint32_t node, RowWriter& row);

/// `full_id` is null unless key_text() had to cut the product's id.
inline constexpr const char* kCatalogColumns =
    "account, shop, product_id, language, country, full_id, record, brand, collections, tags, "
    "variant_skus";
[[nodiscard]] CatalogRecord read_catalog(RowReader& row);
void write_catalog(const CatalogRecord& record, RowWriter& row);

}  // namespace sluice::pg
