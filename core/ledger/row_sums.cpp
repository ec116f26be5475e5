#include "core/ledger/row_sums.hpp"

#include <algorithm>
#include <vector>

namespace sluice {

void RowSums::add(RowView change) {
    static_assert(kDescribedTables < 0x80);
    key_.assign(1, static_cast<char>(change.table().number));
    append_sort_key(change, key_);
    Sums::pointer& last = last_[change.table().number];
    if (last == nullptr || last->first != key_) {
        const auto known = sums_.find(std::string_view(key_));
        if (known == sums_.end()) {
            last = &*sums_.emplace(key_, AnyRow(change)).first;
            return;
        }
        last = &*known;
    }
    add_columns(last->second.ref(), change);
}

void RowSums::take(const std::function<void(RowView sum)>& visit) {
    std::vector<Sums::const_pointer> sorted;
    sorted.reserve(sums_.size());
    for (const auto& sum : sums_) {
        sorted.push_back(&sum);
    }
    std::ranges::sort(sorted, [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* sum : sorted) {
        visit(sum->second.view());
    }
    last_ = {};
    sums_.clear();
}

}  // namespace sluice
