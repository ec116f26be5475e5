#include "core/ledger/row_sums.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Hashes columns of a key, one after the other.
class ColumnHash {
public:
    explicit ColumnHash(std::uint64_t seed) : hash_(seed) {}

    template <class Integer>
    requires std::is_integral_v<Integer>
    void operator()(Integer value) { mix(value); }
    void operator()(const Currency& currency) { text(currency.code()); }
    void operator()(const AnyTextId& id) { text(id.view()); }
    void operator()(const std::string& value) { text(value); }
    void operator()(const Decimal& /*value*/) { SLUICE_ASSERT(false); }  // in no key
    void operator()(const Timestamp& at) {
        mix(static_cast<std::uint64_t>(at.seconds));
        mix(at.nanos);
    }
    void operator()(const Digest256& digest) {
        text({reinterpret_cast<const char*>(digest.data()), digest.size()});
    }
    [[nodiscard]] std::size_t hash() const noexcept { return hash_; }

private:
    void text(std::string_view value) { mix(std::hash<std::string_view>{}(value)); }
    void mix(std::uint64_t value) noexcept {
        constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;  // 2^64 by the golden ratio
        hash_ = (hash_ ^ value) * kOdd;
        hash_ ^= hash_ >> 32;
    }

    std::uint64_t hash_;
};

}  // namespace

std::size_t RowSums::KeyHash::operator()(RowView row) const {
    ColumnHash hash(row.table().number);
    for (const Column& column : row.table().key) {
        with_value(column.kind, column.find(row.get()), hash);
    }
    return hash.hash();
}

bool RowSums::SameKey::operator()(RowView a, RowView b) const {
    if (a.table().number != b.table().number) {
        return false;
    }
    const std::vector<Column>& key = a.table().key;
    return std::all_of(key.begin(), key.end(), [&](const Column& column) {
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

void RowSums::add(RowView change) {
    const auto known = sums_.find(change);
    if (known != sums_.end()) {
        add_columns(known->second.ref(), change);
        return;
    }
    AnyRow sum(change);
    const RowView key = sum.view();  // the row stays where it is when its owner moves
    sums_.emplace(key, std::move(sum));
}

void RowSums::take(const std::function<void(RowView sum)>& visit) {
    std::vector<std::pair<std::string, RowView>> sorted;
    sorted.reserve(sums_.size());
    for (const auto& [row, sum] : sums_) {
        sorted.emplace_back(sort_key(row), row);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.table().number, std::string_view(a.first)) <
               std::pair(b.second.table().number, std::string_view(b.first));
    });
    for (const auto& [key, row] : sorted) {
        visit(row);
    }
    sums_.clear();
}

}  // namespace sluice
