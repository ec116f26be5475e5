// Table access: rows of an environment by key, with failures thrown. Internal to this room.
//
// For code off the hot path, where a check after each call would hide what the code does. At the
// room's border attempt() turns the exception into a Status or Result.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/values/result.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {

/// Runs `action`, which returns T, Status or Result<T>, and gives back what it threw as an error.
template <class Action>
[[nodiscard]] std::invoke_result_t<Action> attempt(Action&& action) {
    try {
        return std::forward<Action>(action)();
    } catch (const StoreFailure& failure) {
        return failure.error();
    }
}

/// Throws StoreFailure unless rc is 0.
inline void check(int rc, const Environment& environment, std::string_view doing) {
    if (rc != 0) {
        throw StoreFailure(environment.error(rc, doing));
    }
}

/// A view into the map: valid until the transaction writes or ends.
[[nodiscard]] inline std::optional<std::string_view> find(const Txn& txn, MDB_dbi table,
                                                          std::string_view key) {
    if (key.empty()) {  // LMDB has no empty keys, and complains
        return std::nullopt;
    }
    MDB_val key_val = to_val(key);
    MDB_val value{};
    const int rc = mdb_get(txn.get(), table, &key_val, &value);
    if (rc == MDB_NOTFOUND) {
        return std::nullopt;
    }
    check(rc, txn.environment(), "read");
    return to_view(value);
}

inline void put(const WriteTxn& txn, MDB_dbi table, std::string_view key, std::string_view value) {
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    check(mdb_put(txn.get(), table, &key_val, &value_val, 0), txn.environment(), "write");
}

/// False: there was no such row.
inline bool erase(const WriteTxn& txn, MDB_dbi table, std::string_view key) {
    MDB_val key_val = to_val(key);
    const int rc = mdb_del(txn.get(), table, &key_val, nullptr);
    check(rc == MDB_NOTFOUND ? 0 : rc, txn.environment(), "write");
    return rc == 0;
}

/// Calls visit(key, value) for each row whose key begins with `prefix`, in key order, until it
/// returns false. It must not write to the table.
template <class Visit>
void scan(const Txn& txn, MDB_dbi table, std::string_view prefix, Visit&& visit) {
    Cursor cursor;
    check(cursor.open(txn, table), txn.environment(), "read");
    MDB_val key = to_val(prefix);
    MDB_val value{};
    int rc = cursor.read(key, value, prefix.empty() ? MDB_FIRST : MDB_SET_RANGE);
    while (rc == 0 && to_view(key).substr(0, prefix.size()) == prefix &&
           visit(to_view(key), to_view(value))) {
        rc = cursor.read(key, value, MDB_NEXT);
    }
    check(rc == MDB_NOTFOUND ? 0 : rc, txn.environment(), "read");
}

}  // namespace sluice::store
