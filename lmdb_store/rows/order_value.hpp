// The value of an order. Internal to lmdb_store.
//
// Compact, because an order of five lines should take a quarter of a page: numbers take the bytes
// that they need, positions name lines by their places, and equal frozen rates are stored once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/ledger/valid.hpp"
#include "lmdb_store/rows/field_reader.hpp"
#include "lmdb_store/rows/field_writer.hpp"

namespace sluice::store {

void rate_fields(auto& fields, auto& rate) {
    fields(rate.rate.kind, rate.rate.value, rate.rate.currency, rate.base, rate.match,
           rate.program_version, rate.rule, rate.tier, rate.factor, rate.shared_with);
}

class OrderFieldWriter : public FieldWriter {
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

class OrderFieldReader : public FieldReader {
public:
    /// @param rates  A buffer, which a reader of many orders keeps.
    OrderFieldReader(std::string_view key, std::string_view value, std::vector<FrozenRate>& rates)
        : FieldReader(key, value), rates_(rates) {
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

/// @param fields  A FieldWriter for a const trace, or a FieldReader for a trace to fill in.
void event_fields(auto& fields, auto& event) {
    fields(event.seq, event.topic, event.decision, event.digest, event.version, event.received_at,
           event.cancelled, event.anomalies, event.first_entry, event.node, event.traceparent,
           event.source);
}

/// Reusable; keeps its buffers. One per transaction.
class OrderValue {
public:
    /// Valid until the next call.
    [[nodiscard]] std::string_view encode(std::string_view key, const OrderState& state);
    /// Returns false if the value is damaged, or belongs to another order whose id the key cut too.
    /// Reuses the buffers of `state`. Requires: `state.key` is the order under which it is stored.
    [[nodiscard]] bool decode(std::string_view key, std::string_view value, OrderState& state);
    /// Reads the order under which the row is stored. Returns false if the row is damaged.
    [[nodiscard]] static bool decode_key(std::string_view key, std::string_view value,
                                         OrderKey& order);

private:
    OrderFieldWriter fields_;
    std::vector<FrozenRate> rates_;
};

}  // namespace sluice::store
