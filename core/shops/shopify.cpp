#include <algorithm>

#include "core/protocol/order_event.hpp"
#include "core/protocol/order_numbers.hpp"
#include "core/shops/device_id.hpp"
#include "core/shops/platforms.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kNanosMax = 999'999'999;
constexpr std::uint32_t kCancelledRank = 500'000'000;
constexpr std::uint32_t kRefundRank = 1'000'000;
constexpr std::size_t kRefundsRankedMax = 499;

constexpr FieldNames kOrder("id", "test", "processed_at", "created_at", "updated_at",
                            "cancelled_at", "financial_status", "source_name", "currency",
                            "presentment_currency", "taxes_included", "total_price",
                            "total_price_set", "total_tax", "total_tax_set",
                            "discount_applications", "discount_codes", "shipping_lines",
                            "line_items", "refunds", "customer", "email", "note_attributes",
                            "landing_site", "order_status_url", "name", "confirmation_number");

constexpr FieldNames kPrice("price", "price_set");

constexpr FieldNames kAllocation("amount", "amount_set");

constexpr FieldNames kShipping("price", "price_set", "is_removed", "discount_allocations",
                               "tax_lines");

constexpr FieldNames kLine("price", "price_set", "id", "quantity", "gift_card",
                           "tip_payment_gateway", "product_id", "sku", "variant_id", "tax_lines",
                           "discount_allocations");

constexpr FieldNames kCode("code", "amount");
constexpr FieldNames kApplication("type", "code");
constexpr FieldNames kCustomer("id");
constexpr FieldNames kAttribute("name", "value");

/// Returns the time of the event within the second of the order's version, in nanoseconds.
std::uint32_t nanos_after(Timestamp updated_at, const SourceRequest& request) noexcept {
    if (request.is_from_file) {
        return kNanosMax;
    }
    if (!request.triggered_at || request.triggered_at->seconds < updated_at.seconds) {
        return 0;
    }
    return request.triggered_at->seconds > updated_at.seconds ? kNanosMax
                                                              : request.triggered_at->nanos;
}

class ShopifyReader {
public:
    ShopifyReader(SourceObject& order, const ReadArguments& arguments, OrderDraft& draft,
                  SourceReading& reading)
        : order_(order), arguments_(arguments), draft_(draft), reading_(reading) {}

    ReadResult read() {
        draft_.order_id = order_.id(kOrder["id"], Need::kRequired);
        draft_.ordered_at = order_.time(kOrder["processed_at"]);
        if (!draft_.ordered_at) {
            draft_.ordered_at = order_.time(kOrder["created_at"], Need::kRequired);
        }
        if (draft_.ordered_at && arguments_.settings.from &&
            *draft_.ordered_at < *arguments_.settings.from) {
            return ignored_because(IgnoredReason::kBeforeStart);
        }
        read_head();
        const bool taxes_included =
            order_.flag(kOrder["taxes_included"], Need::kRequired).value_or(false);
        draft_.amount = order_.money(kOrder["total_price"], Need::kRequired);
        draft_.tax = order_.money(kOrder["total_tax"]);
        read_numbers();
        read_discounts();
        read_shipping(taxes_included);
        read_lines(taxes_included);
        read_customer();
        return finish(taxes_included);
    }

private:
    void read_head() {
        draft_.updated_at = order_.time(kOrder["updated_at"], Need::kRequired);
        draft_.cancelled_at = order_.time(kOrder["cancelled_at"]);
        is_cancelled_ = draft_.cancelled_at.has_value();
        const std::string_view status = order_.text(kOrder["financial_status"]);
        static_cast<void>(order_.text(kOrder["source_name"]));
        if (draft_.updated_at) {
            draft_.updated_at->nanos = 0;
            if (!is_cancelled_ && (status == "voided" || status == "expired")) {
                draft_.cancelled_at = draft_.updated_at;
            }
        }
        draft_.currency =
            order_.currency(arguments_.settings.presentment_money ? kOrder["presentment_currency"]
                                                                  : kOrder["currency"],
                            Need::kRequired);
    }

    void read_numbers() {
        draft_.set_number(order_.loose_text(kOrder["name"]));
        const std::string_view confirmation = order_.loose_text(kOrder["confirmation_number"]);
        if (is_confirmation_number(confirmation)) {
            draft_.confirmation_number = confirmation;
        }
        if (!draft_.number.empty()) {
            reading_.seen.field("name", draft_.number);
        }
        if (!draft_.confirmation_number.empty()) {
            reading_.seen.field("confirmation_number", draft_.confirmation_number);
        }
    }

    /// Only codes that a customer entered count: other discounts are listed by their titles.
    void read_discounts() {
        std::vector<std::string> entered;
        order_.each(
            kOrder["discount_applications"], kApplication, Need::kOptional, Seen::kHidden,
            [&](SourceObject& application) {
                if (application.text(0, Need::kOptional, Seen::kHidden) == "discount_code") {
                    entered.push_back(
                        ascii_lower(application.text(1, Need::kOptional, Seen::kHidden)));
                }
            });
        std::ranges::sort(entered);
        order_.each(kOrder["discount_codes"], kCode, Need::kOptional, Seen::kHidden,
                    [&](SourceObject& discount) {
                        const std::string_view code =
                            discount.text(0, Need::kOptional, Seen::kHidden);
                        const Decimal value = discount.amount(1, Need::kOptional, Seen::kHidden);
                        if (!code.empty() &&
                            std::binary_search(entered.begin(), entered.end(), ascii_lower(code))) {
                            draft_.discounts.push_back({code, std::max(value, kNoAmount)});
                        }
                    });
        show_discounts();
    }

    /// Writes the codes that count to `seen`, in the platform's form.
    void show_discounts() {
        if (draft_.discounts.empty()) {
            return;
        }
        JsonWriter& seen = reading_.seen;
        seen.key("discount_codes").begin_array();
        for (const DraftDiscount& discount : draft_.discounts) {
            seen.begin_object().field("code", discount.code);
            std::string value(1, '"');
            append_amount(value, discount.value, draft_.currency.value_or(Currency()));
            value += '"';
            seen.key("amount").raw(value).end_object();
        }
        seen.end_array().key("discount_applications").begin_array();
        for (const DraftDiscount& discount : draft_.discounts) {
            seen.begin_object().field("type", "discount_code").field("code", discount.code);
            seen.end_object();
        }
        seen.end_array();
    }

    static Decimal sum_of(SourceObject& from, std::size_t field, const FieldNames& fields) {
        Decimal sum = kNoAmount;
        from.each(field, fields, Need::kOptional, Seen::kCopied,
                  [&sum](SourceObject& part) { sum += part.money(0); });
        return sum;
    }

    void read_shipping(bool taxes_included) {
        order_.each(kOrder["shipping_lines"], kShipping, Need::kOptional, Seen::kCopied,
                    [&](SourceObject& line) {
                        if (line.flag(kShipping["is_removed"]).value_or(false)) {
                            return;
                        }
                        Decimal price = line.money(kShipping["price"]);
                        price -= sum_of(line, kShipping["discount_allocations"], kAllocation);
                        const Decimal tax = sum_of(line, kShipping["tax_lines"], kPrice);
                        if (!taxes_included) {
                            price += tax;
                        }
                        draft_.shipping += std::max(price, kNoAmount);
                    });
    }

    void read_lines(bool taxes_included) {
        order_.each(
            kOrder["line_items"], kLine, Need::kRequired, Seen::kCopied, [&](SourceObject& from) {
                DraftLine line{
                    .id = from.id(kLine["id"], Need::kRequired),
                    .quantity = from.whole(kLine["quantity"], Need::kRequired, kQuantityMax + 1)};
                const bool is_gift_card = from.flag(kLine["gift_card"]).value_or(false);
                const bool is_tip = from.has(kLine["tip_payment_gateway"]);
                if (is_tip) {
                    reading_.seen.key("tip_payment_gateway").null();
                }
                const bool counts = !is_gift_card || arguments_.settings.counts_gift_cards;
                if (counts && !is_tip && line.quantity > 0) {
                    read_line(from, taxes_included, line);
                    draft_.lines.push_back(line);
                }
            });
    }

    static void read_line(SourceObject& from, bool taxes_included, DraftLine& line) {
        line.sku = from.id(kLine["product_id"]);
        if (line.sku.empty()) {
            line.sku = "custom";
        }
        line.variant_sku = from.id(kLine["sku"]);
        if (line.variant_sku.empty()) {
            line.variant_sku = from.id(kLine["variant_id"]);
        }
        line.tax = sum_of(from, kLine["tax_lines"], kPrice);
        const Decimal price = from.money(kLine["price"], Need::kRequired);
        line.amount = {price.unscaled() * line.quantity, kAmountDigits};
        line.amount -= sum_of(from, kLine["discount_allocations"], kAllocation);
        if (!taxes_included) {
            line.amount += line.tax;
        }
    }

    void read_customer() {
        std::string_view id;
        order_.hidden_object(kOrder["customer"], kCustomer, [&id](SourceObject& customer) {
            id = customer.id(0, Need::kOptional, Seen::kHidden);
        });
        draft_.set_customer(id, order_.text(kOrder["email"], Need::kOptional, Seen::kHidden));
        const std::string_view field = arguments_.request.anon_field;
        order_.each(kOrder["note_attributes"], kAttribute, Need::kOptional, Seen::kHidden,
                    [&](SourceObject& attribute) {
                        if (!names_device(attribute.loose_text(0), field)) {
                            return;
                        }
                        const std::string_view id_text = attribute.loose_text(1);
                        if (draft_.anon_id.empty() && is_device_id(id_text)) {
                            draft_.anon_id = id_text;
                        }
                    });
        if (draft_.anon_id.empty()) {
            draft_.anon_id = device_of_url(order_.loose_text(kOrder["landing_site"]), field);
        }
    }

    ReadResult finish(bool taxes_included) {
        const auto repeated = draft_.index_lines();
        if (repeated) {
            order_.invalid(kOrder["line_items"], "must have unique ids");
        }
        draft_.settle_totals();
        std::size_t refunds = 0;
        if (!repeated) {
            // Also if the currency is a fault, because `seen` keeps what a later mapping needs.
            draft_.currency = draft_.currency.value_or(Currency());
            refunds = read_shopify_refunds(order_, kOrder["refunds"], taxes_included, draft_);
        }
        if (draft_.updated_at) {
            draft_.updated_at->nanos = rank(refunds);
        }
        return {draft_.lines.empty() ? TranslationKind::kDeletion : TranslationKind::kOrder};
    }

    /// Orders the states of one second: a cancelled one is newer, then one with more refunds.
    [[nodiscard]] std::uint32_t rank(std::size_t refunds) const noexcept {
        const auto ranked = static_cast<std::uint32_t>(std::min(refunds, kRefundsRankedMax));
        return (is_cancelled_ ? kCancelledRank : 0) + kRefundRank * ranked +
               nanos_after(*draft_.updated_at, arguments_.request) / 1000;
    }

    SourceObject& order_;
    const ReadArguments& arguments_;
    OrderDraft& draft_;
    SourceReading& reading_;
    bool is_cancelled_ = false;
};

bool is_of_shop(SourceObject& order, std::uint64_t shop) {
    const std::string part = '/' + std::to_string(shop) + "/orders/";
    return order.loose_text(kOrder["order_status_url"]).find(part) != std::string_view::npos;
}

}  // namespace

ReadResult read_shopify(const JsonValue& root, const ReadArguments& arguments, OrderDraft& draft,
                        SourceReading& reading) {
    const FieldPlace place;
    SourceObject order(kOrder, root, place, reading);
    if (arguments.request.topic == "orders/delete") {
        if (arguments.request.triggered_at) {
            draft.updated_at = Timestamp{arguments.request.triggered_at->seconds, kNanosMax};
        }
        return read_deletion(order, kOrder["id"], draft);
    }
    // Before the shop: the test notification of the admin names a shop that there is not.
    const bool is_test = order.flag(kOrder["test"]).value_or(false);
    if (is_test && !arguments.settings.counts_test_orders) {
        return ignored_because(IgnoredReason::kTestOrder);
    }
    const std::uint64_t shop = arguments.settings.platform_shop;
    if (shop != 0 && !is_of_shop(order, shop)) {
        return {TranslationKind::kOtherShop};
    }
    reading.money =
        arguments.settings.presentment_money ? ShopMoney::kPresentment : ShopMoney::kShop;
    return ShopifyReader(order, arguments, draft, reading).read();
}

}  // namespace sluice
