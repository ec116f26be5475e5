// Edits of a queue as another program with the rights of an nginx worker makes them.
#pragma once

#include <gtest/gtest.h>
#include <lmdb.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "core/values/ids.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

class QueueEdit {
public:
    /// Requires: no environment of the queue is open in this process.
    explicit QueueEdit(const StorePaths& paths) {
        EXPECT_EQ(mdb_env_create(&env_), 0);
        EXPECT_EQ(mdb_env_set_maxdbs(env_, 8), 0);
        EXPECT_EQ(mdb_env_set_mapsize(env_, std::size_t{1} << 30), 0);
        EXPECT_EQ(mdb_env_open(env_, paths.queue.c_str(), MDB_NOSYNC, 0660), 0);
        EXPECT_EQ(mdb_txn_begin(env_, nullptr, 0, &txn_), 0);
        EXPECT_EQ(mdb_dbi_open(txn_, nullptr, 0, &main_), 0);
        EXPECT_EQ(mdb_dbi_open(txn_, "records", 0, &records_), 0);
    }
    ~QueueEdit() {
        EXPECT_EQ(mdb_txn_commit(txn_), 0);
        mdb_env_close(env_);
    }
    QueueEdit(const QueueEdit&) = delete;
    QueueEdit& operator=(const QueueEdit&) = delete;

    void remove(std::uint64_t seq) {
        auto key = bytes_of(seq);
        MDB_val key_val{key.size(), key.data()};
        EXPECT_EQ(mdb_del(txn_, records_, &key_val, nullptr), 0);
    }
    [[nodiscard]] std::string record(std::uint64_t seq) {
        auto key = bytes_of(seq);
        MDB_val key_val{key.size(), key.data()};
        MDB_val value{};
        EXPECT_EQ(mdb_get(txn_, records_, &key_val, &value), 0);
        return {static_cast<const char*>(value.mv_data), value.mv_size};
    }
    void put(std::uint64_t seq, std::string record) {
        auto key = bytes_of(seq);
        MDB_val key_val{key.size(), key.data()};
        MDB_val value{record.size(), record.data()};
        EXPECT_EQ(mdb_put(txn_, records_, &key_val, &value, 0), 0);
    }
    void set_next_seq(std::uint64_t seq) {
        std::string name = "next_seq";
        auto value = bytes_of(seq);
        MDB_val key_val{name.size(), name.data()};
        MDB_val value_val{value.size(), value.data()};
        EXPECT_EQ(mdb_put(txn_, main_, &key_val, &value_val, 0), 0);
    }

private:
    static std::array<char, 8> bytes_of(std::uint64_t number) {
        std::array<char, 8> bytes{};
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<char>(number >> (8 * (bytes.size() - 1 - i)));
        }
        return bytes;
    }

    MDB_env* env_ = nullptr;
    MDB_txn* txn_ = nullptr;
    MDB_dbi main_ = 0;
    MDB_dbi records_ = 0;
};

}  // namespace sluice::store
