// Rows of the ledger next to the orders: shops, refunds, anomalies, codes, members, clicks,
// products.
//
// Plain values without behaviour; they own their bytes. Both ledgers (embedded, PostgreSQL) store
// exactly these fields; how is theirs. Everything is keyed by account and shop first.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/programs/program.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"
#include "core/values/name_table.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The ids for the numbers of a shop and its account, stored with the first record of the shop.
struct ShopRow {
    AccountNumber account{};
    ShopNumber shop;
    AccountId account_id{};
    ShopId shop_id{};
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
    kLinesExceedAmount = 8,
    kTaxExceedsAmount = 9,
    kCommissionExceedsBase = 10,
    kAmountAboveLimit = 11,
    kOrderedInFuture = 12,
    kOrderedLongAgo = 13,
    kCurrencyChanged = 14,
    kCreditedOrder = 15,
    kDebtWrittenOff = 16,
    // Notes of a platform's order (core/shops/source.hpp).
    kRefundNotByLine = 17,
    kTotalsDiffer = 18,
    kQuantityRounded = 19,
};
inline constexpr std::size_t kAnomalyKinds = 20;  ///< One past the last.
template <>
inline constexpr NameTable<AnomalyKind, kAnomalyKinds - 1> kNamesOf<AnomalyKind>{{
    {AnomalyKind::kVersionInFuture, "VERSION_IN_FUTURE"},
    {AnomalyKind::kCancelWithoutCancelledAt, "CANCEL_WITHOUT_CANCELLED_AT"},
    {AnomalyKind::kCancelNotLater, "CANCEL_NOT_LATER"},
    {AnomalyKind::kCancellationWithdrawn, "CANCELLATION_WITHDRAWN"},
    {AnomalyKind::kDuplicateRefundId, "DUPLICATE_REFUND_ID"},
    {AnomalyKind::kRefundIdReused, "REFUND_ID_REUSED"},
    {AnomalyKind::kRefundExceedsLine, "REFUND_EXCEEDS_LINE"},
    {AnomalyKind::kLinesExceedAmount, "LINES_EXCEED_AMOUNT"},
    {AnomalyKind::kTaxExceedsAmount, "TAX_EXCEEDS_AMOUNT"},
    {AnomalyKind::kCommissionExceedsBase, "COMMISSION_EXCEEDS_BASE"},
    {AnomalyKind::kAmountAboveLimit, "AMOUNT_ABOVE_LIMIT"},
    {AnomalyKind::kOrderedInFuture, "ORDERED_IN_FUTURE"},
    {AnomalyKind::kOrderedLongAgo, "ORDERED_LONG_AGO"},
    {AnomalyKind::kCurrencyChanged, "CURRENCY_CHANGED"},
    {AnomalyKind::kCreditedOrder, "CREDITED_ORDER"},
    {AnomalyKind::kDebtWrittenOff, "DEBT_WRITTEN_OFF"},
    {AnomalyKind::kRefundNotByLine, "REFUND_NOT_BY_LINE"},
    {AnomalyKind::kTotalsDiffer, "TOTALS_DIFFER"},
    {AnomalyKind::kQuantityRounded, "QUANTITY_ROUNDED"},
}};
[[nodiscard]] constexpr std::uint32_t bit(AnomalyKind kind) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(kind);
}
/// Calls `take` with each kind that `bits` has, in the order of the kinds.
template <class Take>
void each_kind(std::uint32_t bits, Take take) {
    for (unsigned number = 1; number < kAnomalyKinds; ++number) {
        const auto kind = static_cast<AnomalyKind>(number);
        if ((bits & bit(kind)) != 0) {
            take(kind);
        }
    }
}

/// One per order and kind (H2).
struct Anomaly {
    OrderKey order;
    AnomalyKind kind = AnomalyKind::kVersionInFuture;
    std::string node{};          ///< UUID of the queue whose input showed it first.
    SequenceNumber first_seq{};  ///< The input's sequence number, or 0 for a command.
    Timestamp recorded_at{};     ///< Receipt of the first input that showed it.
    std::uint64_t count = 0;     ///< Events that showed it.
    std::string message{};
    bool showing = true;
    std::string acknowledged_by{};  ///< Empty if it is not acknowledged.
    std::optional<Timestamp> acknowledged_at{};
    /// The cause of a lasting kind when it was last judged: an amount with its currency, or an
    /// instant. Empty for the other kinds.
    std::string value{};
    std::string acknowledged_value{};  ///< The value that was last acknowledged (K6), or empty.
};

/// A platform deleted an order that the ledger does not know. A state of it that is not later than
/// `version` arrives cancelled. The first state that arrives ends the row.
struct DeletedOrder {
    OrderKey order;
    // The deletion, which becomes the order's first event: see EventTrace.
    SequenceNumber seq{};
    std::uint32_t node = 0;
    Timestamp version{};
    Timestamp received_at{};
    Timestamp cancelled_at{};
    Digest256 digest{};  ///< EventTrace::digest, then zeros.
};

/// The event that an order without a creator waits for: a click of its anonymous id, or a code.
enum class WaitKind : std::uint8_t { kAnon = 1, kCode = 2 };
struct WaitKey {
    AccountNumber account;
    WaitKind kind = WaitKind::kAnon;
    Digest256 digest{};  ///< SHA-256 of the anonymous id, or of the code folded to lower case.
    friend auto operator<=>(const WaitKey&, const WaitKey&) = default;
};

/// An order that waits for `key`, in the account of the key. Tried in this order (A2).
struct WaitingOrder {
    WaitKey key;
    Timestamp ordered_at{};
    ShopNumber shop{};
    OrderId order_id{};
};

struct CodeRow {
    AccountNumber account{};
    ProgramId program{};
    Digest256 digest{};      ///< SHA-256 of the code folded to lower case (ASCII).
    Timestamp valid_from{};  ///< Rows of one program and code do not overlap (A1).
    std::string code{};      ///< As first imported.
    CreatorId creator{};
    std::optional<Timestamp> valid_until{};  ///< Excluded. No value means no limit.
};

/// A creator in a program. Removal stops new attributions; the row stays.
struct Membership {
    AccountNumber account;
    ProgramId program;
    CreatorId creator{};
    bool removed = false;
    SequenceNumber changed_by{};
    std::string group{};         ///< May be empty.
    Timestamp effective_from{};  ///< Clicks count for orders from here on (A2).
};

/// Unique by account, anon, program, occurred_at, creator. One that comes again changes nothing,
/// except that an import raises `imported` and may count from earlier on.
struct Click {
    AccountNumber account;
    Digest256 anon{};
    ProgramId program{};
    Timestamp occurred_at{};
    CreatorId creator{};
    /// Inputs of all nodes up to the one that brought it, and the row in that: at one instant the
    /// last in the log wins.
    SequenceNumber imported{};
    std::uint32_t imported_row = 0;
    Timestamp effective_from{};  ///< It counts for orders from here on (A2).
    // As it arrived first:
    ClickSource source = ClickSource::kImport;
    LinkId link{};  ///< May be empty.
    Timestamp received_at{};
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
    std::string json{};  ///< The merged record, numbers as they were sent; one JSON object.
    std::optional<std::string> brand{};
    std::vector<std::string> collections{}, tags{};
    std::vector<std::string> variant_skus{};  ///< Sorted, unique.
};

}  // namespace sluice
