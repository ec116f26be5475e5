#include "lmdb_store/ledger/order_changes.hpp"

#include <algorithm>

#include "core/protocol/signature.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/rows/keys.hpp"
#include "lmdb_store/rows/order_value.hpp"

namespace sluice::store {
namespace {

/// A row of order_changes, without what the delta says.
struct Change {
    std::string_view order;  ///< The key of its row.
    FieldReader delta;
};

std::optional<Change> change_at(std::string_view key, std::string_view value) {
    FieldReader fields(key, value);
    const std::string_view order = fields.text();
    return fields.ok() && !order.empty() ? std::optional(Change{order, fields}) : std::nullopt;
}

/// Names the order of a damaged row, if it is known, else the row's key.
void check_part(const RowAccess& rows, bool sound, Table table, std::string_view key,
                const std::optional<OrderKey>& order) {
    if (order) {
        rows.check(sound, table, *order);
    } else {
        rows.check(sound, table, key);
    }
}

}  // namespace

ChangedKey changed_key(std::string_view order) noexcept {
    const Digest256 digest = sha256(order);
    ChangedKey key;
    std::copy_n(digest.begin(), key.size(), key.begin());
    return key;
}

ChangeKey change_key(std::uint64_t number) noexcept {
    ChangeKey key;
    put_big_endian(reinterpret_cast<unsigned char*>(key.data()), number);
    return key;
}

std::optional<std::string_view> OrderRows::get(const RowAccess& rows, std::string_view key,
                                               const OrderKey& order) {
    const auto stored = rows.get(Table::kOrders, key);
    if (!stored) {
        return std::nullopt;
    }
    const auto number = change_of(rows, key, order);
    last_key_.assign(key);
    last_change_ = number;
    return number ? with_change(rows, key, *stored, *number, order) : *stored;
}

std::optional<std::uint64_t> OrderRows::change_when_read(const RowAccess& rows,
                                                         std::string_view key,
                                                         const OrderKey& order) {
    return last_key_ == key ? last_change_ : change_of(rows, key, order);
}

std::string_view OrderRows::current(const RowAccess& rows, std::string_view key,
                                    std::string_view stored, const std::optional<OrderKey>& order) {
    const auto number = change_of(rows, key, order);
    return number ? with_change(rows, key, stored, *number, order) : stored;
}

std::optional<std::string_view> OrderRows::changed(const RowAccess& rows, std::string_view key,
                                                   const OrderKey& order) {
    const auto number = change_of(rows, key, order);
    if (!number) {
        return std::nullopt;
    }
    const auto stored = rows.get(Table::kOrders, key);
    rows.check(stored.has_value(), Table::kOrders, order);
    return with_change(rows, key, *stored, *number, order);
}

std::string_view OrderRows::with_change(const RowAccess& rows, std::string_view key,
                                        std::string_view stored, std::uint64_t number,
                                        const std::optional<OrderKey>& order) {
    const ChangeKey place = change_key(number);
    const auto value = rows.get(Table::kOrderChanges, view_of(place));
    auto change = value ? change_at(view_of(place), *value) : std::nullopt;
    const bool is_made = change && read_delta(change->delta, stored, value_);
    if (!is_made) {
        const bool stored_is_sound = FieldReader(key, stored).ok();
        check_part(rows, stored_is_sound, Table::kOrders, key, order);
        check_part(rows, false, Table::kOrderChanges, view_of(place), order);
    }
    return value_;
}

std::optional<std::uint64_t> OrderRows::change_of(const RowAccess& rows, std::string_view key,
                                                  const std::optional<OrderKey>& order) {
    if (rows.count(Table::kChangedOrders) == 0) {
        return std::nullopt;
    }
    const ChangedKey changed = changed_key(key);
    const auto stored = rows.get(Table::kChangedOrders, view_of(changed));
    if (!stored) {
        return std::nullopt;
    }
    FieldReader fields(view_of(changed), *stored);
    const std::uint64_t number = fields.number();
    check_part(rows, fields.complete(), Table::kChangedOrders, view_of(changed), order);
    const ChangeKey place = change_key(number);
    const auto value = rows.get(Table::kOrderChanges, view_of(place));
    const auto change = value ? change_at(view_of(place), *value) : std::nullopt;
    check_part(rows, change.has_value(), Table::kOrderChanges, view_of(place), order);
    // The digests of two orders may begin alike. Only one of them has a change then.
    return change->order == key ? std::optional(number) : std::nullopt;
}

std::string_view ChangeValue::encode(const ChangeKey& number, std::string_view order,
                                     std::string_view base, std::string_view next) {
    fields_.clear();
    fields_.text(order);
    delta_.write(fields_, base, next);
    return fields_.sealed(view_of(number));
}

std::string_view ChangeValue::encode_place(const ChangedKey& order, std::uint64_t number) {
    fields_.clear();
    fields_.number(number);
    return fields_.sealed(view_of(order));
}

void verify_order_changes(const RowAccess& rows,
                          const std::function<void(std::string problem)>& report) {
    const auto guarded = [&report](auto&& check) {
        try {
            check();
        } catch (const DamagedRow& damage) {
            report(damage.error().message);
        }
        return true;
    };
    OrderRows orders;
    std::uint64_t changes = 0;
    visit_prefix(rows, Table::kOrderChanges, {}, [&](std::string_view key, std::string_view value) {
        ++changes;
        return guarded([&] {
            const auto change = change_at(key, value);
            rows.check(change.has_value(), Table::kOrderChanges, key);
            const std::string order(change->order);
            const auto number = orders.change_of(rows, order, std::nullopt);
            if (!number || view_of(change_key(*number)) != key) {
                report("the change of an order, key " + std::string(name_of(Table::kOrderChanges)) +
                       ", is not found by its order");
            }
            rows.check(rows.has(Table::kOrders, order), Table::kOrderChanges, key);
        });
    });
    visit_prefix(rows, Table::kChangedOrders, {},
                 [&](std::string_view key, std::string_view value) {
                     return guarded([&] {
                         FieldReader fields(key, value);
                         (void)fields.number();
                         rows.check(key.size() == sizeof(ChangedKey) && fields.complete(),
                                    Table::kChangedOrders, key);
                     });
                 });
    if (const std::uint64_t places = rows.count(Table::kChangedOrders); places != changes) {
        report(std::string("table ") + name_of(Table::kChangedOrders) + " has " +
               std::to_string(places) + " rows, the changes of orders account for " +
               std::to_string(changes));
    }
}

}  // namespace sluice::store
