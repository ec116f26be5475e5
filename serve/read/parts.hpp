// Parts of the table of resources, each beside its reads, and what several of them use.
#pragma once

#include <string_view>
#include <vector>

#include "core/lists/list.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {

// In the order of the document.
[[nodiscard]] std::vector<Resource> caller_resources();
[[nodiscard]] std::vector<Resource> today_resources();
[[nodiscard]] std::vector<Resource> search_resources();
[[nodiscard]] std::vector<Resource> order_resources();
[[nodiscard]] std::vector<Resource> anomaly_resources();
[[nodiscard]] std::vector<Resource> shop_resources();
[[nodiscard]] std::vector<Resource> link_resources();
[[nodiscard]] std::vector<Resource> people_resources();
[[nodiscard]] std::vector<Resource> journal_resources();
[[nodiscard]] std::vector<Resource> money_resources();
[[nodiscard]] std::vector<Resource> statement_resources();
[[nodiscard]] std::vector<Resource> node_resources();

[[nodiscard]] Resource plain_resource(const lists::PlainList& list);
[[nodiscard]] Resource payout_age_resource();

// Scopes: every caller, and those who read what belongs to creators.
inline constexpr std::uint16_t kAnyone = 0;
inline constexpr std::uint16_t kOfCreators = kReadLedger | kReadCreators;

[[nodiscard]] inline Parameter shop_parameter(bool required = false) {
    return {"shop", ValueKind::kId, "Shop", required};
}
[[nodiscard]] inline Parameter creator_parameter(bool required = false) {
    return {"creator", ValueKind::kId, "Creator, by any of its ids", required};
}
[[nodiscard]] inline Parameter program_parameter(bool required = false) {
    return {"program", ValueKind::kId, "Program", required};
}
[[nodiscard]] inline Parameter payout_parameter() {
    return {"payout", ValueKind::kId, "Payout", true};
}

using Columns = std::vector<lists::Column>;
/// A member that an answer has in addition to its rows.
[[nodiscard]] inline Columns extra(std::string_view name, lists::ColumnType type) {
    return {{name, type, lists::Scope::kEveryone}};
}
/// Returns columns of one type and scope; spaces separate the names.
[[nodiscard]] Columns columns_of(lists::ColumnType type, lists::Scope scope,
                                 std::string_view names);
/// Returns texts that every caller sees.
[[nodiscard]] Columns texts(std::string_view names);

}  // namespace sluice::serve
