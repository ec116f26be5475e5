#include "lmdb_store/queue/tables.hpp"

namespace sluice::store {
namespace {

int put(MDB_txn* txn, std::string_view key, std::string_view value) noexcept {
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    return mdb_put(txn, kMainTable, &key_val, &value_val, 0);
}

}  // namespace

int create_queue_tables(MDB_txn* txn, std::string_view uuid) noexcept {
    for (const char* name : kQueueTables) {
        MDB_dbi table = 0;
        if (const int rc = mdb_dbi_open(txn, name, MDB_CREATE, &table); rc != 0) {
            return rc;
        }
    }
    const KeyBytes<8> first = seq_key(1);
    const KeyBytes<4> format = {kQueueFormat, 0, 0, 0};
    const auto text = [](const auto& bytes) {
        return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    int rc = put(txn, kFormatKey, text(format));
    rc = rc == 0 ? put(txn, kUuidKey, uuid) : rc;
    return rc == 0 ? put(txn, kNextSeqKey, text(first)) : rc;
}

}  // namespace sluice::store
