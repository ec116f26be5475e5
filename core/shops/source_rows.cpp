#include "core/shops/source_rows.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/json/slices.hpp"
#include "core/json/tree.hpp"
#include "core/protocol/platform.hpp"
#include "core/shops/amounts.hpp"
#include "core/shops/source.hpp"

namespace sluice {
namespace {

// ---- The values of a document, each with its path -----------------------------------------------

struct Leaf {
    std::string path;     ///< `refunds[0].refund_line_items[2].quantity`
    std::string pattern;  ///< The path without the numbers, and without `_set.shop_money.amount`.
    std::vector<std::size_t> indices;  ///< The numbers.
    std::string value;
};

/// Returns the pattern of an amount in either form: `price_set.shop_money.amount` is `price`.
std::string pattern_of(std::string pattern) {
    for (const std::string_view set : {"_set.shop_money.amount", "_set.presentment_money.amount"}) {
        if (pattern.ends_with(set)) {
            pattern.resize(pattern.size() - set.size());
        }
    }
    return pattern;
}

/// Visits the values of a document that are neither objects nor arrays.
class LeafWalk {
public:
    std::vector<Leaf> leaves(const JsonValue& root) {
        enter(root);
        while (!levels_.empty()) {
            Level& level = levels_.back();
            here_.path.resize(level.path_size);
            here_.pattern.resize(level.pattern_size);
            here_.indices.resize(level.depth);
            if (level.children.at_end()) {
                levels_.pop_back();
                continue;
            }
            const JsonValue child = level.children.value();
            name(level);
            level.children.step();
            if (child.is_object() || child.is_array()) {
                enter(child);
            } else {
                add(child);
            }
        }
        return std::move(leaves_);
    }

private:
    struct Level {
        JsonChildren children;
        bool is_array;
        std::size_t path_size, pattern_size, depth;
        std::size_t index = 0;
    };

    void enter(const JsonValue& parent) {
        levels_.push_back({JsonChildren(parent), parent.is_array(), here_.path.size(),
                           here_.pattern.size(), here_.indices.size()});
    }

    /// Appends the name of the level's present child.
    void name(Level& level) {
        if (level.is_array) {
            here_.path += '[' + std::to_string(level.index) + ']';
            here_.pattern += "[]";
            here_.indices.push_back(level.index++);
            return;
        }
        const std::string key((here_.path.empty() ? "" : ".") + std::string(level.children.key()));
        here_.path += key;
        here_.pattern += key;
    }

    void add(const JsonValue& value) {
        Leaf& leaf = leaves_.emplace_back(here_);
        leaf.pattern = pattern_of(std::move(leaf.pattern));
        leaf.value = value.is_string() ? value.text() : value.raw();
    }

    Leaf here_;
    std::vector<Level> levels_;
    std::vector<Leaf> leaves_;
};

std::vector<Leaf> leaves_of(std::string_view json) {
    JsonDocument document;
    if (!document.parse(json)) {
        return {};
    }
    JsonTree tree;
    tree.read(document, json);
    return LeafWalk().leaves(tree.root());
}

// ---- What each value becomes --------------------------------------------------------------------

struct FieldUse {
    std::string_view from;  ///< Leaf::pattern
    std::string_view to;    ///< `[]` stands for the line or the discount that the value belongs to.
    std::string_view rule;
};

constexpr std::string_view kMovesMoney = "SF3, SF4: whether the payment succeeded or is pending";
constexpr std::string_view kEntered = "marks a code that a customer entered";
constexpr std::string_view kRefundTime = "SF7: the latest of a line's refunds is its time";
constexpr std::string_view kAdjustedRule = "SF2";  // replaced by what the refund makes of it

constexpr FieldUse kShopifyUses[]{
    {"id", "platform_order_id", ""},
    {"test", "", "test orders count only with shop set --test-orders count"},
    {"processed_at", "platform_ordered_at", ""},
    {"created_at", "platform_ordered_at", "without processed_at"},
    {"updated_at", "platform_updated_at",
     "VN2: cancellation, refunds and the event's time order the states of a second"},
    {"cancelled_at", "platform_cancelled_at", ""},
    {"financial_status", "platform_cancelled_at", "voided and expired cancel"},
    {"source_name", "", "kept only"},
    {"name", "platform_order_numbers[0]", ""},
    {"confirmation_number", "platform_confirmation_number", ""},
    {"currency", "currency_code", ""},
    {"presentment_currency", "currency_code", ""},
    {"taxes_included", "", "whether amounts contain the tax; else it is added"},
    {"total_price", "amount", "at least lines and shipping"},
    {"total_tax", "tax", ""},
    {"discount_codes[].code", "discounts[].code", kEntered},
    {"discount_codes[].amount", "discounts[].value", ""},
    {"discount_applications[].type", "", kEntered},
    {"discount_applications[].code", "", kEntered},
    {"shipping_lines[].price", "shipping", "their sum"},
    {"shipping_lines[].is_removed", "shipping", "removed ones do not count"},
    {"shipping_lines[].discount_allocations[].amount", "shipping", "taken off"},
    {"shipping_lines[].tax_lines[].price", "shipping", "added if tax is not included"},
    {"line_items[].id", "line_items[].line_item_id", ""},
    {"line_items[].quantity", "line_items[].quantity", "as ordered"},
    {"line_items[].gift_card", "", "they count only with shop set --gift-cards count"},
    {"line_items[].tip_payment_gateway", "", "a tip"},
    {"line_items[].product_id", "line_items[].sku", ""},
    {"line_items[].sku", "line_items[].variant_sku", ""},
    {"line_items[].variant_id", "line_items[].variant_sku", "without a sku"},
    {"line_items[].price", "line_items[].amount",
     "times quantity, less allocations, and tax if it is not included"},
    {"line_items[].discount_allocations[].amount", "line_items[].amount", "taken off"},
    {"line_items[].tax_lines[].price", "line_items[].tax", "their sum"},
    {"refunds[].processed_at", "", kRefundTime},
    {"refunds[].created_at", "", kRefundTime},
    {"refunds[].refund_line_items[].line_item_id", "refund_line_items[].line_item_id", "SF7"},
    {"refunds[].refund_line_items[].quantity", "refund_line_items[].quantity", "SF7: their sum"},
    {"refunds[].refund_line_items[].subtotal", "refund_line_items[].amount", "SF1"},
    {"refunds[].refund_line_items[].total_tax", "refund_line_items[].tax", "SF1"},
    {"refunds[].order_adjustments[].amount", "", kAdjustedRule},
    {"refunds[].order_adjustments[].tax_amount", "", kAdjustedRule},
    {"refunds[].order_adjustments[].kind", "", kAdjustedRule},
    {"refunds[].transactions[].kind", "", kMovesMoney},
    {"refunds[].transactions[].status", "", kMovesMoney},
};

constexpr std::string_view kWithoutLines = "WC1: what names no line is shared among the lines";
constexpr std::string_view kNoLine = "WC2: touches no line";

constexpr FieldUse kWooUses[]{
    {"id", "platform_order_id", ""},
    {"status", "platform_cancelled_at", "cancelled, failed and trash cancel"},
    {"date_created_gmt", "platform_ordered_at", "UTC"},
    {"date_modified_gmt", "platform_updated_at", "WC4: of one second the later arrival stands"},
    {"number", "platform_order_numbers[0]", "unless it is the id"},
    {"currency", "currency_code", ""},
    {"total", "amount", "at least lines and shipping"},
    {"total_tax", "tax", ""},
    {"shipping_total", "shipping", "with its tax"},
    {"shipping_tax", "shipping", "added"},
    {"coupon_lines[].code", "discounts[].code", ""},
    {"coupon_lines[].discount", "discounts[].value", ""},
    {"line_items[].id", "line_items[].line_item_id", ""},
    {"line_items[].product_id", "line_items[].sku", ""},
    {"line_items[].sku", "line_items[].variant_sku", ""},
    {"line_items[].variation_id", "line_items[].variant_sku", "without a sku"},
    {"line_items[].quantity", "line_items[].quantity", "rounded up, at least 1"},
    {"line_items[].total", "line_items[].amount", "with its tax"},
    {"line_items[].total_tax", "line_items[].tax", ""},
    {"refunds[].total", "", kWithoutLines},
    {"refunds[].line_items[].line_item_id", "refund_line_items[].line_item_id", "WC2"},
    {"refunds[].line_items[].quantity", "refund_line_items[].quantity", "WC2: their sum"},
    {"refunds[].line_items[].total", "refund_line_items[].amount", "WC2: with its tax"},
    {"refunds[].line_items[].total_tax", "refund_line_items[].tax", "WC2"},
    {"refunds[].shipping_lines[].total", "", kNoLine},
    {"refunds[].shipping_lines[].total_tax", "", kNoLine},
    {"refunds[].fee_lines[].total", "", kNoLine},
    {"refunds[].fee_lines[].total_tax", "", kNoLine},
};

// ---- Rows ---------------------------------------------------------------------------------------

/// The money of a refund of Shopify beyond its rows.
struct RefundMoney {
    Decimal beyond_rows = kNoAmount;
    bool has_success = false, has_pending = false;

    [[nodiscard]] std::string_view rule() const {
        if (beyond_rows.is_negative()) {
            return has_success ? "SF3: less than the rows, which shrink in proportion"
                               : "SF3: ignored, because no payment of it has succeeded";
        }
        if (beyond_rows.is_zero()) {
            return "SF2: nothing beyond the rows";
        }
        return has_success || has_pending
                   ? "SF4: more than the rows, shared by what is not yet refunded"
                   : "SF4: ignored, because there is no payment of it";
    }
    [[nodiscard]] bool shrinks() const { return beyond_rows.is_negative() && has_success; }
};

class RowMaker {
public:
    RowMaker(Platform platform, std::string_view order, std::string_view seen)
        : platform_(platform), seen_(leaves_of(seen)) {
        for (Leaf& leaf : leaves_of(order)) {
            ours_.emplace(std::move(leaf.path), std::move(leaf.value));
        }
        for (const Leaf& leaf : seen_) {
            theirs_.emplace(leaf.path, leaf.value);
        }
        for (const Leaf& leaf : seen_) {
            note_refund(leaf);
        }
        lines_ = places_of("line_items", ".line_item_id");
        refund_rows_ = places_of("refund_line_items", ".line_item_id");
        codes_ = places_of("discounts", ".code");
    }

    std::vector<SourceRow> rows() {
        for (const Leaf& leaf : seen_) {
            add(leaf);
        }
        add_customer();
        add_device();
        return std::move(rows_);
    }

private:
    /// Returns the value of a path, or an empty text.
    static std::string_view at(const std::map<std::string, std::string>& values,
                               const std::string& path) {
        const auto found = values.find(path);
        return found == values.end() ? std::string_view() : std::string_view(found->second);
    }

    void note_refund(const Leaf& leaf) {
        if (leaf.indices.empty() || !leaf.pattern.starts_with("refunds[].")) {
            return;
        }
        RefundMoney& refund = refunds_[leaf.indices.front()];
        const std::string element = leaf.path.substr(0, leaf.path.rfind(']') + 1);
        if (leaf.pattern == "refunds[].order_adjustments[].amount" ||
            leaf.pattern == "refunds[].order_adjustments[].tax_amount") {
            const auto amount = parse_platform_amount(leaf.value);
            if (amount && at(theirs_, element + ".kind") != "shipping_refund") {
                refund.beyond_rows -= *amount;
            }
        } else if (leaf.pattern == "refunds[].transactions[].status" &&
                   at(theirs_, element + ".kind") == "refund") {
            refund.has_success |= leaf.value == "success";
            refund.has_pending |= leaf.value == "pending";
        }
    }

    using Places = std::map<std::string, std::string, std::less<>>;  ///< `[2]` by id.

    /// Returns the places of the elements of our array `list`.
    [[nodiscard]] Places places_of(const std::string& list, const std::string& id) const {
        Places places;
        for (std::size_t i = 0;; ++i) {
            std::string place = '[' + std::to_string(i) + ']';
            const auto found = ours_.find(list + place + id);
            if (found == ours_.end()) {
                return places;
            }
            places.emplace(found->second, std::move(place));
        }
    }

    /// Replaces `[]` of our field by the place of the element that the value belongs to.
    std::string placed(const Leaf& leaf, std::string_view to, std::string& rule) const {
        const std::size_t brackets = to.find("[]");
        if (brackets == std::string_view::npos) {
            return std::string(to);
        }
        const std::string list(to.substr(0, brackets));
        const bool is_refund = list == "refund_line_items";
        const std::size_t end =
            is_refund ? leaf.path.find(']', leaf.path.find(']') + 1) : leaf.path.find(']');
        const std::string element = leaf.path.substr(0, end + 1);
        const bool is_code = list == "discounts";
        const Places& places = is_code ? codes_ : is_refund ? refund_rows_ : lines_;
        const auto place = places.find(at(theirs_, element + (is_code     ? ".code"
                                                              : is_refund ? ".line_item_id"
                                                                          : ".id")));
        if (place == places.end()) {
            rule = is_refund ? "ignored: of a line that is left out or unknown"
                             : "left out: gift cards, tips and quantity 0";
            return {};
        }
        return list + place->second + std::string(to.substr(brackets + 2));
    }

    /// Completes the rule of a refund of Shopify.
    [[nodiscard]] std::string refund_rule(const Leaf& leaf, std::string rule) const {
        const auto refund = refunds_.find(leaf.indices.empty() ? 0 : leaf.indices.front());
        if (platform_ != Platform::kShopify || refund == refunds_.end()) {
            return rule;
        }
        if (rule == "SF1" && refund->second.shrinks()) {
            return "SF1, SF3";
        }
        if (rule != kAdjustedRule) {
            return rule;
        }
        const std::string element = leaf.path.substr(0, leaf.path.rfind(']') + 1);
        return at(theirs_, element + ".kind") == "shipping_refund"
                   ? "SF5: refunded shipping touches no line"
                   : std::string(refund->second.rule());
    }

    void add(const Leaf& leaf) {
        const std::span<const FieldUse> uses = platform_ == Platform::kShopify
                                                   ? std::span<const FieldUse>(kShopifyUses)
                                                   : std::span<const FieldUse>(kWooUses);
        const auto use = std::ranges::find_if(
            uses, [&leaf](const FieldUse& one) { return one.from == leaf.pattern; });
        SourceRow& row = rows_.emplace_back(SourceRow{leaf.path, leaf.value, {}, {}, {}});
        if (use == uses.end()) {
            return;
        }
        row.rule = refund_rule(leaf, std::string(use->rule));
        row.field = placed(leaf, use->to, row.rule);
        row.value = at(ours_, row.field);
    }

    /// `seen` does not have what identifies a person.
    void add_customer() {
        const std::string_view id = at(ours_, "platform_customer_id");
        if (id.empty()) {
            return;
        }
        const bool is_shopify = platform_ == Platform::kShopify;
        if (id.starts_with("mail:")) {
            rows_.push_back({is_shopify ? "email" : "billing.email", "not kept",
                             "platform_customer_id", std::string(id),
                             "PD2: a digest, because the customer is a guest"});
        } else {
            rows_.push_back({is_shopify ? "customer.id" : "customer_id", std::string(id),
                             "platform_customer_id", std::string(id), ""});
        }
    }

    void add_device() {
        for (const auto& [name, value] : ours_) {
            if (name.ends_with("_anon_id") && name.find('.') == std::string::npos) {
                rows_.push_back({platform_ == Platform::kShopify ? "note_attributes, landing_site"
                                                                 : "meta_data",
                                 "not kept", name, value, "the first valid id of a device"});
            }
        }
    }

    Platform platform_;
    std::vector<Leaf> seen_;
    std::map<std::string, std::string> ours_, theirs_;  ///< Values by path.
    std::map<std::size_t, RefundMoney> refunds_;        ///< By their place.
    Places lines_, refund_rows_, codes_;
    std::vector<SourceRow> rows_;
};

}  // namespace

std::vector<SourceRow> source_rows(std::string_view order) {
    Platform platform = Platform::kNone;
    std::string_view seen;
    for (const JsonMember& member : source_members(order)) {
        if (member.key == "platform") {
            platform = parse_name<Platform>(json_string(member.value)).value_or(Platform::kNone);
        } else if (member.key == "seen" && member.value.starts_with('{')) {
            seen = member.value;
        }
    }
    return platform == Platform::kNone || seen.empty() ? std::vector<SourceRow>()
                                                       : RowMaker(platform, order, seen).rows();
}

}  // namespace sluice
