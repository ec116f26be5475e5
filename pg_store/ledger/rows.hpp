// Rows of the tables that core/ledger/tables.hpp does not describe: the columns, one writer and one
// reader for each. Readers throw DamagedRow. Internal to this room; pure.
#pragma once

#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/ledger/key_text.hpp"

namespace sluice::pg {

/// Says which row it was that could not be read.
template <class Read>
auto read_named(const std::string& row, const std::optional<OrderKey>& order, Read&& read)
    -> decltype(read()) {
    try {
        return read();
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row, damaged.wrong, order);
    }
}

/// A node's head, and the number that its rows carry instead of its UUID. 0: it is new.
struct NodeHead {
    LedgerHead head;
    std::uint32_t number = 0;
};

inline constexpr const char* kHeadColumns =
    "number, applied_seq, next_entry, next_work, applied, stale, duplicate, catalog, commands, "
    "dead, orders, journal_entries, anomalies";
void read_head(RowReader& row, NodeHead& node);
void write_head(const NodeHead& node, RowWriter& row);

inline constexpr const char* kJournalColumns =
    "account, shop, order_id, node, first_entry, event_seq, program, creator, recorded_s, "
    "recorded_ns, note, actor, line_ids, currencies, amounts, reasons, hash";
inline constexpr std::int16_t kJournalColumnsCount = 17;
[[nodiscard]] JournalGroup read_journal(RowReader& row);
void write_journal(const JournalGroup& group, std::uint32_t node, RowWriter& row);

inline constexpr const char* kProgramColumns =
    "program, version, account, account_id, shops, window_days, base, precedence, hold_days, "
    "default_kind, default_value, default_currency, rule_matches, rule_texts, rule_kinds, "
    "rule_values, rule_currencies, applied_by, applied_s, applied_ns";
[[nodiscard]] ProgramRow read_program(RowReader& row);
void write_program(const ProgramRow& program, RowWriter& row);

/// `full_id` is null unless key_text() had to cut the product's id.
inline constexpr const char* kCatalogColumns =
    "account, shop, product_id, language, country, full_id, record, brand, collections, tags, "
    "variant_skus";
[[nodiscard]] CatalogRecord read_catalog(RowReader& row);
void write_catalog(const CatalogRecord& record, RowWriter& row);

inline constexpr const char* kPayoutColumns =
    "account, payout_id, program, creator, currency, amount, until_s, until_ns, closed_s, "
    "closed_ns, orders_count, actor";
[[nodiscard]] Payout read_payout(RowReader& row);
void write_payout(const Payout& payout, RowWriter& row);

}  // namespace sluice::pg
