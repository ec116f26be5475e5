#include <algorithm>

#include "core/protocol/order_event.hpp"
#include "core/shops/platforms.hpp"

namespace sluice {
namespace {

constexpr FieldNames kRefund("processed_at", "created_at", "refund_line_items", "order_adjustments",
                             "transactions");

constexpr FieldNames kRow("subtotal", "subtotal_set", "total_tax", "total_tax_set", "line_item_id",
                          "quantity");

constexpr FieldNames kAdjustment("amount", "amount_set", "tax_amount", "tax_amount_set", "kind");

constexpr FieldNames kTransaction("kind", "status");

struct ShopifyLine {
    std::string_view line;
    Decimal gross{}, tax{};
    std::uint32_t pieces = 0;
};

/// One refund as Shopify states it.
struct Refund {
    std::optional<Timestamp> at;
    std::vector<ShopifyLine> rows{};
    /// Money to the customer beyond the rows; negative: the customer gets less than the rows say.
    Decimal beyond_rows = kNoAmount;
    bool has_success = false;
    bool has_pending = false;
};

class RefundReader {
public:
    RefundReader(bool taxes_included, OrderDraft& draft)
        : taxes_included_(taxes_included), draft_(draft) {}

    void read(SourceObject& from) {
        Refund refund{.at = from.time(kRefund["processed_at"])};
        if (!refund.at) {
            refund.at = from.time(kRefund["created_at"]);
        }
        read_rows(from, refund);
        read_adjustments(from, refund);
        from.each(kRefund["transactions"], kTransaction, Need::kOptional, Seen::kCopied,
                  [&refund](SourceObject& transaction) {
                      const bool is_refund = transaction.text(0) == "refund";
                      const std::string_view status = transaction.text(1);
                      refund.has_success |= is_refund && status == "success";
                      refund.has_pending |= is_refund && status == "pending";
                  });
        apply(refund);
    }

    /// Applies the money of all refunds that belongs to no line.
    std::size_t finish() {
        if (!unassigned_.is_zero()) {
            draft_.refund_by_share(unassigned_, unassigned_at_);
        }
        for (DraftLine& line : draft_.lines) {
            complete(line);
        }
        if (count_ > 0) {
            draft_.refunds_at = latest_ ? latest_ : draft_.updated_at;
        }
        return count_;
    }

private:
    void read_rows(SourceObject& from, Refund& refund) const {
        from.each(kRefund["refund_line_items"], kRow, Need::kOptional, Seen::kCopied,
                  [&](SourceObject& item) {
                      ShopifyLine row{.line = item.id(kRow["line_item_id"]),
                                      .pieces = item.whole(kRow["quantity"], Need::kOptional,
                                                           kQuantityMax + 1)};
                      const Decimal subtotal = item.money(kRow["subtotal"]);
                      const Decimal tax = item.money(kRow["total_tax"]);
                      row.gross = std::max(taxes_included_ ? subtotal : subtotal + tax, kNoAmount);
                      row.tax = std::max(tax, kNoAmount);
                      refund.rows.push_back(row);
                  });
    }

    /// Shopify writes money to the customer as a negative adjustment.
    static void read_adjustments(SourceObject& from, Refund& refund) {
        from.each(kRefund["order_adjustments"], kAdjustment, Need::kOptional, Seen::kCopied,
                  [&](SourceObject& adjustment) {
                      Decimal sum = adjustment.money(kAdjustment["amount"]);
                      sum += adjustment.money(kAdjustment["tax_amount"]);
                      if (adjustment.text(kAdjustment["kind"]) != "shipping_refund") {
                          refund.beyond_rows -= sum;
                      }
                  });
    }

    void apply(Refund& refund) {
        ++count_;
        latest_ = std::max(latest_, refund.at);
        if (refund.beyond_rows.is_negative() && refund.has_success) {
            shrink(refund);
        }
        for (const ShopifyLine& row : refund.rows) {
            DraftLine* line = draft_.find_line(row.line);
            if (line == nullptr) {
                draft_.notes.add(SourceNote::kRefundNotByLine);
                continue;
            }
            line->add_refund(row.gross, row.tax, row.pieces, refund.at);
        }
        const bool is_paid = refund.has_success || refund.has_pending;
        if (refund.beyond_rows > kNoAmount && is_paid) {
            unassigned_ += refund.beyond_rows;
            unassigned_at_ = std::max(unassigned_at_, refund.at);
        }
    }

    /// The customer got less than the rows say, because of a fee or a partial refund.
    void shrink(Refund& refund) {
        weights_.clear();
        Decimal sum = kNoAmount;
        for (const ShopifyLine& row : refund.rows) {
            weights_.push_back(row.gross);
            sum += row.gross;
        }
        if (sum.is_zero()) {
            return;
        }
        draft_.notes.add(SourceNote::kRefundNotByLine);
        share_by_weight(std::max(sum + refund.beyond_rows, kNoAmount), weights_, *draft_.currency,
                        shares_);
        for (std::size_t i = 0; i < refund.rows.size(); ++i) {
            ShopifyLine& row = refund.rows[i];
            row.tax = share_of(row.tax, shares_[i], row.gross, *draft_.currency);
            row.gross = shares_[i];
        }
    }

    /// Shopify rounds each refund of a line; a line whose pieces all came back is refunded in full.
    void complete(DraftLine& line) const {
        const Decimal difference =
            line.amount > line.refunded ? line.amount - line.refunded : line.refunded - line.amount;
        Decimal tolerance = one_minor_unit(*draft_.currency);
        tolerance = {tolerance.unscaled() * static_cast<Int128>(count_), kAmountDigits};
        if (line.refunded_quantity >= line.quantity && difference <= tolerance) {
            line.refunded = line.amount;
            line.refunded_tax = line.tax;
        }
    }

    bool taxes_included_;
    OrderDraft& draft_;
    std::size_t count_ = 0;
    std::optional<Timestamp> latest_;
    Decimal unassigned_ = kNoAmount;
    std::optional<Timestamp> unassigned_at_;
    std::vector<Decimal> weights_, shares_;
};

}  // namespace

std::size_t read_shopify_refunds(SourceObject& order, std::size_t field, bool taxes_included,
                                 OrderDraft& draft) {
    RefundReader reader(taxes_included, draft);
    order.each(field, kRefund, Need::kRequired, Seen::kCopied,
               [&reader](SourceObject& refund) { reader.read(refund); });
    return reader.finish();
}

}  // namespace sluice
