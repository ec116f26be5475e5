// Table access: rows of an environment by key, and the numbers in keys. Internal to lmdb_store.
//
// Functions with a Txn throw StoreFailure. They are for code off the hot path, where a check after
// each call would hide what the code does. At lmdb_store's public interface attempt() turns the
// exception into a Status or Result.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/lookup.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {

/// LMDB's number of the unnamed database; valid once a named one was opened.
inline constexpr MDB_dbi kMainTable = 1;
/// Rows that the main table of every environment has.
inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kUuidKey = "uuid";

/// Big-endian bytes, which LMDB sorts as the numbers.
template <std::size_t kBytes>
using KeyBytes = std::array<unsigned char, kBytes>;

template <std::size_t kBytes>
[[nodiscard]] MDB_val to_val(KeyBytes<kBytes>& key) noexcept {
    return {key.size(), key.data()};
}

template <std::size_t kBytes>
[[nodiscard]] std::string_view to_view(const KeyBytes<kBytes>& key) noexcept {
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

template <class Number>
void put_big_endian(unsigned char* to, Number number) noexcept {
    for (std::size_t i = sizeof(number); i-- > 0; number >>= 8) {
        to[i] = static_cast<unsigned char>(number & 0xFF);
    }
}

template <class Number>
[[nodiscard]] Number get_big_endian(const void* from) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(from);
    Number number = 0;
    for (std::size_t i = 0; i < sizeof(number); ++i) {
        number = static_cast<Number>((number << 8) | bytes[i]);
    }
    return number;
}

/// Returns a number as a key or a value that holds nothing else.
template <class Number>
[[nodiscard]] std::string big_endian(Number number) {
    std::string bytes(sizeof(number), '\0');
    put_big_endian(reinterpret_cast<unsigned char*>(bytes.data()), number);
    return bytes;
}

/// Writes a row of the main table. Returns 0 or LMDB's code.
[[nodiscard]] inline int put_main(MDB_txn* txn, std::string_view key,
                                  std::string_view value) noexcept {
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    return mdb_put(txn, kMainTable, &key_val, &value_val, 0);
}

/// Creates tables in a new environment. Returns 0 or LMDB's code.
template <std::size_t kCount>
[[nodiscard]] int create_tables(MDB_txn* txn,
                                const std::array<const char*, kCount>& names) noexcept {
    for (const char* name : names) {
        MDB_dbi table = 0;
        if (const int rc = mdb_dbi_open(txn, name, MDB_CREATE, &table); rc != 0) {
            return rc;
        }
    }
    return 0;
}

/// Throws StoreFailure unless rc is 0.
inline void check(int rc, const Environment& environment, std::string_view doing) {
    if (rc != 0) {
        throw StoreFailure(environment.error(rc, doing));
    }
}

/// Returns what `act` returns in a read transaction.
template <class Act>
[[nodiscard]] auto read_in(Environment& environment, Act&& act) {
    return attempt([&] {
        ReadTxn txn;
        check(txn.begin(environment), environment, "read");
        return act(std::as_const(txn));
    });
}

/// Returns the value of a key, or nullopt if the table has none. The value is a view into the map,
/// valid until the transaction writes or ends. Throws StoreFailure.
[[nodiscard]] inline std::optional<std::string_view> find(const Txn& txn, MDB_dbi table,
                                                          std::string_view key) {
    if (key.empty()) {  // LMDB has no empty keys, and returns an error
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

/// Returns false if there was no such row.
inline bool erase(const WriteTxn& txn, MDB_dbi table, std::string_view key) {
    MDB_val key_val = to_val(key);
    const int rc = mdb_del(txn.get(), table, &key_val, nullptr);
    check(rc == MDB_NOTFOUND ? 0 : rc, txn.environment(), "write");
    return rc == 0;
}

/// Calls visit(key, value) for each row whose key begins with `prefix`, in key order, until it
/// returns false; one that returns nothing visits all. `visit` must not write to the table.
template <class Visit>
void scan(const Txn& txn, MDB_dbi table, std::string_view prefix, Visit&& visit) {
    Cursor cursor;
    check(cursor.open(txn, table), txn.environment(), "read");
    MDB_val key = to_val(prefix);
    MDB_val value{};
    int rc = cursor.read(key, value, prefix.empty() ? MDB_FIRST : MDB_SET_RANGE);
    while (rc == 0 && to_view(key).substr(0, prefix.size()) == prefix &&
           wants_more(visit, to_view(key), to_view(value))) {
        rc = cursor.read(key, value, MDB_NEXT);
    }
    check(rc == MDB_NOTFOUND ? 0 : rc, txn.environment(), "read");
}

/// Returns the keys that begin with `prefix`, in their order.
[[nodiscard]] inline std::vector<std::string> keys_of(const Txn& txn, MDB_dbi table,
                                                      std::string_view prefix) {
    std::vector<std::string> keys;
    scan(txn, table, prefix,
         [&keys](std::string_view key, std::string_view) { keys.emplace_back(key); });
    return keys;
}

}  // namespace sluice::store
