// Description: how tables.cpp and list_rows.cpp write down a table. Internal to core.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>

#include "core/ledger/table.hpp"
#include "core/ledger/valid.hpp"

namespace sluice {

/// The value of a column, in a row that is there to be described.
struct Place {
    ColumnKind kind;
    void* at;
    bool (*is_valid)(std::uint8_t value) = nullptr;
};

/// Returns the place of a value by its type.
struct PlaceOf {
    Place operator()(std::uint32_t& value) const { return {ColumnKind::kNumber32, &value}; }
    Place operator()(std::uint64_t& value) const { return {ColumnKind::kNumber64, &value}; }
    Place operator()(bool& value) const { return {ColumnKind::kBool, &value}; }
    template <class Tag>
    Place operator()(NumberId<Tag>& id) const {
        return (*this)(id.value);
    }
    Place operator()(SequenceNumber& seq) const { return (*this)(seq.value); }
    Place operator()(AnyTextId& id) const { return {ColumnKind::kId, &id}; }
    Place operator()(std::string& text) const { return {ColumnKind::kText, &text}; }
    Place operator()(Currency& currency) const { return {ColumnKind::kCurrency, &currency}; }
    Place operator()(Decimal& value) const { return {ColumnKind::kDecimal, &value}; }
    Place operator()(Timestamp& at) const { return {ColumnKind::kInstant, &at}; }
    Place operator()(Digest256& digest) const { return {ColumnKind::kDigest, &digest}; }
    template <class Enum>
    requires std::is_enum_v<Enum> Place operator()(Enum& value) const {
        static_assert(sizeof(Enum) == 1);
        return {ColumnKind::kEnum, &value,
                [](std::uint8_t stored) { return is_valid(static_cast<Enum>(stored)); }};
    }
};
inline constexpr PlaceOf place_of;

template <class Value>
inline constexpr OptionalOps kOptionalOps{
    [](void* optional) -> void* {
        auto& value = *static_cast<std::optional<Value>*>(optional);
        return value ? place_of(*value).at : nullptr;
    },
    [](void* optional) -> void* {
        auto& value = *static_cast<std::optional<Value>*>(optional);
        return place_of(value ? *value : value.emplace()).at;
    },
    [](void* optional) { static_cast<std::optional<Value>*>(optional)->reset(); }};

/// A column's name and its place in the row.
struct NamedPlace {
    template <class Value>
    NamedPlace(const char* column, Value& value) : name(column), place(place_of(value)) {}
    template <class Value>
    NamedPlace(const char* column, std::optional<Value>& value)
        : name(column), place(place_of(value.emplace())), optional(&kOptionalOps<Value>) {
        place.at = &value;
    }

    const char* name;
    Place place;
    const OptionalOps* optional = nullptr;
};
inline NamedPlace bytes(const char* column, std::string& value) {
    NamedPlace named(column, value);
    named.place.kind = ColumnKind::kBytes;
    return named;
}

inline constexpr unsigned kPerNode = 1;
inline constexpr unsigned kWriteOnce = 2;
inline constexpr unsigned kInBulk = 4;
inline constexpr unsigned kIndexInSql = 8;
inline constexpr unsigned kAddsHours = 16;
inline constexpr unsigned kKeepsLatest = 32;
inline constexpr unsigned kJoinsBits = 64;

class Description {
public:
    Description(DescribedTable& table, const void* row) : table_(table), row_(row) {}

    void named(const char* name, unsigned traits = 0) {
        table_.name = name;
        table_.per_node = (traits & kPerNode) != 0;
        table_.write_once = (traits & kWriteOnce) != 0;
        table_.in_bulk = (traits & kInBulk) != 0;
        table_.index_in_sql = (traits & kIndexInSql) != 0;
        table_.adds_hours = (traits & kAddsHours) != 0;
        table_.keeps_latest = (traits & kKeepsLatest) != 0;
        table_.joins_bits = (traits & kJoinsBits) != 0;
    }
    void key(std::initializer_list<NamedPlace> columns) { add(table_.key, columns); }
    /// Goes on with an order's time and name.
    template <class Row>
    void key_of_order(Row& row) {
        key({{"ordered", row.ordered_at}, {"shop", row.shop}, {"order_id", row.order_id}});
    }
    void rest(std::initializer_list<NamedPlace> columns) { add(table_.rest, columns); }

private:
    void add(std::vector<Column>& to, std::initializer_list<NamedPlace> columns) {
        for (const NamedPlace& column : columns) {
            const auto offset =
                static_cast<const char*>(column.place.at) - static_cast<const char*>(row_);
            to.push_back({column.name, column.place.kind, static_cast<std::uint32_t>(offset),
                          column.place.is_valid, column.optional});
        }
    }

    DescribedTable& table_;
    const void* row_;
};

// list_rows.cpp
void describe(Description& table, struct OrderByTime& row);
void describe(Description& table, struct OrderByCreator& row);
void describe(Description& table, struct OrderByCode& row);
void describe(Description& table, struct OrderByNumber& row);
void describe(Description& table, struct ChainGroup& row);
void describe(Description& table, struct PayoutByAccount& row);
void describe(Description& table, struct PayoutByCreator& row);
void describe(Description& table, struct RunByAccount& row);
void describe(Description& table, struct WaitingByState& row);
void describe(Description& table, struct Attention& row);
void describe(Description& table, struct AttentionCount& row);
void describe(Description& table, struct DailySum& row);
void describe(Description& table, struct OrderDay& row);
void describe(Description& table, struct MonthlySum& row);
void describe(Description& table, struct OpenHours& row);
void describe(Description& table, struct ShopMinutes& row);
void describe(Description& table, struct ShopDay& row);
void describe(Description& table, struct DeletedOrder& row);
void describe(Description& table, struct DeadOrder& row);
void describe(Description& table, struct ClickByReceipt& row);
void describe(Description& table, struct ClickDay& row);
void describe(Description& table, struct ClickMonth& row);
void describe(Description& table, struct LinkDay& row);
void describe(Description& table, struct CodeDay& row);
void describe(Description& table, struct TierOrder& row);
void describe(Description& table, struct LinkRow& row);
void describe(Description& table, struct LinkByCreator& row);
void describe(Description& table, struct LinksHead& row);

}  // namespace sluice
