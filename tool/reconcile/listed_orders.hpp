// Listed orders: what the rows so far said of each order, so that an order with a row for each of
// its items counts once, and orders that no row names are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "core/ledger/order_state.hpp"
#include "tool/reconcile/order_list.hpp"

namespace sluice::cli {

class ListedOrders {
public:
    static constexpr std::size_t kOrdersMax = 10'000'000;

    /// @param line  The row of the same order that came before, if the row is not new.
    struct Seen {
        enum class As : std::uint8_t { kNew, kSame, kOther } as = As::kNew;
        std::uint64_t line = 0;
    };
    /// Notes a row that can be read. Another version of the order is new. A row is new as well if
    /// kOrdersMax orders are known.
    [[nodiscard]] Seen add(const ListedOrder& order);
    /// Notes the id alone.
    void add_id(std::string_view id);
    [[nodiscard]] bool is_full() const noexcept { return rows_.size() >= kOrdersMax; }
    [[nodiscard]] bool has(std::string_view id) const;

private:
    struct Row {
        std::uint64_t line = 0, values = 0, version = 0;  ///< The last two are hashes.
    };
    struct Hash {
        std::size_t operator()(const EventDigest& digest) const noexcept;
    };

    std::unordered_map<EventDigest, Row, Hash> rows_;  ///< By half of the SHA-256 of the id.
};

}  // namespace sluice::cli
