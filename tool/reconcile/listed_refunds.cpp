#include "tool/reconcile/listed_refunds.hpp"

#include "core/json/slices.hpp"

namespace sluice::cli {

std::vector<ListedRefund> refunds_of(std::string_view payload) {
    std::vector<ListedRefund> refunds;
    const std::vector<JsonMember> members = json_members(payload);
    for (const std::string_view row : json_elements(member_of(members, "refund_line_items"))) {
        const std::vector<JsonMember> fields = json_members(row);
        const auto amount = Decimal::parse(json_string(member_of(fields, "amount")));
        if (amount) {
            refunds.push_back({json_string(member_of(fields, "line_item_id")), *amount});
        }
    }
    return refunds;
}

}  // namespace sluice::cli
