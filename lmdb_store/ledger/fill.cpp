#include "lmdb_store/ledger/fill.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/ledger/encoded_rows.hpp"
#include "lmdb_store/ledger/txn.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytesMax = 16U << 20;  ///< Keys and values of one transaction.
/// A transaction of kBytesMax needs less than a quarter of the map, which is always free.
constexpr std::uint64_t kMapBytesFirst = std::uint64_t{4} << 30;

Error in_the_way(const fs::path& folder, const char* what) {
    return {ErrorCode::kConflict, "\"" + folder.string() + "\" " + what +
                                      ": name a folder that does not exist yet, or move this one "
                                      "away"};
}

/// Returns whether the folder is unused: it does not exist, or it has no file.
bool is_vacant(const fs::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) {
        if (errno != ENOENT) {
            throw StoreFailure(system_error(errno, "look at", folder));
        }
        return true;
    }
    if (!S_ISDIR(info.st_mode)) {
        throw StoreFailure(in_the_way(folder, "is not a folder"));
    }
    const bool is_empty = checked(names_in(folder)).empty();
    if (!is_empty && ::access((folder / "data.mdb").c_str(), F_OK) != 0) {
        throw StoreFailure(in_the_way(folder, "is not empty, and is no ledger"));
    }
    return is_empty;
}

Fd lock_folder(const fs::path& folder) {
    Fd lock(open_retrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
    if (!lock.ok()) {
        throw StoreFailure(system_error(errno, "open", folder));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        throw StoreFailure(errno == EWOULDBLOCK
                               ? busy("another copy to \"" + folder.string() + "\" is running")
                               : system_error(errno, "lock", folder));
    }
    return lock;
}

/// Creates the ledger under another name and renames it, so that a kill leaves no half of it.
/// Returns its lock.
Fd make_marked(const fs::path& folder, const std::string& from) {
    const fs::path made = folder.string() + ".new";
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) {
        throw StoreFailure(system_error(errno, "make", made));
    }
    Fd lock = lock_folder(made);
    std::error_code failure;
    for (const char* file : {"data.mdb", "lock.mdb"}) {
        fs::remove(made / file, failure);  // a process that was killed here left them
    }
    const FileOwner owner{};
    check(Environment::create(made, owner, owner, [&from](MDB_txn* txn) {
        const int rc = create_ledger_tables(txn);
        return rc == 0 ? put_mark(txn, Mark::kCopy, from) : rc;
    }));
    if (::rename(made.c_str(), folder.c_str()) != 0) {
        throw StoreFailure(system_error(errno, "make", folder));
    }
    check(sync_folder(folder.parent_path()));
    return lock;
}

LedgerTables open_any(const fs::path& folder, bool read_only) {
    return checked(open_ledger({.folder = folder, .read_only = read_only}, true));
}

struct Contents {
    std::string mark;
    bool has_rows = false;
};

Contents contents_of(const LedgerTables& opened, const Txn& txn) {
    Contents found;
    int rc = 0;
    found.mark = read_mark(txn.get(), Mark::kCopy, rc);
    for (std::size_t i = 0; rc == 0 && i < opened.handles.size(); ++i) {
        MDB_stat stat{};
        rc = mdb_stat(txn.get(), opened.handles[i], &stat);
        found.has_rows = found.has_rows || stat.ms_entries != 0;
    }
    check(rc, *opened.env, "read");
    return found;
}

// ---- Rows -------------------------------------------------------------------------------------

class Filling final : public EncodedRows<EmbeddedFill> {
public:
    Filling(LedgerTables opened, Fd lock, FillOptions options)
        : opened_(std::move(opened)), lock_(std::move(lock)), options_(std::move(options)) {}

protected:
    void write(Table table, std::string_view key, std::string_view value) override {
        if (!txn_) {
            begin_txn();
        }
        MDB_val key_val = to_val(key);
        MDB_val value_val = to_val(value);
        const int rc =
            mdb_put(txn_->get(), rows_->handle(table), &key_val, &value_val, MDB_NOOVERWRITE);
        if (rc == MDB_KEYEXIST) {
            throw LedgerFailure(
                {ErrorCode::kConflict,
                 std::string("two rows of table ") + name_of(table) +
                     " have one key in a ledger of this kind: it cannot be copied"});
        }
        if (rc != 0) {
            rows_->fail(rc, "write", table);
        }
        bytes_ += key.size() + value.size();
    }
    /// Between two rows a transaction may end.
    void end_row() override {
        ++rows_count_;
        if (++txn_rows_ >= options_.rows_max || bytes_ >= kBytesMax) {
            flush();
        }
    }
    [[nodiscard]] std::uint32_t missing_number(const std::string& node) const override {
        throw DamagedRow("table heads, node " + node, "it is missing", std::nullopt);
    }

public:
    void flush() override {
        if (!txn_) {
            return;
        }
        if (const int rc = txn_->commit(); rc != 0) {
            rows_->fail(rc, "commit", Table::kHeads);
        }
        txn_.reset();
        if (options_.committed) {
            options_.committed(rows_count_);
        }
    }
    std::unique_ptr<WholeReader> written() override {
        return std::make_unique<EmbeddedWhole>(opened_, opened_.begin_reading());
    }
    std::vector<std::string> verify(std::size_t problems_max) override {
        return verify_ledger(opened_, opened_.begin_reading(), {}, problems_max);
    }
    void finish() override {
        begin_txn();
        opened_.check(put_mark(txn_->get(), Mark::kCopy, {}), "write");
        flush();
    }
    /// Deletes everything but the mark.
    void clear(const std::string& from) {
        begin_txn();
        const Contents found = contents_of(opened_, *txn_);
        if (found.mark.empty() && found.has_rows) {
            throw StoreFailure(in_the_way(opened_.env->folder(), "holds a ledger already"));
        }
        int rc = put_mark(txn_->get(), Mark::kCopy, from);
        for (std::size_t i = 0; rc == 0 && i < opened_.handles.size(); ++i) {
            rc = mdb_drop(txn_->get(), opened_.handles[i], 0);
        }
        opened_.check(rc, "write");
        flush();
    }

private:
    void begin_txn() {
        opened_.make_room(kMapBytesFirst);
        WriteTxn txn;
        opened_.check(txn.begin(*opened_.env), "write");
        txn_.emplace(std::move(txn));
        rows_.emplace(opened_, *txn_);
        txn_rows_ = bytes_ = 0;
    }

    LedgerTables opened_;
    Fd lock_;
    FillOptions options_;
    std::optional<WriteTxn> txn_;
    std::optional<RowAccess> rows_;
    std::uint64_t rows_count_ = 0, txn_rows_ = 0, bytes_ = 0;
};

}  // namespace

Result<bool> EmbeddedFill::holds_ledger(const fs::path& folder) {
    return attempt([&] {
        if (is_vacant(folder)) {
            return false;
        }
        const LedgerTables opened = open_any(folder, true);
        ReadTxn txn;
        check(txn.begin(*opened.env), *opened.env, "read");
        const Contents found = contents_of(opened, txn);
        return found.mark.empty() && found.has_rows;
    });
}

Result<std::unique_ptr<EmbeddedFill>> EmbeddedFill::begin(const fs::path& folder,
                                                          const std::string& from,
                                                          const FillOptions& options) {
    try {
        return attempt([&]() -> std::unique_ptr<EmbeddedFill> {
            Fd lock = is_vacant(folder) ? make_marked(folder, from) : lock_folder(folder);
            auto filling =
                std::make_unique<Filling>(open_any(folder, false), std::move(lock), options);
            filling->clear(from);
            return filling;
        });
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::store
