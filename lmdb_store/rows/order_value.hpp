// The value of an order. Internal to lmdb_store.
//
// Compact, because an order of five lines should take a quarter of a page: numbers take the bytes
// that they need, positions name lines by their places, and equal frozen rates are stored once.
#pragma once

#include <optional>
#include <string_view>

#include "core/ledger/order_state.hpp"
#include "lmdb_store/rows/order_fields.hpp"

namespace sluice::store {

/// Reusable; keeps its buffers. One per transaction.
class OrderValue {
public:
    /// Valid until the next call.
    [[nodiscard]] std::string_view encode(std::string_view key, const OrderState& state);
    /// Returns false if the value is damaged, or belongs to another order whose id the key cut too.
    /// Reuses the buffers of `state`. Requires: `state.key` is the order under which it is stored.
    [[nodiscard]] bool decode(std::string_view key, std::string_view value, OrderState& state);
    /// Returns the id that a cut key cannot give, or no value if the row is damaged.
    [[nodiscard]] static std::optional<std::string_view> cut_order_id(std::string_view key,
                                                                      std::string_view value);

private:
    OrderWriter fields_;
    OrderReaderBuffers buffers_;
};

}  // namespace sluice::store
