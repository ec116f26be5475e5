// Row name: a row as an error names it, by its table and key.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "core/ledger/tables.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// A visitor of key columns that writes them down: `account 1, program spring`.
struct KeyText {
    std::string text;

    void operator()(const char* name, const auto& value) {
        text += std::string(", ") + name + " " + said(value);
    }

private:
    static std::string said(std::uint32_t value) { return std::to_string(value); }
    static std::string said(std::uint64_t value) { return std::to_string(value); }
    static std::string said(bool value) { return value ? "true" : "false"; }
    static std::string said(AccountNumber value) { return std::to_string(value.value); }
    static std::string said(ShopNumber value) { return std::to_string(value.value); }
    static std::string said(SequenceNumber value) { return std::to_string(value.value); }
    static std::string said(const Currency& value) { return std::string(value.code()); }
    static std::string said(const Timestamp& value) { return value.to_string(); }
    static std::string said(const Digest256& value) { return to_hex(value); }
    static std::string said(const std::string& value) { return value; }
    template <class Tag>
    static std::string said(const TextId<Tag>& value) {
        return value.str();
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    static std::string said(Enum value) { return std::to_string(static_cast<unsigned>(value)); }
};

/// `table codes, account 1, digest 2c26..., program spring`.
template <class Row>
[[nodiscard]] std::string row_name(const Row& row) {
    KeyText key;
    TableOf<Row>::key(row, key);
    return std::string("table ") + TableOf<Row>::kName + key.text;
}
/// A row of a table that is not described, by its order.
[[nodiscard]] inline std::string row_name(const char* table, const OrderKey& order) {
    return std::string("table ") + table + ", account " + std::to_string(order.account.value) +
           ", shop " + std::to_string(order.shop.value) + ", order " + order.order_id.str();
}

/// The one order that a row belongs to; nothing: it is not one order's.
template <class Row>
[[nodiscard]] std::optional<OrderKey> order_of(const Row& /*row*/) {
    return std::nullopt;
}
[[nodiscard]] inline std::optional<OrderKey> order_of(const Anomaly& row) {
    return row.order;
}
[[nodiscard]] inline std::optional<OrderKey> order_of(const RefundOwner& row) {
    return OrderKey{row.account, row.shop, row.order_id};
}
[[nodiscard]] inline std::optional<OrderKey> order_of(const OpenAmount& row) {
    return OrderKey{row.account, row.shop, row.order_id};
}
[[nodiscard]] inline std::optional<OrderKey> order_of(const WaitingOrder& row) {
    return OrderKey{row.key.account, row.shop, row.order_id};
}

}  // namespace sluice
