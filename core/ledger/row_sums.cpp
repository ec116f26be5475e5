#include "core/ledger/row_sums.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool same_key(RowView a, RowView b) {
    if (a.table().number != b.table().number) {
        return false;
    }
    const std::vector<Column>& key = a.table().key;
    // The last columns differ most often.
    return std::all_of(key.rbegin(), key.rend(), [&](const Column& column) {
        bool same = false;
        with_value(column.kind, column.find(a.get()), [&](const auto& value) {
            using Value = std::remove_reference_t<decltype(value)>;
            const auto& other = *static_cast<Value*>(column.find(b.get()));
            if constexpr (std::is_same_v<Value, const AnyTextId>) {
                same = value.view() == other.view();
            } else {
                same = value == other;
            }
        });
        return same;
    });
}

}  // namespace

void RowSums::add(RowView change) {
    for (AnyRow* const row : recent_) {
        if (row != nullptr && same_key(row->view(), change)) {
            add_columns(row->ref(), change);
            return;
        }
    }
    const auto [sum, added] =
        sums_.try_emplace(Key(change.table().number, sort_key(change)), change);
    if (!added) {
        add_columns(sum->second.ref(), change);
    }
    recent_[next_recent_] = &sum->second;
    next_recent_ = (next_recent_ + 1) % kRecent;
}

void RowSums::take(const std::function<void(RowView sum)>& visit) {
    for (const auto& [key, sum] : sums_) {
        visit(sum.view());
    }
    sums_.clear();
    recent_ = {};
}

}  // namespace sluice
