#include <algorithm>

#include "core/protocol/order_event.hpp"
#include "core/shops/device_id.hpp"
#include "core/shops/platforms.hpp"

namespace sluice {
namespace {

constexpr std::string_view kSessionEntry = "_wc_order_attribution_session_entry";

constexpr FieldNames kWooOrder("id", "status", "date_created_gmt", "date_modified_gmt", "currency",
                               "total", "total_tax", "shipping_total", "shipping_tax",
                               "coupon_lines", "line_items", "refunds", "customer_id", "billing",
                               "meta_data", "number");

constexpr FieldNames kWooLine("id", "product_id", "variation_id", "sku", "quantity", "total",
                              "total_tax");

constexpr FieldNames kWooRefund("total", "line_items", "shipping_lines", "fee_lines");

constexpr FieldNames kWooRow("line_item_id", "quantity", "total", "total_tax");

constexpr FieldNames kCoupon("code", "discount");
constexpr FieldNames kBilling("email");
constexpr FieldNames kMeta("key", "value");

/// WooCommerce writes 0 for a product or a customer that there is not.
std::string_view unless_zero(std::string_view id) noexcept {
    return id == "0" ? std::string_view() : id;
}

/// Rounds up, at any size of the number.
Int128 rounded_up(const Decimal& quantity) noexcept {
    const Int128 whole = quantity.unscaled() / kAmountOne;
    return whole + (quantity.unscaled() > whole * kAmountOne ? 1 : 0);
}

class WooReader {
public:
    WooReader(SourceObject& order, const ReadArguments& arguments, OrderDraft& draft,
              SourceReading& reading)
        : order_(order), arguments_(arguments), draft_(draft), reading_(reading) {}

    ReadResult read() {
        draft_.order_id = order_.id(kWooOrder["id"], Need::kRequired);
        const std::string_view status = order_.text(kWooOrder["status"]);
        if (status == "pending" || status == "checkout-draft" || status == "auto-draft") {
            return ignored_because(IgnoredReason::kNotPlaced);
        }
        draft_.ordered_at = order_.time(kWooOrder["date_created_gmt"], Need::kRequired);
        if (draft_.ordered_at && arguments_.settings.from &&
            *draft_.ordered_at < *arguments_.settings.from) {
            return ignored_because(IgnoredReason::kBeforeStart);
        }
        draft_.updated_at = order_.time(kWooOrder["date_modified_gmt"], Need::kRequired);
        if (status == "cancelled" || status == "failed" || status == "trash") {
            draft_.cancelled_at = draft_.updated_at;
        }
        draft_.set_number(order_.loose_text(kWooOrder["number"]));
        if (!draft_.number.empty()) {
            reading_.seen.field("number", draft_.number);
        }
        draft_.currency = order_.currency(kWooOrder["currency"], Need::kRequired);
        draft_.amount = order_.amount(kWooOrder["total"], Need::kRequired);
        draft_.tax = order_.amount(kWooOrder["total_tax"]);
        draft_.shipping = order_.amount(kWooOrder["shipping_total"]);
        draft_.shipping += order_.amount(kWooOrder["shipping_tax"]);
        order_.each(kWooOrder["coupon_lines"], kCoupon, Need::kOptional, Seen::kCopied,
                    [this](SourceObject& coupon) {
                        const std::string_view code = coupon.text(0);
                        const Decimal value = std::max(coupon.amount(1), kNoAmount);
                        if (!code.empty()) {
                            draft_.discounts.push_back({code, value});
                        }
                    });
        order_.each(kWooOrder["line_items"], kWooLine, Need::kRequired, Seen::kCopied,
                    [this](SourceObject& line) { read_line(line); });
        read_customer();
        return finish(status == "refunded");
    }

private:
    void read_line(SourceObject& from) {
        DraftLine line{.id = from.id(kWooLine["id"], Need::kRequired),
                       .sku = unless_zero(from.id(kWooLine["product_id"]))};
        if (line.sku.empty()) {
            line.sku = "custom";
        }
        line.variant_sku = from.id(kWooLine["sku"]);
        const std::string_view variation = unless_zero(from.id(kWooLine["variation_id"]));
        if (line.variant_sku.empty()) {
            line.variant_sku = variation;
        }
        const Decimal quantity = from.amount(kWooLine["quantity"], Need::kRequired);
        const Int128 whole = std::max<Int128>(rounded_up(quantity), 1);
        if (whole > kQuantityMax) {
            from.invalid(kWooLine["quantity"], "must be at most 999,999,999");
        } else {
            line.quantity = static_cast<std::uint32_t>(whole);
        }
        if (quantity.unscaled() != whole * kAmountOne) {
            draft_.notes.add(SourceNote::kQuantityRounded);
        }
        line.tax = from.amount(kWooLine["total_tax"]);
        line.amount = from.amount(kWooLine["total"], Need::kRequired) + line.tax;
        draft_.lines.push_back(line);
    }

    void read_customer() {
        const std::string_view customer =
            unless_zero(order_.id(kWooOrder["customer_id"], Need::kOptional, Seen::kHidden));
        std::string_view email;
        order_.hidden_object(kWooOrder["billing"], kBilling, [&email](SourceObject& billing) {
            email = billing.text(0, Need::kOptional, Seen::kHidden);
        });
        draft_.set_customer(customer, email);
        const std::string_view field = arguments_.request.anon_field;
        std::string_view entry;
        order_.each(
            kWooOrder["meta_data"], kMeta, Need::kOptional, Seen::kHidden, [&](SourceObject& meta) {
                const std::string_view key = meta.loose_text(0);
                const std::string_view value = meta.loose_text(1);
                if (draft_.anon_id.empty() && names_device(key, field) && is_device_id(value)) {
                    draft_.anon_id = value;
                } else if (entry.empty() && key == kSessionEntry) {
                    entry = value;
                }
            });
        if (draft_.anon_id.empty()) {
            draft_.anon_id = device_of_url(entry, field);
        }
    }

    ReadResult finish(bool is_refunded) {
        const auto repeated = draft_.index_lines();
        if (repeated) {
            order_.invalid(kWooOrder["line_items"], "must have unique ids");
        }
        const Decimal total = draft_.amount;
        draft_.settle_totals();
        draft_.refunds_at = draft_.updated_at;
        order_.each(kWooOrder["refunds"], kWooRefund, Need::kRequired, Seen::kCopied,
                    [this](SourceObject& refund) { read_refund(refund); });
        const bool in_full = refunds_ > 0 ? refunded_ >= total : is_refunded;
        if (in_full) {
            draft_.refund_all(draft_.updated_at);
        } else {
            refund_rows();
        }
        return {draft_.lines.empty() ? TranslationKind::kDeletion : TranslationKind::kOrder};
    }

    struct Row {
        std::string_view line;
        Decimal gross{}, tax{};
        std::uint32_t quantity = 0;
    };

    /// WooCommerce states the total alone; the plugin of conf/shops adds lines, shipping and fees.
    void read_refund(SourceObject& refund) {
        ++refunds_;
        const Decimal total = refund.amount(kWooRefund["total"]).absolute();
        Decimal elsewhere = kNoAmount;
        refund.each(
            kWooRefund["line_items"], kWooRow, Need::kOptional, Seen::kCopied,
            [&](SourceObject& item) {
                Row row{.line = item.id(kWooRow["line_item_id"])};
                const Int128 pieces = rounded_up(item.amount(kWooRow["quantity"]).absolute());
                row.quantity = static_cast<std::uint32_t>(std::min<Int128>(pieces, kQuantityMax));
                row.gross = gross_of(item, kWooRow["total"], kWooRow["total_tax"], row.tax);
                elsewhere += row.gross;
                rows_.push_back(row);
            });
        for (const std::size_t field : {kWooRefund["shipping_lines"], kWooRefund["fee_lines"]}) {
            refund.each(field, kWooRow, Need::kOptional, Seen::kCopied, [&](SourceObject& item) {
                Decimal tax;
                elsewhere += gross_of(item, kWooRow["total"], kWooRow["total_tax"], tax);
            });
        }
        refunded_ += total;
        unassigned_ += std::max(total - elsewhere, kNoAmount);
    }

    static Decimal gross_of(SourceObject& item, std::size_t total, std::size_t tax_field,
                            Decimal& tax) {
        tax = item.amount(tax_field).absolute();
        return item.amount(total).absolute() + tax;
    }

    void refund_rows() {
        for (const Row& row : rows_) {
            DraftLine* line = draft_.find_line(row.line);
            if (line == nullptr) {
                draft_.notes.add(SourceNote::kRefundNotByLine);
            } else {
                line->add_refund(row.gross, row.tax, row.quantity, draft_.updated_at);
            }
        }
        if (!unassigned_.is_zero() && draft_.currency) {
            draft_.refund_by_share(unassigned_, draft_.updated_at);
        }
    }

    SourceObject& order_;
    const ReadArguments& arguments_;
    OrderDraft& draft_;
    SourceReading& reading_;
    std::size_t refunds_ = 0;
    Decimal refunded_ = kNoAmount;    ///< All refunds of the order.
    Decimal unassigned_ = kNoAmount;  ///< Money of them that belongs to no line.
    std::vector<Row> rows_;
};

}  // namespace

ReadResult read_woocommerce(const JsonValue& root, const ReadArguments& arguments,
                            OrderDraft& draft, SourceReading& reading) {
    const FieldPlace place;
    SourceObject order(kWooOrder, root, place, reading);
    if (arguments.request.topic == "order.deleted") {
        return read_deletion(order, kWooOrder["id"], draft);
    }
    return WooReader(order, arguments, draft, reading).read();
}

}  // namespace sluice
