// OrderVerdict: how the ledger's order compares with what a list states of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/values/timestamp.hpp"
#include "tool/reconcile/order_list.hpp"

namespace sluice::cli {

enum class OrderClass : std::uint8_t {
    kMissing,     ///< Not in the ledger.
    kStale,       ///< The list's version is newer.
    kNewer,       ///< The ledger's version is newer.
    kDifferent,   ///< The same version, and other values.
    kExtra,       ///< In the ledger, not in the list.
    kUnreadable,  ///< The row has no id, or a wrong value.
    kSame,
    kRecent,  ///< Would be missing, stale, different or extra, and may still be on its way.
};
inline constexpr std::array<std::string_view, 8> kClassNames{
    "missing", "stale", "newer", "different", "extra", "unreadable", "same", "recent"};
/// Number of classes whose rows are listed: all but same and recent, which are counted.
inline constexpr std::size_t kListedClasses = 6;

[[nodiscard]] inline std::string_view to_string(OrderClass kind) noexcept {
    return kClassNames[static_cast<std::size_t>(kind)];
}

/// A field with the two values that differ.
struct FieldDifference {
    std::string_view field;
    std::string listed, stored;
};

struct OrderVerdict {
    OrderClass kind = OrderClass::kSame;
    std::vector<FieldDifference> differences;
};

/// Compares a readable row with the ledger's order, which is nullptr if there is none. Amounts are
/// compared by value.
/// @param settled_until  Orders whose list has a later time may still be on their way.
[[nodiscard]] OrderVerdict judge(const ListedOrder& listed, const OrderState* stored,
                                 Timestamp settled_until);

}  // namespace sluice::cli
