// Overview rows: what needs a person's attention, sums by day and month, and the minutes in which
// shops sent events.
//
// Sums and counts have a part for each node, as balances have, and are written once a transaction:
// see LedgerTxn::add_row(). Those of postings go by accounting date, so a closed month's never
// change.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/ledger/rows.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// A hold on an order, or a value of AnomalyKind.
enum class AttentionKind : std::uint8_t { kHold = 0 };
[[nodiscard]] constexpr AttentionKind attention_of(AnomalyKind kind) noexcept {
    return static_cast<AttentionKind>(kind);
}

/// An order that is held, or an anomaly that shows and is not acknowledged: key only.
struct Attention {
    AccountNumber account;
    AttentionKind kind = AttentionKind::kHold;
    Timestamp since{};  ///< Receipt of the command, or Anomaly::recorded_at.
    ShopNumber shop{};
    OrderId order_id{};
};

/// The number of an account's Attention rows is `begun` - `ended`, added up over all nodes: a node
/// may end what another one began.
struct AttentionCount {
    AccountNumber account;
    AttentionKind kind = AttentionKind::kHold;
    std::uint32_t node = 0;  ///< LedgerHead::number
    std::uint64_t begun = 0, ended = 0;
};

/// Amounts of postings in the words of a statement (S3), and what banks paid.
struct StatementAmounts {
    Decimal earned, adjusted, paid_out;
    Decimal settled;  ///< Into the ledger account `paid`.

    [[nodiscard]] bool is_zero() const noexcept {
        return earned.is_zero() && adjusted.is_zero() && paid_out.is_zero() && settled.is_zero();
    }
    StatementAmounts& operator+=(const StatementAmounts& other) noexcept {
        earned += other.earned;
        adjusted += other.adjusted;
        paid_out += other.paid_out;
        settled += other.settled;
        return *this;
    }
    friend bool operator==(const StatementAmounts&, const StatementAmounts&) = default;
};

/// Sums of the postings of one ledger account, each at least 0.
struct Turnover {
    Decimal debit, credit;
};

/// Sums of one UTC day, by accounting date. A trial balance is made of them.
struct DailySum : StatementAmounts {
    Turnover expense, owed, in_payout, paid;
    std::uint64_t postings = 0;
    std::uint64_t late_postings = 0;  ///< Received before the day: their period was closed (S1).
    AccountNumber account;
    std::uint32_t day = 0;  ///< 20260131.
    ProgramId program;
    Currency currency;
    std::uint32_t node = 0;
};

/// Orders that were sold on one UTC day, and those of them that have a creator now. A part may be
/// negative: a node may move an order that another one counted.
struct OrderDay {
    AccountNumber account;
    std::uint32_t day = 0;  ///< 20260131.
    std::uint32_t node = 0;
    Decimal orders{}, attributed{};  ///< Whole numbers.
};

/// Figures of clicks. A part may be negative, as one of OrderDay.
struct ClickFigures {
    /// Clicks by the time at which they occurred, without those that follow one of the same device,
    /// program, creator and link within kClickRepeatSeconds.
    Decimal clicks;
    Decimal devices;  ///< With at least one click of this program, creator and link.
    /// Orders by the time of their sale, whose creator has them by a click through this link.
    Decimal orders;

    ClickFigures& operator+=(const ClickFigures& other) noexcept {
        clicks += other.clicks;
        devices += other.devices;
        orders += other.orders;
        return *this;
    }
};
inline constexpr std::int64_t kClickRepeatSeconds = 10;

/// Clicks of one UTC day.
struct ClickDay : ClickFigures {
    AccountNumber account;
    std::uint32_t day = 0;  ///< 20260131.
    ProgramId program;
    CreatorId creator;
    LinkId link;  ///< May be empty.
    std::uint32_t node = 0;
};

/// Clicks of one calendar month (UTC). A device counts once, so devices are no sum of days.
struct ClickMonth : ClickFigures {
    AccountNumber account;
    std::uint32_t month = 0;  ///< 202601.
    ProgramId program;
    CreatorId creator;
    LinkId link;
    std::uint32_t node = 0;
};

/// Commission of the orders of a link, by accounting date (UTC day), in the words of a statement.
struct LinkDay {
    Decimal earned{}, adjusted{};
    AccountNumber account{};
    std::uint32_t day = 0;  ///< 20260131.
    ProgramId program{};
    CreatorId creator{};
    LinkId link{};
    Currency currency{};
    std::uint32_t node = 0;
};

/// Orders of a code by the day of their sale, and their commission as in LinkDay.
struct CodeDay {
    Decimal orders{};  ///< Attributed by this code.
    Decimal earned{}, adjusted{};
    AccountNumber account{};
    std::uint32_t day = 0;  ///< 20260131.
    ProgramId program;
    CreatorId creator;
    std::string code;  ///< In lower case.
    Currency currency{};
    std::uint32_t node = 0;
};

/// Sums of one creator's calendar month (UTC).
struct MonthlySum : StatementAmounts {
    AccountNumber account;
    std::uint32_t month = 0;  ///< 202601.
    CreatorId creator;
    ProgramId program;
    Currency currency;
    std::uint32_t node = 0;
};

/// Bits of OpenHours::kind, next to those of OpenAmount::blocks.
inline constexpr std::uint32_t kOpenBelow = 1U << 28U;  ///< Amounts below 0, whatever blocks them.
inline constexpr std::uint32_t kOpenCleared = 1U << 29U;  ///< OpenAmount::cleared.

/// OpenAmount rows of one creator that were sold within eight days, added up by hour. Amounts above
/// 0 that only wait for their clearing days have kind 0, so that a reader finds all others behind
/// them. A row without hours is erased.
struct OpenHours {
    AccountNumber account;
    ProgramId program;
    std::uint32_t kind = 0;
    std::uint32_t span = 0;  ///< span_of() the sales.
    CreatorId creator{};
    Currency currency{};
    std::uint32_t node = 0;
    std::string hours{};  ///< As core/values/hour_sums.hpp says.
};

/// Minutes of one UTC day in which events of a shop came. Days kShopDays apart share a row, which
/// the later day takes over, so that the rows follow from the events alone, in whatever batches
/// they came, and old days need no erasing.
struct ShopMinutes {
    AccountNumber account;
    ShopNumber shop{};
    std::uint32_t slot = 0;                 ///< Days since 1970, modulo kShopDays.
    std::uint32_t node = 0;                 ///< LedgerHead::number
    std::uint32_t day = 0;                  ///< 20260131.
    std::array<std::uint64_t, 24> hours{};  ///< Bit 1 << minute of each hour.
};
inline constexpr std::int64_t kShopDays = 35;

/// Orders of a shop whose first event came on one UTC day, and those of them whose event stated a
/// device id. Days share rows as in ShopMinutes.
struct ShopDay {
    AccountNumber account;
    ShopNumber shop{};
    std::uint32_t slot = 0;  ///< Days since 1970, modulo kShopDays.
    std::uint32_t node = 0;  ///< LedgerHead::number
    std::uint32_t day = 0;   ///< 20260131.
    std::uint64_t orders = 0, with_device = 0;
};

}  // namespace sluice
