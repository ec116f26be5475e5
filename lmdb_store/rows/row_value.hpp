// The values of every table but the orders'. Internal to lmdb_store.
//
// encode(): the result is valid until the next call. decode(): returns false if the value is
// damaged. The values that the key holds (numbers, ids that it did not cut) must already be in the
// row. A cut id that differs from the row's is damage as well.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "lmdb_store/rows/row_keys.hpp"

namespace sluice::store {

/// The head of a node, with the number that this ledger has given the node.
struct NodeHead {
    std::uint32_t node = 0;
    LedgerHead head;
};

/// Reusable; keeps its buffer. One per transaction.
class RowValue {
public:
    /// Encodes a described row: texts that the key had to cut, then the columns that are not in the
    /// key.
    [[nodiscard]] std::string_view encode(std::string_view key, const CutTexts& cut, RowView row);
    [[nodiscard]] static bool decode(std::string_view key, const CutTexts& cut,
                                     std::string_view value, RowRef row);

    /// @tparam Row  JournalGroup (node and first entry are the key's), Balance, CatalogRecord,
    /// ChainHead or NodeHead (the queue's UUID is the key).
    template <class Row>
    [[nodiscard]] std::string_view encode(std::string_view key, const Row& row);
    template <class Row>
    [[nodiscard]] static bool decode(std::string_view key, std::string_view value, Row& row);

    [[nodiscard]] std::string_view encode_event(std::string_view key, const OrderKey& order,
                                                const EventTrace& event);
    [[nodiscard]] static bool decode_event(std::string_view key, std::string_view value,
                                           OrderKey& order, EventTrace& event);
    [[nodiscard]] std::string_view encode_variant(std::string_view key, const ProductId& product);
    [[nodiscard]] static bool decode_variant(std::string_view key, std::string_view value,
                                             ProductId& product);

private:
    FieldWriter fields_;
};

}  // namespace sluice::store
