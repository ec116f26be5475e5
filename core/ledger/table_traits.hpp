// Table traits: what a description of a table says beside its columns (core/ledger/tables.hpp).
#pragma once

namespace sluice {

struct TableTraits {
    static constexpr bool kPerNode = false;
    static constexpr bool kWriteOnce = false;
    /// Small rows that are written, and read, very many at a time, and hardly ever one by one.
    static constexpr bool kInBulk = false;
};

template <class Row>
struct TableOf;

template <class... Rows>
struct RowTypes {};

/// Called for each column: counts them.
struct ColumnCount {
    unsigned columns = 0;
    void operator()(const char* /*name*/, const auto& /*value*/) { ++columns; }
    void bytes(const char* /*name*/, const auto& /*value*/) { ++columns; }
};

}  // namespace sluice
