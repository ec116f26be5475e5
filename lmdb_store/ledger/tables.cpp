#include "lmdb_store/ledger/tables.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "lmdb_store/environment/reaction.hpp"
#include "lmdb_store/environment/table_access.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kCopyKey = "unfinished copy";
constexpr std::string_view kRebuildKey = "unfinished rebuild";

constexpr std::string_view key_of(Mark mark) noexcept {
    return mark == Mark::kCopy ? kCopyKey : kRebuildKey;
}

Error refused(std::uint32_t format, const std::filesystem::path& folder) {
    if (format == 0) {
        return {ErrorCode::kCorrupt,
                "the ledger in \"" + folder.string() +
                    "\" does not say its format: keep the files, then restore "
                    "a backup or run `sluice ledger rebuild` from the archive"};
    }
    if (format < kLedgerFormat) {
        return {ErrorCode::kUnsupported,
                "ledger: written by an earlier sluice (format " + std::to_string(format) +
                    "); rebuild it: sluice ledger rebuild --from ARCHIVE --into DIR"};
    }
    return {ErrorCode::kUnsupported,
            "ledger: written by a later sluice (format " + std::to_string(format) + " in \"" +
                folder.string() + "\"; this release reads " + std::to_string(kLedgerFormat) + ")"};
}

Error unfinished(Mark mark, const std::string& from, const std::filesystem::path& folder) {
    const bool is_copy = mark == Mark::kCopy;
    return {ErrorCode::kConflict,
            "\"" + folder.string() + "\" is an unfinished " +
                (is_copy ? "copy of " : "rebuild of ") + from +
                (is_copy ? ": run the same `sluice ledger copy` again, or remove the folder"
                         : ": remove the folder, and run the same `sluice ledger rebuild` again")};
}

}  // namespace

const std::array<const char*, kLedgerTables>& ledger_tables() {
    static const auto names = [] {
        std::array<const char*, kLedgerTables> all{};
        std::ranges::copy(kOwnTables, all.begin());
        for (const DescribedTable& table : described_tables()) {
            all[kOwnTables.size() + table.number] = table.name;
        }
        return all;
    }();
    return names;
}

std::vector<Table> tables_by_name() {
    std::vector<Table> tables;
    for (std::size_t i = 0; i < kLedgerTables; ++i) {
        if (!is_part_of_orders(static_cast<Table>(i))) {
            tables.push_back(static_cast<Table>(i));
        }
    }
    std::ranges::sort(tables, [](Table a, Table b) {
        return std::string_view(name_of(a)) < std::string_view(name_of(b));
    });
    return tables;
}

std::string read_mark(MDB_txn* txn, Mark mark, int& rc) {
    MDB_val key = to_val(key_of(mark));
    MDB_val value{};
    MDB_dbi main = 0;
    rc = mdb_dbi_open(txn, nullptr, 0, &main);
    rc = rc == 0 ? mdb_get(txn, main, &key, &value) : rc;
    const bool is_marked = rc == 0;
    rc = rc == MDB_NOTFOUND ? 0 : rc;
    return is_marked ? std::string(to_view(value)) : std::string();
}

int put_mark(MDB_txn* txn, Mark mark, std::string_view from) {
    MDB_val key = to_val(key_of(mark));
    MDB_val value = to_val(from);
    MDB_dbi main = 0;
    if (const int rc = mdb_dbi_open(txn, nullptr, 0, &main); rc != 0) {
        return rc;
    }
    const int rc =
        from.empty() ? mdb_del(txn, main, &key, nullptr) : mdb_put(txn, main, &key, &value, 0);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

int create_ledger_tables(MDB_txn* txn) {
    const std::uint32_t format = kLedgerFormat;
    const int rc = create_tables(txn, ledger_tables());
    return rc == 0
               ? put_main(txn, kFormatKey, {reinterpret_cast<const char*>(&format), sizeof(format)})
               : rc;
}

void LedgerTables::check(int rc, std::string_view doing) const {
    if (rc != 0) {
        throw LedgerFailure(env->error(rc, doing));
    }
}

ReadTxn LedgerTables::begin_reading() const {
    ReadTxn txn;
    check(txn.begin(*env), "read");
    return txn;
}

/// A transaction needs pages before it frees any, so the map grows before it is full.
void LedgerTables::make_room(std::uint64_t map_bytes_first, bool is_full) const {
    const MDB_envinfo info = env->info();
    const std::uint64_t map_bytes = info.me_mapsize;
    const std::uint64_t used = (info.me_last_pgno + 1) * env->page_bytes();
    if (is_full || map_bytes < map_bytes_first || used >= map_bytes / 4 * 3) {
        check(env->set_map_bytes(std::max(map_bytes * 2, map_bytes_first)), "enlarge the map of");
    }
}

namespace {

void check_ledger_format(Environment& env, bool takes_unfinished) {
    ReadTxn txn;
    MDB_dbi main = 0;
    check(txn.begin(env), env, "read");
    check(mdb_dbi_open(txn.get(), nullptr, 0, &main), env, "read");
    const auto stored = find(txn, main, kFormatKey);
    std::uint32_t format = 0;
    if (stored && stored->size() == sizeof(format)) {
        std::memcpy(&format, stored->data(), sizeof(format));
    }
    if (format != kLedgerFormat) {
        throw StoreFailure(refused(format, env.folder()));
    }
    for (const Mark mark : {Mark::kCopy, Mark::kRebuild}) {
        int rc = 0;
        const std::string from = takes_unfinished ? std::string() : read_mark(txn.get(), mark, rc);
        check(rc, env, "read");
        if (!from.empty()) {
            throw StoreFailure(unfinished(mark, from, env.folder()));
        }
    }
}

}  // namespace

Result<LedgerTables> open_ledger(EnvironmentOptions options, bool takes_unfinished) {
    options.databases_max = kLedgerTables;
    return attempt([&] {
        LedgerTables tables{checked(Environment::open(options))};
        check_ledger_format(*tables.env, takes_unfinished);
        check(tables.env->open_databases(ledger_tables(), tables.handles, false));
        return tables;
    });
}

/// Appends where possible, because LMDB fills a page only by appending: otherwise it moves the last
/// row of a full page to the next. MDB_KEYEXIST says that the row is not the last one.
int KeptCursor::put(MDB_val key, MDB_val value) noexcept {
    if (puts_left_ == 0) {
        const int rc = mdb_cursor_put(cursor_.get(), &key, &value, MDB_APPEND);
        if (rc != MDB_KEYEXIST) {
            puts_between_ = 0;
            return rc;
        }
        puts_between_ = std::min(2 * puts_between_ + 1, kPutsBetweenMax);
        puts_left_ = puts_between_;
    } else {
        --puts_left_;
    }
    return mdb_cursor_put(cursor_.get(), &key, &value, 0);
}

std::optional<std::string_view> RowAccess::get(Table table, std::string_view key) const {
    if (key.empty()) {
        return std::nullopt;  // LMDB has no such keys, and returns an error
    }
    MDB_val key_val = to_val(key);
    MDB_val value{};
    const int rc = kept_ != nullptr ? kept_cursor(table).cursor().read(key_val, value, MDB_SET)
                                    : mdb_get(txn_->get(), handle(table), &key_val, &value);
    if (rc == MDB_NOTFOUND) {
        return std::nullopt;
    }
    if (rc != 0) {
        fail(rc, "read", table);
    }
    return to_view(value);
}

std::uint64_t RowAccess::count(Table table) const {
    MDB_stat stat{};
    if (const int rc = mdb_stat(txn_->get(), handle(table), &stat); rc != 0) {
        fail(rc, "read", table);
    }
    return stat.ms_entries;
}

void RowAccess::fail(int rc, std::string_view doing, Table table) const {
    if (rc == EIO && disk_is_full(folder())) {
        rc = ENOSPC;  // LMDB reports a short write as an I/O error
    }
    throw LedgerFailure(
        env_->error(rc, std::string(doing) + " table \"" + name_of(table) + "\" in"));
}

void RowAccess::damaged(const std::string& row, std::optional<OrderKey> order) const {
    throw DamagedRow(
        row,
        "its bytes are not those that were written. Keep the files in \"" +
            env_->folder().string() +
            "\", then restore a backup or run `sluice ledger rebuild` from the archive",
        std::move(order));
}

std::string RowAccess::place_of(Table table, std::string_view key) {
    return std::string("table ") + name_of(table) + ", key " +
           to_hex({reinterpret_cast<const std::uint8_t*>(key.data()), key.size()});
}

void RowAccess::open_kept(Cursor& cursor, Table table) const {
    if (const int rc = cursor.open(*txn_, handle(table)); rc != 0) {
        fail(rc, "read", table);
    }
}

RowCursor::RowCursor(const RowAccess& rows, Table table) : rows_(&rows), table_(table) {
    if (const int rc = cursor_.open(rows.txn(), rows.handle(table)); rc != 0) {
        rows.fail(rc, "read", table);
    }
}

bool RowCursor::move(std::string_view key, MDB_cursor_op operation) {
    if (operation == MDB_SET_RANGE) {
        key_ = to_val(key);
    }
    const int rc = cursor_.read(key_, value_, operation);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        rows_->fail(rc, "read", table_);
    }
    return rc == 0;
}

}  // namespace sluice::store
