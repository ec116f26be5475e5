#include "core/shops/order_draft.hpp"

#include <algorithm>
#include <numeric>

#include "core/protocol/order_event.hpp"
#include "core/protocol/order_numbers.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

constexpr std::string_view kAmountTooLarge =
    "is 1,000,000,000,000,000 or more, once it was calculated";

/// Replaces a negative amount by 0. Returns whether it did.
bool raise_to_zero(Decimal& amount) noexcept {
    if (!amount.is_negative()) {
        return false;
    }
    amount = kNoAmount;
    return true;
}

class DraftWriter {
public:
    DraftWriter(JsonWriter& json, Currency currency) : json_(json), currency_(currency) {}

    void amount(std::string_view name, const Decimal& amount) {
        digits_.assign(1, '"');
        append_amount(digits_, amount, currency_);
        digits_ += '"';
        json_.key(name).raw(digits_);
    }
    void quantity(std::uint64_t quantity) { json_.field("quantity", std::to_string(quantity)); }
    void line(const DraftLine& line) {
        json_.begin_object().field("line_item_id", line.id);
        product(line);
        amount("amount", line.amount);
        amount("tax", line.tax);
        quantity(line.quantity);
        json_.end_object();
    }
    void refund(const DraftLine& line, Timestamp at) {
        json_.begin_object()
            .field("refund_line_item_id", line.id)
            .field("line_item_id", line.id)
            .field("platform_refunded_at", at.to_string());
        product(line);
        amount("amount", line.refunded);
        amount("tax", line.refunded_tax);
        quantity(line.refunded_quantity);
        json_.end_object();
    }

private:
    void product(const DraftLine& line) {
        json_.field("sku", line.sku);
        if (!line.variant_sku.empty()) {
            json_.field("variant_sku", line.variant_sku);
        }
    }

    JsonWriter& json_;
    Currency currency_;
    std::string digits_;
};

}  // namespace

void DraftLine::add_refund(const Decimal& more, const Decimal& more_tax, std::uint64_t pieces,
                           std::optional<Timestamp> at) noexcept {
    refunded += more;
    refunded_tax += more_tax;
    refunded_quantity += pieces;
    refunded_at = std::max(refunded_at, at);
}

void OrderDraft::clear() noexcept {
    order_id = {};
    customer_id.clear();
    anon_id.clear();
    number = confirmation_number = {};
    ordered_at.reset();
    updated_at.reset();
    cancelled_at.reset();
    currency.reset();
    amount = tax = shipping = kNoAmount;
    discounts.clear();
    lines.clear();
    refunds_at.reset();
    notes = {};
}

void OrderDraft::set_customer(std::string_view id, std::string_view email) {
    customer_id = id;
    if (id.empty() && !email.empty()) {
        customer_id = mail_id(email);
    }
}

void OrderDraft::set_number(std::string_view text) {
    number = is_order_number(text) && text != order_id ? text : std::string_view();
}

void OrderDraft::settle_totals() {
    bool differs = raise_to_zero(amount);
    differs = raise_to_zero(tax) || differs;
    differs = raise_to_zero(shipping) || differs;
    for (DraftLine& line : lines) {
        if (raise_to_zero(line.amount)) {
            line.tax = kNoAmount;
            differs = true;
        }
        differs = raise_to_zero(line.tax) || differs;
    }
    const Decimal sum = std::accumulate(
        lines.begin(), lines.end(), shipping,
        [](const Decimal& all, const DraftLine& line) { return all + line.amount; });
    if (sum > amount) {
        amount = sum;
        differs = true;
    }
    if (differs) {
        notes.add(SourceNote::kTotalsDiffer);
    }
}

std::optional<std::size_t> OrderDraft::index_lines() {
    by_id_.resize(lines.size());
    std::iota(by_id_.begin(), by_id_.end(), 0U);
    std::ranges::sort(by_id_, [this](std::uint32_t a, std::uint32_t b) {
        return lines[a].id != lines[b].id ? lines[a].id < lines[b].id : a < b;
    });
    const auto repeated =
        std::adjacent_find(by_id_.begin(), by_id_.end(), [this](std::uint32_t a, std::uint32_t b) {
            return lines[a].id == lines[b].id && !lines[a].id.empty();
        });
    return repeated == by_id_.end() ? std::nullopt : std::optional<std::size_t>(*(repeated + 1));
}

DraftLine* OrderDraft::find_line(std::string_view id) noexcept {
    const auto found = std::lower_bound(
        by_id_.begin(), by_id_.end(), id,
        [this](std::uint32_t at, std::string_view wanted) { return lines[at].id < wanted; });
    return found == by_id_.end() || lines[*found].id != id ? nullptr : &lines[*found];
}

void OrderDraft::refund_by_share(const Decimal& money, std::optional<Timestamp> at) {
    notes.add(SourceNote::kRefundNotByLine);
    weights_.clear();
    Decimal left = kNoAmount;
    for (const DraftLine& line : lines) {
        weights_.push_back(std::max(line.amount - line.refunded, kNoAmount));
        left += weights_.back();
    }
    share_by_weight(std::min(money, left), weights_, *currency, shares_);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!shares_[i].is_zero()) {
            const Decimal tax_part = share_of(lines[i].tax, shares_[i], lines[i].amount, *currency);
            lines[i].add_refund(shares_[i], tax_part, 0, at);
        }
    }
}

void OrderDraft::refund_all(std::optional<Timestamp> at) noexcept {
    for (DraftLine& line : lines) {
        line.refunded = line.amount;
        line.refunded_tax = line.tax;
        line.refunded_quantity = line.quantity;
        line.refunded_at = at;
    }
}

void check_draft(const OrderDraft& draft, std::vector<FieldError>& faults) {
    const auto check = [&faults](std::string field, const Decimal& amount) {
        if (!is_ledger_amount(amount)) {
            faults.push_back({std::move(field), FieldErrorCode::kInvalidFormat,
                              std::string(kAmountTooLarge), 0});
        }
    };
    check("amount", draft.amount);
    check("tax", draft.tax);
    check("shipping", draft.shipping);
    for (std::size_t i = 0; i < draft.lines.size(); ++i) {
        const DraftLine& line = draft.lines[i];
        const bool fits = is_ledger_amount(line.amount) && is_ledger_amount(line.tax) &&
                          is_ledger_amount(line.refunded) && is_ledger_amount(line.refunded_tax) &&
                          line.refunded_quantity <= kQuantityMax;
        if (!fits) {
            faults.push_back({"line_items[" + std::to_string(i) + ']',
                              FieldErrorCode::kInvalidFormat,
                              "has an amount or a refund too large for the ledger", 0});
            return;
        }
    }
}

void write_draft_head(JsonWriter& json, const OrderDraft& draft) {
    if (!draft.order_id.empty()) {
        json.field("platform_order_id", draft.order_id);
    }
    if (!draft.customer_id.empty()) {
        json.field("platform_customer_id", draft.customer_id);
    }
    const auto time = [&json](std::string_view name, const std::optional<Timestamp>& at) {
        if (at) {
            json.field(name, at->to_string());
        }
    };
    time("platform_ordered_at", draft.ordered_at);
    time("platform_updated_at", draft.updated_at);
    time("platform_cancelled_at", draft.cancelled_at);
}

void write_draft(JsonWriter& json, const OrderDraft& draft, std::string_view anon_field) {
    DraftWriter writer(json, *draft.currency);
    write_draft_head(json, draft);
    writer.amount("amount", draft.amount);
    writer.amount("tax", draft.tax);
    writer.amount("shipping", draft.shipping);
    json.field("currency_code", draft.currency->code());
    if (!draft.discounts.empty()) {
        json.key("discounts").begin_array();
        for (const DraftDiscount& discount : draft.discounts) {
            json.begin_object()
                .field("code", discount.code)
                .field("type", std::string_view("DISCOUNT_CODE"))
                .field("value_type", std::string_view("FIXED_AMOUNT"));
            writer.amount("value", discount.value);
            json.end_object();
        }
        json.end_array();
    }
    json.key("line_items").begin_array();
    for (const DraftLine& line : draft.lines) {
        writer.line(line);
    }
    json.end_array();
    if (draft.refunds_at) {
        json.key("refund_line_items").begin_array();
        for (const DraftLine& line : draft.lines) {
            writer.refund(line, line.refunded_at.value_or(*draft.refunds_at));
        }
        json.end_array();
    }
    if (!draft.number.empty()) {
        json.key("platform_order_numbers").begin_array().value(draft.number).end_array();
    }
    if (!draft.confirmation_number.empty()) {
        json.field("platform_confirmation_number", draft.confirmation_number);
    }
    if (!draft.anon_id.empty()) {
        json.field(anon_field, draft.anon_id);
    }
}

}  // namespace sluice
