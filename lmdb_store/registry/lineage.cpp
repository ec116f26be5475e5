#include "lmdb_store/registry/lineage.hpp"

#include <openssl/rand.h>

#include <algorithm>

#include "core/protocol/signature.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kPrefix = "history/";
constexpr std::string_view kAfterPrefix = "history0";  ///< Above every key with the prefix.
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
constexpr std::size_t kValueBytes = sizeof(Digest256) + kNumberBytes;
constexpr std::size_t kRandomBytes = 16;

struct Change {
    std::uint64_t number = 0;
    Digest256 digest{};
    std::uint64_t txn_id = 0;  ///< LMDB's id. Reveals a restored copy.
};

std::string text_of(const Digest256& digest) {
    return std::string(to_view(digest));
}

Change decode(const RegistryTables& tables, std::string_view key, std::string_view value) {
    if (key.size() != kPrefix.size() + kNumberBytes || value.size() != kValueBytes) {
        throw StoreFailure(tables.damaged("history"));
    }
    Change change{.number = get_big_endian<std::uint64_t>(key.data() + kPrefix.size())};
    std::copy_n(reinterpret_cast<const unsigned char*>(value.data()), change.digest.size(),
                change.digest.begin());
    change.txn_id = get_big_endian<std::uint64_t>(value.data() + change.digest.size());
    return change;
}

/// Returns the last recorded change, or number 0 if there is none.
Change last_recorded(const RegistryTables& tables, const Txn& txn) {
    Cursor cursor;
    check(cursor.open(txn, tables.main), *tables.environment, "read");
    MDB_val key = to_val(kAfterPrefix);
    MDB_val value{};
    int rc = cursor.read(key, value, MDB_SET_RANGE);
    check(rc == MDB_NOTFOUND ? 0 : rc, *tables.environment, "read");
    rc = cursor.read(key, value, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
    if (rc == MDB_NOTFOUND || (rc == 0 && !to_view(key).starts_with(kPrefix))) {
        return {};
    }
    check(rc, *tables.environment, "read");
    return decode(tables, to_view(key), to_view(value));
}

Change next(const Change& last, std::uint64_t txn_id, std::string_view salt) {
    std::string covered = text_of(last.digest) + big_endian(txn_id);
    covered += salt;
    return {std::max(last.number + 1, txn_id), sha256(covered), txn_id};
}

/// Returns the state after the commit `txn_id`: the last recorded change, unless this is a new
/// store or a restored copy.
Change state_after(const Change& last, std::uint64_t txn_id) {
    return last.number != 0 && last.txn_id == txn_id ? last : next(last, txn_id, {});
}

RegistryRevision named(const Change& state, const std::string& store_uuid) {
    return {store_uuid, state.number, text_of(state.digest)};
}

void store(const RegistryTables& tables, const WriteTxn& txn, const Change& change) {
    put(txn, tables.main, std::string(kPrefix) + big_endian(change.number),
        text_of(change.digest) + big_endian(change.txn_id));
}

}  // namespace

RegistryRevision revision_of(const RegistryTables& tables, const ReadTxn& txn,
                             const std::string& store_uuid) {
    return named(state_after(last_recorded(tables, txn), txn.id()), store_uuid);
}

RegistryRevision revision_of(const RegistryTables& tables, const WriteTxn& txn,
                             const std::string& store_uuid) {
    return named(state_after(last_recorded(tables, txn), txn.id() - 1), store_uuid);
}

void record_revision(const RegistryTables& tables, const WriteTxn& txn) {
    const Change last = last_recorded(tables, txn);
    const Change before = state_after(last, txn.id() - 1);
    if (before.number != last.number) {
        store(tables, txn, before);
    }
    std::string salt(kRandomBytes, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(salt.data()), kRandomBytes) != 1) {
        throw StoreFailure({ErrorCode::kIo, "the system provides no random bytes"});
    }
    store(tables, txn, next(before, txn.id(), salt));
}

std::vector<PastRevision> history_of(const RegistryTables& tables, const ReadTxn& txn) {
    std::vector<PastRevision> all;
    Change last;
    const auto add = [&all](const Change& change) {
        all.push_back({change.number, get_big_endian<std::uint64_t>(change.digest.data())});
    };
    scan(txn, tables.main, kPrefix, [&](std::string_view key, std::string_view value) {
        last = decode(tables, key, value);
        add(last);
    });
    const Change state = state_after(last, txn.id());
    if (state.number != last.number) {
        add(state);
    }
    return all;
}

}  // namespace sluice::store
