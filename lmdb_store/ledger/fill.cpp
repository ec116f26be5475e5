#include "lmdb_store/ledger/fill.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

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
Result<bool> is_vacant(const fs::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) {
        return errno == ENOENT ? Result<bool>(true)
                               : Result<bool>(system_error(errno, "look at", folder));
    }
    if (!S_ISDIR(info.st_mode)) {
        return in_the_way(folder, "is not a folder");
    }
    const auto names = names_in(folder);
    if (!names) {
        return names.error();
    }
    if (!names->empty() && ::access((folder / "data.mdb").c_str(), F_OK) != 0) {
        return in_the_way(folder, "is not empty, and is no ledger");
    }
    return names->empty();
}

Result<Fd> lock_folder(const fs::path& folder) {
    Fd lock(open_retrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
    if (!lock.ok()) {
        return system_error(errno, "open", folder);
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK
                   ? Result<Fd>(Error{ErrorCode::kBusy,
                                      "another copy to \"" + folder.string() + "\" is running"})
                   : Result<Fd>(system_error(errno, "lock", folder));
    }
    return lock;
}

/// Creates the ledger under another name and renames it, so that a kill leaves no half of it.
/// Returns its lock.
Result<Fd> make_marked(const fs::path& folder, const std::string& from) {
    const fs::path made = folder.string() + ".new";
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_error(errno, "make", made);
    }
    auto lock = lock_folder(made);
    if (!lock) {
        return lock;
    }
    std::error_code failure;
    for (const char* file : {"data.mdb", "lock.mdb"}) {
        fs::remove(made / file, failure);  // a process that was killed here left them
    }
    const FileOwner owner{};
    Status created = Environment::create(made, owner, owner, [&from](MDB_txn* txn) {
        const int rc = create_ledger_tables(txn);
        return rc == 0 ? put_copy_mark(txn, from) : rc;
    });
    if (!created) {
        return created.error();
    }
    if (::rename(made.c_str(), folder.c_str()) != 0) {
        return system_error(errno, "make", folder);
    }
    Status durable = sync_folder(folder.parent_path());
    return durable ? std::move(lock) : Result<Fd>(durable.error());
}

Result<LedgerTables> open_any(const fs::path& folder, bool read_only) {
    EnvironmentOptions options;
    options.folder = folder;
    options.read_only = read_only;
    return open_ledger(options, true);
}

struct Contents {
    std::string mark;
    bool has_rows = false;
};

Result<Contents> contents_of(const LedgerTables& opened, const Txn& txn) {
    Contents found;
    int rc = 0;
    found.mark = copy_mark(txn.get(), rc);
    for (std::size_t i = 0; rc == 0 && i < opened.handles.size(); ++i) {
        MDB_stat stat{};
        rc = mdb_stat(txn.get(), opened.handles[i], &stat);
        found.has_rows = found.has_rows || stat.ms_entries != 0;
    }
    return rc == 0 ? Result<Contents>(found) : Result<Contents>(opened.env->error(rc, "read"));
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
        opened_.check(put_copy_mark(txn_->get(), {}), "write");
        flush();
    }
    /// Deletes everything but the mark.
    void clear(const std::string& from) {
        begin_txn();
        const auto found = contents_of(opened_, *txn_);
        if (!found) {
            throw LedgerFailure(found.error());
        }
        if (found->mark.empty() && found->has_rows) {
            throw LedgerFailure(in_the_way(opened_.env->folder(), "holds a ledger already"));
        }
        int rc = put_copy_mark(txn_->get(), from);
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
    const auto vacant = is_vacant(folder);
    if (!vacant || *vacant) {
        return vacant ? Result<bool>(false) : Result<bool>(vacant.error());
    }
    const auto opened = open_any(folder, true);
    if (!opened) {
        return opened.error();
    }
    ReadTxn txn;
    if (const int rc = txn.begin(*opened->env); rc != 0) {
        return opened->env->error(rc, "read");
    }
    const auto found = contents_of(*opened, txn);
    return found ? Result<bool>(found->mark.empty() && found->has_rows)
                 : Result<bool>(found.error());
}

Result<std::unique_ptr<EmbeddedFill>> EmbeddedFill::begin(const fs::path& folder,
                                                          const std::string& from,
                                                          const FillOptions& options) {
    const auto vacant = is_vacant(folder);
    if (!vacant) {
        return vacant.error();
    }
    auto lock = *vacant ? make_marked(folder, from) : lock_folder(folder);
    if (!lock) {
        return lock.error();
    }
    auto opened = open_any(folder, false);
    if (!opened) {
        return opened.error();
    }
    try {
        auto filling =
            std::make_unique<Filling>(std::move(*opened), std::move(lock).value(), options);
        filling->clear(from);
        return std::unique_ptr<EmbeddedFill>(std::move(filling));
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::store
