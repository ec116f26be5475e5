#include "lmdb_store/registry_tables.hpp"

#include <string>

#include "lmdb_store/queue_tables.hpp"

namespace sluice::store {
namespace {

int put(MDB_txn* txn, std::string_view key, std::string_view value) noexcept {
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    return mdb_put(txn, kMainTable, &key_val, &value_val, 0);
}

}  // namespace

int create_registry_tables(MDB_txn* txn, const MasterKey& key) {
    for (const char* name : kRegistryTables) {
        MDB_dbi table = 0;
        if (const int rc = mdb_dbi_open(txn, name, MDB_CREATE, &table); rc != 0) {
            return rc;
        }
    }
    constexpr std::string_view kOne("\0\0\0\1", 4);  // numbers start at 1: 0 means none
    static_assert(kRegistryFormat == 1);
    int rc = put(txn, kFormatKey, std::string_view("\1\0\0\0", 4));
    rc = rc == 0 ? put(txn, kNextAccountKey, kOne) : rc;
    rc = rc == 0 ? put(txn, kNextShopKey, kOne) : rc;
    return rc == 0 ? put(txn, kKeyCheckKey, key.seal(kKeyCheckText, kKeyCheckKey)) : rc;
}

}  // namespace sluice::store
