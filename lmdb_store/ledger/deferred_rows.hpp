// Deferred rows: rows of indexes that the transaction itself seldom reads. They are kept until it
// commits or reads them, and then written in the order of their keys. txn.cpp decides which tables
// are deferred.
//
// A batch's orders come in the order of their receipt, but these keys begin with a creator or a
// code. Written at once, each row would need a descent from the root to another page; sorted, the
// rows of a page follow one another. Internal to lmdb_store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lmdb_store/ledger/tables.hpp"

namespace sluice::store {

/// Memory: kBytesMax bytes of keys and values, and 16 bytes for each row.
class DeferredRows {
public:
    void put(Table table, std::string_view key, std::string_view value) {
        rows_.push_back({bytes_.size(), static_cast<std::uint32_t>(value.size()),
                         static_cast<std::uint16_t>(key.size()), table, false});
        bytes_.append(key).append(value);
    }
    void erase(Table table, std::string_view key) {
        rows_.push_back({bytes_.size(), 0, static_cast<std::uint16_t>(key.size()), table, true});
        bytes_.append(key);
    }
    [[nodiscard]] bool is_full() const noexcept { return bytes_.size() >= kBytesMax; }

    /// Calls `put(table, key, value)` or `erase(table, key)` for each key, by its last change, and
    /// forgets the rows.
    template <class Put, class Erase>
    void take(Put&& put, Erase&& erase) {
        std::ranges::stable_sort(rows_, [this](const Row& a, const Row& b) {
            return a.table != b.table ? a.table < b.table : key_of(a) < key_of(b);
        });
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Row& row = rows_[i];
            if (i + 1 < rows_.size() && rows_[i + 1].table == row.table &&
                key_of(rows_[i + 1]) == key_of(row)) {
                continue;
            }
            if (row.erased) {
                erase(row.table, key_of(row));
            } else {
                put(row.table, key_of(row),
                    std::string_view(bytes_).substr(row.at + row.key_bytes, row.value_bytes));
            }
        }
        rows_.clear();
        bytes_.clear();
    }

private:
    static constexpr std::size_t kBytesMax = 8U << 20;

    struct Row {
        std::size_t at;  ///< The key's place in `bytes_`; the value follows.
        std::uint32_t value_bytes;
        std::uint16_t key_bytes;
        Table table;
        bool erased;
    };
    static_assert(sizeof(Row) == 16);

    [[nodiscard]] std::string_view key_of(const Row& row) const noexcept {
        return {bytes_.data() + row.at, row.key_bytes};
    }

    std::vector<Row> rows_;
    std::string bytes_;
};

}  // namespace sluice::store
