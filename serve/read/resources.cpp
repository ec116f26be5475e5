#include <algorithm>

#include "core/lists/plain_lists.hpp"
#include "serve/read/parts.hpp"

namespace sluice::serve {

Columns columns_of(lists::ColumnType type, lists::Scope scope, std::string_view names) {
    Columns columns;
    for (const std::string_view name : lists::words_of(names)) {
        columns.emplace_back(name, type, scope);
    }
    return columns;
}

Columns texts(std::string_view names) {
    return columns_of(lists::ColumnType::kText, lists::Scope::kEveryone, names);
}

const std::vector<Resource>& resources() {
    static const std::vector<Resource> all = [] {
        std::vector<Resource> list;
        for (const auto part :
             {caller_resources, today_resources, search_resources, order_resources,
              anomaly_resources, shop_resources, link_resources, people_resources,
              journal_resources, money_resources, statement_resources, node_resources}) {
            const std::vector<Resource> more = part();
            list.insert(list.end(), more.begin(), more.end());
        }
        for (const lists::PlainList* const one : lists::plain_lists()) {
            const auto found = std::ranges::find(list, one->resource, &Resource::path);
            if (!one->resource.empty() && found == list.end()) {
                list.push_back(plain_resource(*one));
            }
        }
        return list;
    }();
    return all;
}

const Resource* find_resource(std::string_view path) {
    const auto& all = resources();
    const auto found = std::ranges::find(all, path, &Resource::path);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace sluice::serve
