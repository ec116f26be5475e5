// Rows of an environment that no process has open, changed without the store.
#pragma once

#include <gtest/gtest.h>
#include <lmdb.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::store {

class RawRows {
public:
    using Row = std::pair<std::string, std::string>;

    /// @param table  Empty: the main table.
    RawRows(std::filesystem::path folder, std::string table)
        : folder_(std::move(folder)), table_(std::move(table)) {}

    /// Without the names of the other tables, if it is the main table.
    [[nodiscard]] std::vector<Row> all() const {
        std::vector<Row> rows;
        run([&](MDB_txn* txn, MDB_dbi table) {
            MDB_cursor* cursor = nullptr;
            ASSERT_EQ(mdb_cursor_open(txn, table, &cursor), 0);
            MDB_val key{}, value{};
            while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
                rows.emplace_back(text(key), text(value));
            }
            mdb_cursor_close(cursor);
        });
        return rows;
    }
    void put(std::string_view key, std::string_view value) const {
        run([&](MDB_txn* txn, MDB_dbi table) {
            MDB_val key_val = bytes(key);
            MDB_val value_val = bytes(value);
            ASSERT_EQ(mdb_put(txn, table, &key_val, &value_val, 0), 0);
        });
    }
    void remove(std::string_view key) const {
        run([&](MDB_txn* txn, MDB_dbi table) {
            MDB_val key_val = bytes(key);
            ASSERT_EQ(mdb_del(txn, table, &key_val, nullptr), 0);
        });
    }
    void rename(std::string_view key, std::string_view to, std::string_view value) const {
        remove(key);
        put(to, value);
    }

private:
    static MDB_val bytes(std::string_view text) {
        return {text.size(), const_cast<char*>(text.data())};  // NOLINT: LMDB only reads it
    }
    static std::string text(const MDB_val& bytes) {
        return {static_cast<const char*>(bytes.mv_data), bytes.mv_size};
    }
    void run(const std::function<void(MDB_txn*, MDB_dbi)>& work) const {
        MDB_env* env = nullptr;
        MDB_txn* txn = nullptr;
        MDB_dbi table = 0;
        ASSERT_EQ(mdb_env_create(&env), 0);
        ASSERT_EQ(mdb_env_set_maxdbs(env, 64), 0);
        ASSERT_EQ(mdb_env_set_mapsize(env, std::size_t{1} << 30), 0);
        ASSERT_EQ(mdb_env_open(env, folder_.c_str(), MDB_NOSYNC | MDB_NOLOCK, 0600), 0);
        ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
        ASSERT_EQ(mdb_dbi_open(txn, table_.empty() ? nullptr : table_.c_str(), 0, &table), 0);
        work(txn, table);
        ASSERT_EQ(mdb_txn_commit(txn), 0);
        mdb_env_close(env);
    }

    std::filesystem::path folder_;
    std::string table_;
};

/// The data file of an environment, put back as it was when this goes.
class RestoredFile {
public:
    explicit RestoredFile(const std::filesystem::path& folder)
        : file_(folder / "data.mdb"), copy_(folder / "data.copy") {
        std::filesystem::copy_file(file_, copy_);
    }
    RestoredFile(const RestoredFile&) = delete;
    RestoredFile& operator=(const RestoredFile&) = delete;
    ~RestoredFile() { std::filesystem::rename(copy_, file_); }

private:
    std::filesystem::path file_, copy_;
};

}  // namespace sluice::store
