// Rows: the columns of the smaller tables, one list, one writer and one reader for each. Internal
// to this room; pure.
#pragma once

#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

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

inline constexpr const char* kShopColumns = "account, shop, account_id, shop_id";
[[nodiscard]] ShopRow read_shop(RowReader& row);
void write_shop(const ShopRow& shop, RowWriter& row);

inline constexpr const char* kJournalColumns =
    "account, shop, order_id, node, first_entry, event_seq, program, creator, recorded_s, "
    "recorded_ns, note, actor, line_ids, currencies, amounts, reasons, hash";
inline constexpr std::int16_t kJournalColumnsCount = 17;
[[nodiscard]] JournalGroup read_journal(RowReader& row);
void write_journal(const JournalGroup& group, std::uint32_t node, RowWriter& row);

inline constexpr const char* kAnomalyColumns =
    "account, shop, order_id, kind, first_seq, recorded_s, recorded_ns, count, message";
[[nodiscard]] Anomaly read_anomaly(RowReader& row);

inline constexpr const char* kOpenColumns =
    "account, program, adjustment, ordered_s, ordered_ns, shop, order_id, currency, creator, "
    "amount";
[[nodiscard]] OpenAmount read_open(RowReader& row);

inline constexpr const char* kCodeColumns = "account, digest, program, code, creator";
[[nodiscard]] CodeRow read_code(RowReader& row);
void write_code(const CodeRow& code, RowWriter& row);

inline constexpr const char* kMembershipColumns = "account, program, creator, removed, changed_by";
[[nodiscard]] Membership read_membership(RowReader& row);
void write_membership(const Membership& member, RowWriter& row);

inline constexpr const char* kTouchColumns =
    "account, anon, program, occurred_s, occurred_ns, creator, import, import_row";
[[nodiscard]] Touch read_touch(RowReader& row);

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

inline constexpr const char* kCommandColumns =
    "seq, topic, actor, received_s, received_ns, ok, result";
[[nodiscard]] CommandRow read_command(RowReader& row);
void write_command(const CommandRow& command, RowWriter& row);

inline constexpr const char* kDeadColumns =
    "seq, topic, account, shop, account_id, shop_id, received_s, received_ns, reason, attempts, "
    "record, bulk_body, body_sha256";
[[nodiscard]] DeadLetter read_dead(RowReader& row);
void write_dead(const DeadLetter& letter, RowWriter& row);

inline constexpr const char* kWorkColumns =
    "number, whole_account, account, kind, digest, after_shop, after_order, cause, cause_topic, "
    "received_s, received_ns";
[[nodiscard]] Work read_work(RowReader& row);
void write_work(const Work& work, RowWriter& row);

/// Ids of products have no limit, index entries do: a long one is cut and marked with its SHA-256.
inline constexpr std::size_t kKeyTextBytesMax = 1024;
[[nodiscard]] std::string key_text(std::string_view id);

/// PostgreSQL takes UTF-8 without U+0000 only; what people and damaged records bring may be
/// anything. Every other byte becomes '?'.
[[nodiscard]] std::string clean_text(std::string_view text);

}  // namespace sluice::pg
