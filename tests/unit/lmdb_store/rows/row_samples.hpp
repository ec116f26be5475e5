// Rows of the described tables with something in every column.
#pragma once

#include <string>

#include "core/ledger/table.hpp"
#include "unit/lmdb_store/rows/samples.hpp"
#include "unit/row_text.hpp"

namespace sluice::store {

using test::row_text;

struct SampleValues {
    OrderSamples& samples;
    std::size_t text_bytes_max;

    void operator()(const Column& column, std::uint8_t& value) const {
        do {
            value = static_cast<std::uint8_t>(samples.number(256));
        } while (!column.is_valid(value));
    }
    void operator()(const Column&, std::uint32_t& value) const {
        value = static_cast<std::uint32_t>(samples.any_number());
    }
    void operator()(const Column&, std::uint64_t& value) const { value = samples.any_number(); }
    void operator()(const Column&, bool& value) const { value = samples.chance(); }
    void operator()(const Column&, AnyTextId& id) const { id.assign(samples.text(text_bytes_max)); }
    void operator()(const Column&, std::string& value) const {
        value = samples.text(text_bytes_max);
    }
    void operator()(const Column&, Currency& value) const { value = samples.currency(); }
    void operator()(const Column&, Decimal& value) const { value = samples.decimal(); }
    void operator()(const Column&, Timestamp& value) const { value = samples.instant(); }
    void operator()(const Column&, Digest256& value) const { value = samples.digest(); }
};

inline void fill_with_samples(RowRef row, const std::vector<Column>& columns, OrderSamples& samples,
                              std::size_t text_bytes_max) {
    test::fill_columns(
        row, columns, [&](const Column&) { return samples.chance(); },
        SampleValues{samples, text_bytes_max});
}

[[nodiscard]] inline AnyRow sample_row(const DescribedTable& table, OrderSamples& samples,
                                       std::size_t text_bytes_max = 100) {
    AnyRow row(table);
    fill_with_samples(row.ref(), table.key, samples, text_bytes_max);
    fill_with_samples(row.ref(), table.rest, samples, text_bytes_max);
    return row;
}
template <Described Row>
[[nodiscard]] Row sample_row(OrderSamples& samples, std::size_t text_bytes_max = 100) {
    return sample_row(table_of<Row>(), samples, text_bytes_max).ref().template as<Row>();
}

}  // namespace sluice::store
