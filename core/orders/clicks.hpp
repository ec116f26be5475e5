// Clicks: stores them, counts them by day and month, and deletes old ones.
#pragma once

#include <cstddef>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {

/// The newest clicks of a device and a program that stay. Imported ones are not among them, and
/// stay.
inline constexpr std::size_t kClicksOfDeviceMax = 256;
/// Other clicks stay for so long after their receipt, or for the account's longest window and
/// kClickDaysAfterWindow.
inline constexpr std::int64_t kClickDaysMin = 400;
inline constexpr std::int64_t kClickDaysAfterWindow = 30;

struct StoredClick {
    bool is_new = false;
    std::size_t deleted = 0;  ///< Older clicks of its device and program.
};
/// Stores a click that came in, unless it is stored already: then it changes nothing.
StoredClick store_click(const Click& click, LedgerTxn& txn);
/// Returns the stored clicks of the click's device and program.
[[nodiscard]] std::vector<Click> clicks_beside(const Click& click, LedgerTxn& txn);
/// Stores an imported click. One that is stored already, whatever brought it, gets its rank, and
/// counts from its effective date on if that is earlier.
/// @param clicks  As clicks_beside() returned them, and what was imported since: gets the click. An
/// import may have many clicks of one device, which are read once.
void import_click(const Click& click, std::vector<Click>& clicks, LedgerTxn& txn);
/// Deletes up to `max` clicks of the account, those that were received first, if they were received
/// before `before`. Returns their number.
std::size_t delete_clicks(AccountNumber account, Timestamp before, std::size_t max, LedgerTxn& txn);

/// Counts an order by the day of its sale and the click that attributed it.
/// @param sign  -1 takes it out.
void count_landed(LedgerTxn& txn, AccountNumber account, Timestamp sold_at, const Landed& landed,
                  int sign);

}  // namespace sluice
