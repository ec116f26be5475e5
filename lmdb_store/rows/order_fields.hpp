// Field forms that only orders need, next to those of FieldWriter and FieldReader: names of lines,
// frozen rates and entry numbers that repeat. Internal to lmdb_store.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "lmdb_store/rows/field_reader.hpp"
#include "lmdb_store/rows/field_writer.hpp"

namespace sluice::store {

void rate_fields(auto& fields, auto& rate) {
    fields(rate.rate.kind);
    fields(rate.rate.value);
    fields(rate.rate.currency);
    fields(rate.base);
    fields(rate.match);
    fields(rate.program_version);
    fields(rate.rule);
    fields(rate.tier);
    fields(rate.shared_with);
}

class OrderWriter : public FieldWriter {
public:
    void begin() {
        clear();
        lines_ = {};
        index_.clear();
        guess_ = 0;
        rates_.clear();
        entry_ = 0;
    }
    /// Lets line() write a line that is in `lines` as its place there.
    void use_lines(std::span<const OrderLine> lines) { lines_ = lines; }

    /// Writes the line's place in use_lines(), counted from 1, or 0 and the id.
    void line(const LineItemId& id) {
        const std::size_t place = place_of(id);
        number(place);
        if (place == 0) {
            text(id.view());
        } else {
            guess_ = place;
        }
    }
    /// Writes the distance back to an equal rate, or 0 and the rate.
    void rate(const FrozenRate& rate);
    /// Writes the difference from the last number, so that consecutive numbers take a byte.
    void entry(std::uint64_t number) {
        this->number(zigzag(static_cast<std::int64_t>(number - entry_)));
        entry_ = number;
    }

private:
    [[nodiscard]] std::size_t place_of(const LineItemId& id);

    std::span<const OrderLine> lines_;
    std::unordered_map<std::string_view, std::size_t> index_;  ///< Filled in when it is needed.
    std::size_t guess_ = 0;
    std::vector<FrozenRate> rates_;
    std::uint64_t entry_ = 0;
};

/// Buffers that a reader of many orders keeps.
struct OrderReaderBuffers {
    std::vector<FrozenRate> rates;
};

class OrderReader : public FieldReader {
public:
    OrderReader(std::string_view key, std::string_view value, OrderReaderBuffers& buffers)
        : FieldReader(key, value), rates_(buffers.rates) {
        rates_.clear();
    }
    void use_lines(std::span<const OrderLine> lines) { lines_ = lines; }

    void line(LineItemId& id) {
        const std::uint64_t place = number();
        if (place == 0) {
            (*this)(id);
        } else if (place <= lines_.size()) {
            id = lines_[place - 1].id;
        } else {
            fail();
        }
    }
    void rate(FrozenRate& rate);
    void entry(std::uint64_t& number) {
        entry_ += static_cast<std::uint64_t>(unzigzag(this->number()));
        number = entry_;
    }

private:
    std::span<const OrderLine> lines_;
    std::vector<FrozenRate>& rates_;
    std::uint64_t entry_ = 0;
};

}  // namespace sluice::store
