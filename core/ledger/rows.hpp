// Rows of the ledger beside the orders: anomalies, touches, codes, catalog, journal, payouts ...
//
// Plain values without behaviour; they own their bytes. Both ledgers (embedded, PostgreSQL) store
// exactly these fields; how is theirs. Everything is keyed by account and shop first.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/commands/program.hpp"
#include "core/ledger/order_state.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The names behind the numbers, learned from the first record of a shop.
struct ShopRow {
    AccountNumber account;
    ShopNumber shop;
    AccountId account_id;
    ShopId shop_id;
};

/// A refund id belongs for ever to the first order and line that used it (rule R2).
struct RefundOwner {
    AccountNumber account;
    ShopNumber shop;
    RefundLineItemId refund_id;
    OrderId order_id;
    LineItemId line;
};

enum class AnomalyKind : std::uint8_t {
    kVersionInFuture = 1,
    kCancelWithoutCancelledAt = 2,
    kCancelNotLater = 3,
    kCancellationWithdrawn = 4,
    kDuplicateRefundId = 5,
    kRefundIdReused = 6,
    kRefundExceedsLine = 7,
};
inline constexpr std::size_t kAnomalyKinds = 8;  ///< One past the last.

/// One per order and kind.
struct Anomaly {
    OrderKey order;
    AnomalyKind kind = AnomalyKind::kVersionInFuture;
    SequenceNumber first_seq;
    Timestamp recorded_at;    ///< Receipt of the first event that showed it.
    std::uint64_t count = 0;  ///< Events that showed it.
    std::string message;
};

/// What an order without a creator waits for: a touch of its anonymous id, or a code.
enum class WaitKind : std::uint8_t { kAnon = 1, kCode = 2 };
struct WaitKey {
    AccountNumber account;
    WaitKind kind = WaitKind::kAnon;
    Digest256 digest{};  ///< SHA-256 of the anonymous id, or of the code folded to lower case.
    friend auto operator<=>(const WaitKey&, const WaitKey&) = default;
};

/// An order that waits for `key`, in the account of the key.
struct WaitingOrder {
    WaitKey key;
    ShopNumber shop;
    OrderId order_id;
};

struct CodeRow {
    AccountNumber account;
    ProgramId program;
    Digest256 digest{};  ///< SHA-256 of the code folded to lower case (ASCII).
    std::string code;    ///< As first imported.
    CreatorId creator;
};

/// A creator in a program. Removal stops new attributions; the row stays.
struct Membership {
    AccountNumber account;
    ProgramId program;
    CreatorId creator;
    bool removed = false;
    SequenceNumber changed_by;
};

/// Unique by account, anon, program, occurred_at, creator; a re-import moves `imported` on.
struct Touch {
    AccountNumber account;
    Digest256 anon{};
    ProgramId program;
    Timestamp occurred_at;
    CreatorId creator;
    SequenceNumber imported;         ///< The import, and
    std::uint32_t imported_row = 0;  ///< its row: at one instant the last imported wins.
};

/// A copy of a product. Empty language and country: none; "" sorts first, so the default does.
struct CatalogKey {
    AccountNumber account;
    ShopNumber shop;
    ProductId product_id;
    std::string language, country;
    friend std::strong_ordering operator<=>(const CatalogKey&, const CatalogKey&) = default;
    friend bool operator==(const CatalogKey&, const CatalogKey&) = default;
};

struct CatalogRecord {
    CatalogKey key;
    std::string json;  ///< The merged record, numbers as they were sent; one JSON object.
    std::optional<std::string> brand;
    std::vector<std::string> collections, tags;
    std::vector<std::string> variant_skus;  ///< Sorted, unique.
};

/// Why a commission changed.
enum class JournalReason : std::uint8_t {
    kAccrual = 1,
    kAttribution = 2,
    kCancellation = 3,
    kRefund = 4,
    kUpdate = 5,
    kManual = 6,
};

/// One journal entry. Never zero.
struct JournalLine {
    LineItemId line;  ///< Empty: MANUAL.
    Currency currency;
    Decimal amount;
    JournalReason reason = JournalReason::kAccrual;
};

/// The entries that one input caused on one order: entry numbers first_entry, first_entry + 1, ...
/// Dense per node, so a node's journal is one sequence. Never changed once written.
struct JournalGroup {
    std::uint64_t first_entry = 0;
    SequenceNumber event_seq;
    OrderKey order;
    ProgramId program;
    CreatorId creator;
    Timestamp recorded_at;
    std::string note, actor;  ///< MANUAL only: why, and who.
    std::vector<JournalLine> lines;
    Digest256 hash{};  ///< Chain of the account and node after the last of `lines`.
};

struct BalanceKey {
    AccountNumber account;
    ProgramId program;
    CreatorId creator;
    Currency currency;
    friend auto operator<=>(const BalanceKey&, const BalanceKey&) = default;
};
/// pending + payable = total - paid; core/rules/balance.hpp tells them apart at an instant.
struct Balance {
    BalanceKey key;
    Decimal total;
    Decimal paid;
};

/// What an order still has open (due - settled, never 0) in one currency. `adjustment`: the order's
/// commission was paid before, so this is payable at once; else from ordered_at + hold on.
struct OpenAmount {
    AccountNumber account;
    ProgramId program;
    bool adjustment = false;
    Timestamp ordered_at;  ///< Key order: program, adjustment (false first), ordered_at, shop,
                           ///< order, currency.
    ShopNumber shop;
    OrderId order_id;
    Currency currency;
    CreatorId creator;
    Decimal amount;
};

struct Payout {
    std::string payout_id;  ///< `<sequence number of the command>-<n>`
    AccountNumber account;
    ProgramId program;
    CreatorId creator;
    Currency currency;
    Decimal amount;
    Timestamp until;
    Timestamp closed_at;
    std::uint64_t orders_count = 0;
    std::string actor;
};

}  // namespace sluice
