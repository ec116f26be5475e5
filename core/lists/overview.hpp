// Overview: sums by day and month, and counts of what needs a person's attention. All nodes' parts
// are added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/overview_rows.hpp"

namespace sluice::lists {

/// Returns a sum of all nodes' parts that is a whole number, at least 0.
[[nodiscard]] std::uint64_t whole_number(const Decimal& number) noexcept;

struct OrdersOfDay {
    std::uint64_t orders = 0, attributed = 0;
};
/// Returns how many orders were sold on the UTC day (20260131), and how many of them have a
/// creator.
[[nodiscard]] OrdersOfDay orders_of_day(LedgerReader& ledger, AccountNumber account,
                                        std::uint32_t day);

/// Returns the figures of all clicks of the account on the UTC day.
[[nodiscard]] ClickFigures clicks_of_day(LedgerReader& ledger, AccountNumber account,
                                         std::uint32_t day);

/// New orders, by their receipt, and those of them that stated a device id.
struct DeviceCount {
    std::uint64_t orders = 0, with_device = 0;
};
/// Returns the counts of the account's shops with new orders on the UTC days from `first` to
/// `last`, both included. Days kShopDays ago and earlier are not kept.
[[nodiscard]] std::map<ShopNumber, DeviceCount> device_counts(LedgerReader& ledger,
                                                              AccountNumber account,
                                                              std::uint32_t first,
                                                              std::uint32_t last);

/// A shop whose new orders of a day carried no device id, although visitors followed links.
struct ShopWithoutDevices {
    AccountNumber account;
    ShopNumber shop;
    std::uint64_t devices;  ///< Devices that clicked on the day, for programs that cover the shop.
};
/// Returns the shops with new orders on the day, of which none carried a device id, although
/// devices clicked.
/// @param account  Absent means all.
/// @param day  The UTC day, less than kShopDays ago.
[[nodiscard]] std::vector<ShopWithoutDevices> shops_without_devices(
    LedgerReader& ledger, const std::optional<AccountNumber>& account, std::uint32_t day);

/// Visits the figures of clicks of all accounts, by account, day, program, creator and link. A
/// visited row has node 0.
void scan_click_days(LedgerReader& ledger, const Visitor<ClickDay>& visit);
/// Visits the commission of orders of links, by the same columns and currency. A visited row has
/// node 0.
void scan_link_days(LedgerReader& ledger, const Visitor<LinkDay>& visit);

/// Visits the sums of the days from `first` to `last` (20260131), both included, by day, program
/// and currency. A visited row has node 0.
void scan_days(LedgerReader& ledger, AccountNumber account, std::uint32_t first, std::uint32_t last,
               const Visitor<DailySum>& visit);

/// Visits the sums of a month (202601), by creator, program and currency. A visited row has node 0.
/// @param creator  First id. Ignored if the range is {2, 2}.
/// @param range    Of the key: {3, 3} for this creator alone, {2, 3} for the creators from this one
///                 on, {2, 2} for all.
void scan_month(LedgerReader& ledger, AccountNumber account, std::uint32_t month,
                const CreatorId& creator, const Visitor<MonthlySum>& visit,
                KeyRange range = {3, 3});

/// Returns the month before: 202512 for 202601.
[[nodiscard]] constexpr std::uint32_t month_before(std::uint32_t month) noexcept {
    return month % 100 == 1 ? month - 100 + 11 : month - 1;
}

/// Amounts that a creator earned in this month and in the last one, by currency.
struct EarnedByMonth {
    Decimal this_month, last_month;
};
using EarnedAmounts = std::map<Currency, EarnedByMonth>;
/// By program and first id of the creator.
using Earned = std::map<std::pair<ProgramId, CreatorId>, EarnedAmounts>;
/// Returns what the creators of the account earned in each program.
/// @param month  This month.
[[nodiscard]] Earned earned_by_month(LedgerReader& ledger, AccountNumber account,
                                     std::uint32_t month);

/// Returns the number of Attention rows of each kind that has some.
[[nodiscard]] std::map<AttentionKind, std::uint64_t> attention_counts(LedgerReader& ledger,
                                                                      AccountNumber account);

/// Returns at most `max` rows of these kinds, the newest first.
/// @param kinds  Bits of AttentionKind.
/// @param before  The last row that was seen.
[[nodiscard]] std::vector<Attention> attention_before(LedgerReader& ledger, AccountNumber account,
                                                      std::uint32_t kinds,
                                                      const std::optional<Attention>& before,
                                                      std::size_t max);

}  // namespace sluice::lists
