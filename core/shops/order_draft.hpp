// Order draft: an order of a platform on its way to our own format, and the parts of the
// translation that all platforms share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/writer.hpp"
#include "core/protocol/field_error.hpp"
#include "core/shops/amounts.hpp"
#include "core/shops/source.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

struct DraftDiscount {
    std::string_view code;
    Decimal value;
};

struct DraftLine {
    std::string_view id, sku{}, variant_sku{};  ///< An empty variant_sku is none.
    Decimal amount = kNoAmount;
    Decimal tax = kNoAmount;
    std::uint32_t quantity = 0;
    Decimal refunded = kNoAmount;
    Decimal refunded_tax = kNoAmount;
    std::uint64_t refunded_quantity = 0;
    std::optional<Timestamp> refunded_at{};  ///< The latest of this line's refunds.

    void add_refund(const Decimal& amount, const Decimal& tax, std::uint64_t quantity,
                    std::optional<Timestamp> at) noexcept;
};

/// All views point into the body or into the translator.
struct OrderDraft {
    std::string_view order_id;
    std::string customer_id;                       ///< Empty if there is none.
    std::string anon_id;                           ///< Empty if there is none.
    std::string_view number, confirmation_number;  ///< Valid, or empty.
    std::optional<Timestamp> ordered_at, updated_at, cancelled_at;
    std::optional<Currency> currency;
    Decimal amount = kNoAmount;
    Decimal tax = kNoAmount;
    Decimal shipping = kNoAmount;
    std::vector<DraftDiscount> discounts;
    std::vector<DraftLine> lines;
    /// Rows go out for every line, those of 0.00 too, with this time if a line has none of its own.
    std::optional<Timestamp> refunds_at;
    SourceNotes notes;

    /// Empties the draft, and keeps its buffers.
    void clear() noexcept;

    /// Sets `platform_customer_id`: the id, or else `mail:` and a digest of the e-mail address.
    void set_customer(std::string_view id, std::string_view email);
    /// Keeps what people call the order, unless it is malformed or its id.
    void set_number(std::string_view text);
    /// Replaces negative amounts by 0, and lifts the order's amount to the sum of lines and
    /// shipping. Both are noted.
    void settle_totals();

    /// Returns the line of an id, or nullptr. Requires: index_lines() returned nothing.
    [[nodiscard]] DraftLine* find_line(std::string_view id) noexcept;
    /// Sorts the lines' ids for find_line(). Returns the position of an id that came before;
    /// an empty one is none.
    [[nodiscard]] std::optional<std::size_t> index_lines();

    /// Refunds money that the platform does not assign to lines: shared by what is not yet
    /// refunded, and capped there.
    void refund_by_share(const Decimal& money, std::optional<Timestamp> at);
    /// Refunds each line in full.
    void refund_all(std::optional<Timestamp> at) noexcept;

private:
    std::vector<std::uint32_t> by_id_;  ///< Positions of lines, sorted by id.
    std::vector<Decimal> weights_, shares_;
};

/// Appends a fault for each value that the ledger would refuse: an amount of 10^15 or more, a
/// refunded quantity of 10^9 or more.
void check_draft(const OrderDraft& draft, std::vector<FieldError>& faults);

/// Writes the members of the order in the order of docs/protocol.md, without the braces.
/// Requires: times and currency are set, and check_draft() found nothing.
void write_draft(JsonWriter& json, const OrderDraft& draft, std::string_view anon_field);
/// Writes the ids of the order and the customer and the order's times, those that are known,
/// without the braces.
void write_draft_head(JsonWriter& json, const OrderDraft& draft);

}  // namespace sluice
