#include "lmdb_store/queue/tables.hpp"

namespace sluice::store {
namespace {

int put(MDB_txn* txn, std::string_view key, std::string_view value) noexcept {
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    return mdb_put(txn, kMainTable, &key_val, &value_val, 0);
}

int put_format(MDB_txn* txn, std::string_view store_uuid) noexcept {
    constexpr std::array<char, 4> kFormat = {kQueueFormat, 0, 0, 0};
    const int rc = put(txn, kFormatKey, {kFormat.data(), kFormat.size()});
    return rc == 0 ? put(txn, kStoreKey, store_uuid) : rc;
}

}  // namespace

int create_queue_tables(MDB_txn* txn, std::string_view uuid, std::string_view store_uuid) noexcept {
    for (const char* name : kQueueTables) {
        MDB_dbi table = 0;
        if (const int rc = mdb_dbi_open(txn, name, MDB_CREATE, &table); rc != 0) {
            return rc;
        }
    }
    const KeyBytes<8> first = seq_key(1);
    int rc = put_format(txn, store_uuid);
    rc = rc == 0 ? put(txn, kUuidKey, uuid) : rc;
    return rc == 0
               ? put(txn, kNextSeqKey, {reinterpret_cast<const char*>(first.data()), first.size()})
               : rc;
}

int upgrade_queue_tables(MDB_txn* txn, std::string_view store_uuid) noexcept {
    return put_format(txn, store_uuid);
}

}  // namespace sluice::store
