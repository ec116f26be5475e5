// Order event: the complete order as a shop sends it, parsed and validated.
//
// nginx validates with the same parser with which the worker reads stored bodies, so that the edge
// and the ledger never read different values from the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/field_error.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/source_note.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/decimal.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The largest quantity of a line item, and of its refunds.
inline constexpr std::uint32_t kQuantityMax = 999'999'999;

/// All views below point into the parser of the event and are valid until its next parse().
struct Discount {
    std::string_view code;  ///< Non-empty. Compared ignoring ASCII case.
    bool percentage = false;
    SentDecimal value;
};

struct LineItem {
    std::string_view line_item_id;
    std::string_view sku;
    std::optional<std::string_view> variant_sku;
    SentDecimal amount;  ///< Includes tax and deductions.
    SentDecimal tax;
    std::uint32_t quantity = 1;  ///< 1 to kQuantityMax.
};

struct RefundLineItem {
    std::string_view refund_line_item_id;
    std::string_view line_item_id;  ///< Names a line item of the same event.
    Timestamp refunded_at;
    std::string_view sku;
    std::optional<std::string_view> variant_sku;
    SentDecimal amount;  ///< Cumulative.
    SentDecimal tax;
    std::uint32_t quantity = 0;
};

struct OrderEvent {
    Topic topic = Topic::kOrderCreate;
    std::string_view order_id{};
    std::optional<std::string_view> customer_id{};
    std::optional<std::string_view> email{};
    std::optional<std::string_view> phone{};
    /// Replaces customer_id and email once the person was forgotten.
    std::optional<Digest256> customer_pseudonym{}, email_pseudonym{};
    Timestamp ordered_at{};
    /// platform_updated_at; on ORDER_CREATE without it, ordered_at. This is the order's version.
    Timestamp updated_at;
    std::optional<Timestamp> cancelled_at;
    SentDecimal amount{};
    SentDecimal tax{};
    SentDecimal shipping{};
    Currency currency{};
    std::vector<Discount> discounts{};
    std::vector<LineItem> line_items{};  ///< One or more; ids unique.
    std::vector<RefundLineItem> refund_line_items{};
    /// Numbers for people, at most kOrderNumbersMax. Malformed ones are left out, and no error.
    std::vector<std::string_view> numbers{};
    std::string_view confirmation_number{};  ///< Empty if there is none.
    std::optional<std::string_view> anon_id{};
    SourceNotes source_notes{};  ///< `source.notes`, without texts that are no note.
};

/// Calls `visit` for every text of the event, of the line items and so on. An OwnedOrderEvent keeps
/// the texts that are visited here, and no others.
template <class Visit>
void visit_texts(OrderEvent& event, Visit visit) {
    const auto visit_optional = [&visit](std::optional<std::string_view>& text) {
        if (text) {
            visit(*text);
        }
    };
    visit(event.order_id);
    visit_optional(event.customer_id);
    visit_optional(event.email);
    visit_optional(event.phone);
    visit(event.amount.text);
    visit(event.tax.text);
    visit(event.shipping.text);
    for (std::string_view& number : event.numbers) {
        visit(number);
    }
    visit(event.confirmation_number);
    visit_optional(event.anon_id);
    for (Discount& discount : event.discounts) {
        visit(discount.code);
        visit(discount.value.text);
    }
    for (LineItem& line : event.line_items) {
        visit(line.line_item_id);
        visit(line.sku);
        visit_optional(line.variant_sku);
        visit(line.amount.text);
        visit(line.tax.text);
    }
    for (RefundLineItem& refund : event.refund_line_items) {
        visit(refund.refund_line_item_id);
        visit(refund.line_item_id);
        visit(refund.sku);
        visit_optional(refund.variant_sku);
        visit(refund.amount.text);
        visit(refund.tax.text);
    }
}

/// Whether customer and e-mail may be pseudonyms, `{"pseudonym":"<64 hex>"}`. Only inputs that were
/// edited after they were stored contain them (docs/record-format.md); senders cannot.
enum class Pseudonyms : std::uint8_t { kRefused, kRead };

/// A reusable parser. It keeps its buffers, so that a valid event of ordinary size allocates
/// nothing. One per thread. Buffers above 8 MB are freed after use.
class OrderEventParser {
public:
    static constexpr std::size_t kErrorsMax = 100;  ///< Details listed in an answer.

    OrderEventParser();
    ~OrderEventParser();

    /// @param body        The raw bytes; need not be padded (copied if the page boundary demands
    /// it).
    /// @param anon_field  The name of the anonymous id's field: `svc_anon_id` for prefix `X-SVC-`.
    ///                    If empty, the field is not read: the worker has it from the record.
    /// @return the event, owned by the parser and valid until its next call; or nullptr, and then
    ///         errors() has 1 to kErrorsMax entries in the order of docs/protocol.md's table.
    [[nodiscard]] const OrderEvent* parse(std::string_view body, Topic topic,
                                          std::string_view anon_field,
                                          Pseudonyms pseudonyms = Pseudonyms::kRefused);
    [[nodiscard]] std::span<const FieldError> errors() const noexcept;
    /// Frees what a body above 8 MB left behind, which the next parse() would do. Invalidates the
    /// event.
    void trim() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Maps a prefix to a name: `X-SVC-` -> `svc_anon_id`, `X-LC-` -> `lc_anon_id`.
[[nodiscard]] std::string anon_field_name(std::string_view header_prefix);

}  // namespace sluice
