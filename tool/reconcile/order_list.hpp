// Order lists: what a shop's own export states of its orders, as CSV or as NDJSON of payloads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/interface.hpp"
#include "core/values/money.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "tool/reconcile/list_map.hpp"
#include "tool/reconcile/listed_refunds.hpp"
#include "tool/shops/translated_orders.hpp"

namespace sluice::cli {

/// One order, as a list states it. A field without a value is not compared.
struct ListedOrder {
    std::uint64_t line = 0;  ///< Line where it begins, from 1.
    std::string order_id;
    std::string plain_id;  ///< order_id without what exports write around it; empty if the same.
    std::optional<Timestamp> ordered_at, version;
    std::optional<bool> cancelled;
    std::optional<Decimal> amount, tax, shipping;
    std::vector<ListedRefund> refunds;  ///< Empty if the list states none.
    std::optional<Currency> currency;
    std::string payload;  ///< NDJSON: the line as it was read.
    /// True for Shopify, whose versions have only milliseconds in common with those of webhooks.
    bool is_ranked = false;
    /// Why it cannot be read, and the field; both empty if it can. `bad_field` is empty if no
    /// field of the row can be read.
    std::string problem;
    std::string_view bad_field;
    std::string bad_value;
};

class OrderList : public Interface {
public:
    static constexpr std::size_t kRowBytesMax = std::size_t{1} << 20;

    /// Reads the next order. Rows that continue an order with another line item are skipped.
    /// @return false at the end, or an error if the rest cannot be read
    [[nodiscard]] virtual Result<bool> next(ListedOrder& order) = 0;
    /// Returns true if the rows are payloads, which can be sent.
    [[nodiscard]] virtual bool has_payloads() const noexcept = 0;
    /// Returns the columns that the map names for a value that is compared, and in which no row has
    /// one. Valid at the end.
    [[nodiscard]] std::vector<std::string> columns_without_values(const ListMap& map) const;

protected:
    void note_values(const ListedOrder& order) noexcept;

private:
    bool has_rows_ = false;
    std::array<bool, kListFields> has_value_{};
};

/// Opens a list: NDJSON if it is named `.ndjson` or `.jsonl`, or begins with `{`; else CSV, which
/// may also have the columns of `report orders`. Returns kInvalid for a file of another kind, and
/// if a CSV file lacks the id's column or one that `map` names.
/// @param separator  Of CSV; nullopt means a comma, and that no line `sep=` is expected.
[[nodiscard]] Result<std::unique_ptr<OrderList>> open_order_list(const std::string& path,
                                                                 const ListMap& map,
                                                                 std::optional<char> separator);

/// Opens the orders of a platform's file, each as the payload that its translation is. Orders that
/// a webhook would not store are added to `left_out`, which must outlive the list.
/// @param anon_field  Name of the device id's field, such as `svc_anon_id`.
[[nodiscard]] Result<std::unique_ptr<OrderList>> open_platform_list(const std::string& path,
                                                                    const OrderSource& source,
                                                                    std::string anon_field,
                                                                    LeftOut& left_out);

}  // namespace sluice::cli
