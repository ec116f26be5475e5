// Order columns: how a list of columns is written, read and named. One list serves all three, so
// that no direction can forget a column. Internal to pg_store; pure.
//
// A list of an order is a column for each field of its items (list_text.hpp); null if there are no
// items. An instant is two columns: NAME_s, NAME_ns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "pg_store/rows/list_text.hpp"
#include "pg_store/rows/row_fields.hpp"

namespace sluice::pg {

/// An item, and the number of the position that it belongs to, from 1.
template <class Item>
struct Numbered {
    std::uint32_t position = 0;
    Item item{};
};

/// The columns of one list: those of its items' fields, one after the other.
template <class Columns, class Range>
class ListColumns {
public:
    /// @param is_first  The first column says how long the list is.
    ListColumns(Columns& columns, Range& items, bool is_first = true)
        : columns_(columns), items_(items), is_first_(is_first) {}

    /// Adds a column of a field. `get(item)` returns a reference to it.
    template <class Get>
    void operator()(const char* name, Get get) {
        using Value = std::remove_cvref_t<decltype(std::invoke(get, item_of(*items_.begin())))>;
        if constexpr (std::is_same_v<Value, Timestamp>) {
            add(
                name, "_s",
                [&](ListText& out, const auto& item) { out.add(std::invoke(get, item).seconds); },
                [&](auto& item, const ListValue& v) { v.read(std::invoke(get, item).seconds); });
            add(
                name, "_ns",
                [&](ListText& out, const auto& item) { out.add(std::invoke(get, item).nanos); },
                [&](auto& item, const ListValue& v) {
                    v.read(std::invoke(get, item).nanos);
                    check(std::invoke(get, item));
                });
        } else {
            special(
                name, [&](ListText& out, const auto& item) { out.add(std::invoke(get, item)); },
                [&](auto& item, const ListValue& v) { v.read(std::invoke(get, item)); });
        }
    }
    /// Adds a column of a field of a member.
    template <class Member, class Inner>
    void operator()(const char* name, Member member, Inner inner) {
        (*this)(
            name, [=](auto& item) -> auto& { return item.*member.*inner; });
    }
    /// Adds a column whose values `write(out, item)` writes and `read(item, value)` reads.
    template <class Write, class Read>
    void special(const char* name, Write&& write, Read&& read) {
        add(name, "", write, read);
    }
    [[nodiscard]] Range& items() noexcept { return items_; }

private:
    template <class Write, class Read>
    void add(const char* name, const char* suffix, Write&& write, Read&& read) {
        if constexpr (std::is_const_v<Range>) {
            columns_.values(name, suffix, items_,
                            [&](ListText& out, const auto& item) { write(out, item_of(item)); });
        } else {
            columns_.values(items_, is_first_,
                            [&](auto& item, const ListValue& v) { read(item_of(item), v); });
            is_first_ = false;
        }
    }
    template <class Item>
    static Item& item_of(Item& item) {
        return item;
    }
    template <class Item>
    static Item& item_of(Numbered<Item>& item) {
        return item.item;
    }
    template <class Item>
    static const Item& item_of(const Numbered<const Item*>& item) {
        return *item.item;
    }

    Columns& columns_;
    Range& items_;
    bool is_first_;
};

/// Writes columns, and collects their names if they are wanted.
class ColumnWriter {
public:
    explicit ColumnWriter(RowWriter& row, std::vector<std::string>* names = nullptr)
        : row_(row), names_(names) {}

    template <class Value>
    void operator()(const char* name, const Value& value) {
        if constexpr (std::is_convertible_v<const Value&, std::optional<Timestamp>>) {
            named(name, "_s");
            named(name, "_ns").instant(value);
        } else {
            FieldWriting{named(name, "")}(value);
        }
    }
    /// Adds a column of the order that `write(out, order)` writes and `read(order, field)` reads.
    template <class Write, class Read>
    void special(const char* name, const OrderState& order, Write&& write, Read&& /*read*/) {
        write(named(name, ""), order);
    }
    template <class Range, class Write>
    void values(const char* name, const char* suffix, const Range& items, Write&& write) {
        ListText list;
        for (const auto& item : items) {
            write(list, item);
        }
        list.write_to(named(name, suffix));
    }
    template <class Range>
    [[nodiscard]] ListColumns<ColumnWriter, const Range> list(const Range& items) {
        return {*this, items};
    }
    /// Adds the lists that positions have, as one. `columns` adds its columns, after `name`: the
    /// numbers of the items' positions.
    template <class Items, class Columns>
    void nested(const char* name, const std::vector<Position>& positions, Items items,
                Columns&& columns) {
        using Item =
            typename std::remove_cvref_t<decltype(std::invoke(items, positions[0]))>::value_type;
        std::vector<Numbered<const Item*>> all;
        for (std::uint32_t i = 0; i < positions.size(); ++i) {
            for (const Item& item : std::invoke(items, positions[i])) {
                all.push_back({i + 1, &item});
            }
        }
        values(name, "", all, [](ListText& out, const auto& of) { out.add(of.position); });
        columns(list(all));
    }

private:
    RowWriter& named(const char* name, const char* suffix) {
        if (names_ != nullptr) {
            names_->push_back(std::string(name) + suffix);
        }
        return row_;
    }

    RowWriter& row_;
    std::vector<std::string>* names_;
};

/// Reads the columns that a ColumnWriter wrote. Throws DamagedField.
class ColumnReader {
public:
    explicit ColumnReader(RowReader& row) : row_(row) {}

    template <class Value>
    void operator()(const char* /*name*/, Value& value) {
        if constexpr (std::is_same_v<Value, Timestamp>) {
            value = row_.instant();
        } else if constexpr (std::is_same_v<Value, std::optional<Timestamp>>) {
            value = row_.instant_or_null();
        } else {
            FieldReading{row_.next()}(value);
        }
    }
    template <class Write, class Read>
    void special(const char* /*name*/, OrderState& order, Write&& /*write*/, Read&& read) {
        read(order, row_.next());
    }
    template <class Item, class Read>
    void values(std::vector<Item>& items, bool is_first, Read&& read) {
        const std::vector<ListValue> stored = list_values(row_.next());
        if (is_first) {
            items.clear();
            items.resize(stored.size());
        } else if (stored.size() != items.size()) {
            throw_damaged("lists that belong together differ in length");
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            read(items[i], stored[i]);
        }
    }
    template <class Item>
    [[nodiscard]] ListColumns<ColumnReader, std::vector<Item>> list(std::vector<Item>& items) {
        return {*this, items};
    }
    template <class Items, class Columns>
    void nested(const char* /*name*/, std::vector<Position>& positions, Items items,
                Columns&& columns) {
        using Item =
            typename std::remove_cvref_t<decltype(std::invoke(items, positions[0]))>::value_type;
        std::vector<Numbered<Item>> all;
        values(all, true, [](auto& of, const ListValue& v) { v.read(of.position); });
        columns(ListColumns(*this, all, false));
        for (Numbered<Item>& of : all) {
            if (of.position == 0 || of.position > positions.size()) {
                throw_damaged("it has no position " + std::to_string(of.position));
            }
            std::invoke(items, positions[of.position - 1]).push_back(std::move(of.item));
        }
    }

private:
    RowReader& row_;
};

}  // namespace sluice::pg
