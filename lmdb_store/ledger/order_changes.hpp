// Order changes: what events changed on old orders, in rows of their own.
//
// The row of an old order lies on a page that no other event of its batch changes. A change that is
// written there costs a page of 4 KB, and most of the page above it. So the change is appended to
// the table order_changes, where a page takes twenty of them, and changed_orders, whose rows are
// short, leads from the order to its change. A reader finds the row as it would be had it been
// written again, byte for byte. Internal to lmdb_store.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/row_delta.hpp"

namespace sluice::store {

/// Key of changed_orders: the first 8 bytes of the SHA-256 of the order's key.
using ChangedKey = std::array<char, sizeof(std::uint64_t)>;
/// Key of order_changes: a number, big endian.
using ChangeKey = std::array<char, sizeof(std::uint64_t)>;

/// Rows of orders with their changes. Views are valid until the next call, and as RowAccess says.
class OrderRows {
public:
    /// Returns nothing if there is no such order.
    [[nodiscard]] std::optional<std::string_view> get(const RowAccess& rows, std::string_view key,
                                                      const OrderKey& order);
    /// Returns the present value of `key`. Throws DamagedRow.
    /// @param stored  The value in the table of orders.
    /// @param order   Whose row it is, if it is known.
    [[nodiscard]] std::string_view current(const RowAccess& rows, std::string_view key,
                                           std::string_view stored,
                                           const std::optional<OrderKey>& order = std::nullopt);
    /// Returns the present value of an order that has a change. Throws DamagedRow.
    [[nodiscard]] std::optional<std::string_view> changed(const RowAccess& rows,
                                                          std::string_view key,
                                                          const OrderKey& order);
    /// Returns the number of the order's change. Throws DamagedRow.
    [[nodiscard]] std::optional<std::uint64_t> change_of(const RowAccess& rows,
                                                         std::string_view key,
                                                         const std::optional<OrderKey>& order);
    /// As change_of(), but does not look up the order that get() returned last. Requires:
    /// forget_read() was called since that order's change was written or erased.
    [[nodiscard]] std::optional<std::uint64_t> change_when_read(const RowAccess& rows,
                                                                std::string_view key,
                                                                const OrderKey& order);
    void forget_read() noexcept { last_key_.clear(); }

private:
    [[nodiscard]] std::string_view with_change(const RowAccess& rows, std::string_view key,
                                               std::string_view stored, std::uint64_t number,
                                               const std::optional<OrderKey>& order);

    std::string value_;
    std::string last_key_;  ///< Key of the order that get() returned last, or empty.
    std::optional<std::uint64_t> last_change_;
};

/// Makes the rows of the two tables. Reusable; keeps its buffers.
class ChangeValue {
public:
    /// Valid until the next call.
    [[nodiscard]] std::string_view encode(const ChangeKey& number, std::string_view order,
                                          std::string_view base, std::string_view next);
    /// Valid until the next call.
    [[nodiscard]] std::string_view encode_place(const ChangedKey& order, std::uint64_t number);

private:
    FieldWriter fields_;
    DeltaWriter delta_;
};

[[nodiscard]] ChangedKey changed_key(std::string_view order) noexcept;
[[nodiscard]] ChangeKey change_key(std::uint64_t number) noexcept;
template <std::size_t kBytes>
[[nodiscard]] std::string_view view_of(const std::array<char, kBytes>& key) noexcept {
    return {key.data(), key.size()};
}

/// Checks both tables against each other and the orders.
/// @param report  Called with the words of a problem, or with those of a damaged row.
void verify_order_changes(const RowAccess& rows,
                          const std::function<void(std::string problem)>& report);

}  // namespace sluice::store
