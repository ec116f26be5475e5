#include "lmdb_store/queue/tables.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::store {
namespace {

// topic u8 | 3 zero | records u32 BE | seq u64 BE | accepted second i64 BE | body SHA-256
constexpr std::size_t kRowBytes = 1 + 3 + 4 + 8 + 8 + 32;
constexpr std::size_t kAgeKeyBytes = 8 + 32;

KeyBytes<kRowBytes> encode(const IdempotencyRow& row) noexcept {
    KeyBytes<kRowBytes> bytes{};
    bytes[0] = static_cast<unsigned char>(row.topic);
    put_big_endian(&bytes[4], row.records_count);
    put_big_endian(&bytes[8], row.seq.value);
    put_big_endian(&bytes[16], static_cast<std::uint64_t>(row.accepted_second));
    std::ranges::copy(row.body_sha256, &bytes[24]);
    return bytes;
}

bool decode(const MDB_val& value, IdempotencyRow& row) noexcept {
    if (value.mv_size != kRowBytes) {
        return false;
    }
    const auto* bytes = static_cast<const unsigned char*>(value.mv_data);
    row.topic = static_cast<Topic>(bytes[0]);
    row.records_count = get_big_endian<std::uint32_t>(bytes + 4);
    row.seq.value = get_big_endian<std::uint64_t>(bytes + 8);
    row.accepted_second = static_cast<std::int64_t>(get_big_endian<std::uint64_t>(bytes + 16));
    std::copy(bytes + 24, bytes + 56, row.body_sha256.begin());
    return true;
}

KeyBytes<kAgeKeyBytes> age_key(std::int64_t second, const IdempotencyKey& key) noexcept {
    KeyBytes<kAgeKeyBytes> bytes;
    put_big_endian(bytes.data(), static_cast<std::uint64_t>(std::max<std::int64_t>(second, 0)));
    std::ranges::copy(key, &bytes[8]);
    return bytes;
}

std::int64_t accepted_of(const MDB_val& age) noexcept {
    return static_cast<std::int64_t>(get_big_endian<std::uint64_t>(age.mv_data));
}

}  // namespace

int create_queue_tables(MDB_txn* txn, std::string_view uuid) noexcept {
    constexpr std::array<char, 4> kFormat = {kQueueFormat, 0, 0, 0};
    int rc = create_tables(txn, kQueueTables);
    rc = rc == 0 ? put_main(txn, kFormatKey, {kFormat.data(), kFormat.size()}) : rc;
    rc = rc == 0 ? put_main(txn, kUuidKey, uuid) : rc;
    return rc == 0 ? put_main(txn, kNextSeqKey, to_view(seq_key(1))) : rc;
}

int find_gap(MDB_txn* txn, MDB_dbi records, SequenceNumber after, SequenceNumber last,
             std::optional<SequenceRange>& gap) noexcept {
    Cursor cursor;
    int rc = cursor.open(txn, records);
    std::uint64_t next = after.value + 1;
    KeyBytes<8> first = seq_key(next);
    MDB_val key = to_val(first);
    MDB_val value{};
    for (MDB_cursor_op move = MDB_SET_RANGE; rc == 0 && !gap; move = MDB_NEXT) {
        rc = cursor.read(key, value, move);
        if (rc == 0 && key.mv_size == sizeof(std::uint64_t)) {
            const auto seq = get_big_endian<std::uint64_t>(key.mv_data);
            if (seq != next) {
                gap = SequenceRange{{next}, {seq - 1}};
            }
            next = seq + 1;
        }
    }
    if (rc == MDB_NOTFOUND && next <= last.value) {
        gap = SequenceRange{{next}, last};
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

IdempotencyKey IdempotencyTable::key_of(const IdempotencyClaim& claim) noexcept {
    std::array<char, 4 + 255> bytes;
    put_big_endian(reinterpret_cast<unsigned char*>(bytes.data()), claim.shop.value);
    const std::size_t count = std::min<std::size_t>(claim.key.size(), 255);
    std::memcpy(bytes.data() + 4, claim.key.data(), count);
    return sha256({bytes.data(), 4 + count});
}

int IdempotencyTable::find(const IdempotencyKey& key, IdempotencyRow& row) noexcept {
    MDB_val key_val = to_val(to_view(key));
    MDB_val value{};
    const int rc = mdb_get(txn_, rows_, &key_val, &value);
    return rc != 0 ? rc : decode(value, row) ? 0 : MDB_CORRUPTED;
}

int IdempotencyTable::put(const IdempotencyKey& key, const IdempotencyRow& row) noexcept {
    IdempotencyRow old;
    int rc = find(key, old);
    if (rc == 0) {
        KeyBytes<kAgeKeyBytes> age = age_key(old.accepted_second, key);
        MDB_val age_val = to_val(age);
        rc = mdb_del(txn_, by_age_, &age_val, nullptr);
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }
    KeyBytes<kRowBytes> bytes = encode(row);
    KeyBytes<kAgeKeyBytes> age = age_key(row.accepted_second, key);
    MDB_val key_val = to_val(to_view(key));
    MDB_val value = to_val(bytes);
    if (rc = mdb_put(txn_, rows_, &key_val, &value, 0); rc != 0) {
        return rc;
    }
    MDB_val age_val = to_val(age);
    MDB_val nothing{0, nullptr};
    return mdb_put(txn_, by_age_, &age_val, &nothing, 0);
}

int IdempotencyTable::expire(std::int64_t second, std::uint64_t rows_max) noexcept {
    Cursor by_age;
    MDB_val age{};
    MDB_val nothing{};
    int rc = by_age.open(txn_, by_age_);
    for (std::uint64_t removed = 0; rc == 0 && removed < rows_max; ++removed) {
        rc = by_age.read(age, nothing, MDB_FIRST);
        if (rc != 0 || age.mv_size != kAgeKeyBytes || accepted_of(age) > second) {
            break;
        }
        IdempotencyKey key;
        std::memcpy(key.data(), static_cast<const unsigned char*>(age.mv_data) + 8, key.size());
        MDB_val key_val = to_val(key);
        rc = mdb_del(txn_, rows_, &key_val, nullptr);
        rc = rc == 0 || rc == MDB_NOTFOUND ? by_age.remove() : rc;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

int IdempotencyTable::oldest(std::int64_t& accepted_second) noexcept {
    Cursor by_age;
    MDB_val age{};
    MDB_val nothing{};
    int rc = by_age.open(txn_, by_age_);
    rc = rc == 0 ? by_age.read(age, nothing, MDB_FIRST) : rc;
    if (rc == 0) {
        accepted_second = accepted_of(age);
    }
    return rc;
}

int IdempotencyTable::count(std::uint64_t& rows) noexcept {
    MDB_stat stat{};
    const int rc = mdb_stat(txn_, rows_, &stat);
    rows = stat.ms_entries;
    return rc;
}

AppendOutcome compare_claim(const IdempotencyClaim& claim, const IdempotencyRow& row) noexcept {
    return claim.topic == row.topic && claim.body_sha256 == row.body_sha256
               ? AppendOutcome::kReplayed
               : AppendOutcome::kConflict;
}

}  // namespace sluice::store
