#include "lmdb_store/environment/page_use.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {
namespace {

constexpr MDB_dbi kFreeList = 0;  ///< LMDB's own number of the free list.

struct Reader {
    std::int64_t process = 0;
    std::uint64_t snapshot = 0;
};

/// The reader with the oldest snapshot, of all processes or of all others.
struct OldestReader {
    bool counts_own = true;
    std::optional<Reader> found = {};
};

/// Parses a line of mdb_reader_list(): process, thread in hex, snapshot. Returns nullopt for `-`, a
/// reader without a snapshot.
std::optional<Reader> parse_line(const char* line) noexcept {
    long long process = 0;
    unsigned long long snapshot = 0;
    if (std::sscanf(line, "%lld %*x %llu", &process, &snapshot) != 2) {  // NOLINT(cert-err34-c)
        return std::nullopt;
    }
    return Reader{process, snapshot};
}

int see_reader(const char* line, void* context) noexcept {
    const std::optional<Reader> reader = parse_line(line);
    auto& oldest = *static_cast<OldestReader*>(context);
    if (reader && (oldest.counts_own || reader->process != ::getpid()) &&
        (!oldest.found || reader->snapshot < oldest.found->snapshot)) {
        oldest.found = reader;
    }
    return 0;
}

/// Counts the pages that LMDB may reuse. The key of a free-list row is the transaction that freed
/// its pages, and its value begins with their number. Older snapshots still read them.
int count_free_pages(const Environment& env, const Txn& txn, std::uint64_t& pages) noexcept {
    OldestReader reader;
    if (env.check_lock_file() == 0) {
        mdb_reader_list(env.get(), &see_reader, &reader);
    }
    const std::uint64_t oldest =
        reader.found ? std::min(txn.id(), reader.found->snapshot) : txn.id();
    Cursor cursor;
    int rc = cursor.open(txn, kFreeList);
    MDB_val key{};
    MDB_val value{};
    pages = 0;
    for (MDB_cursor_op move = MDB_FIRST; rc == 0 && (rc = cursor.read(key, value, move)) == 0;
         move = MDB_NEXT) {
        std::uint64_t freed_by = 0;
        std::uint64_t count = 0;
        std::memcpy(&freed_by, key.mv_data, std::min(key.mv_size, sizeof(freed_by)));
        std::memcpy(&count, value.mv_data, std::min(value.mv_size, sizeof(count)));
        if (freed_by > oldest) {
            break;
        }
        pages += count;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

}  // namespace

int count_page_use(Environment& env, PageUse& use) noexcept {
    ReadTxn txn;
    int rc = txn.begin(env);
    std::uint64_t free_pages = 0;
    if (rc != 0 || (rc = count_free_pages(env, txn, free_pages)) != 0) {
        return rc;
    }
    const MDB_envinfo info = env.info();
    const std::uint64_t bytes_to_last_page = (info.me_last_pgno + 1) * env.page_bytes();
    use.bytes_map = info.me_mapsize;
    use.bytes_used =
        bytes_to_last_page - std::min(bytes_to_last_page, free_pages * env.page_bytes());
    return 0;
}

Result<ReaderFindings> check_readers(const std::filesystem::path& folder) {
    const auto environment = Environment::open({.folder = folder, .read_only = true});
    if (!environment) {
        return environment.error();
    }
    ReaderFindings findings{.dead_count = (*environment)->dead_readers_at_open(),
                            .slots = (*environment)->readers_max(),
                            .slots_wanted = kReadersMax};
    OldestReader oldest{.counts_own = false};
    if ((*environment)->check_lock_file() == 0) {
        mdb_reader_list((*environment)->get(), &see_reader, &oldest);
    }
    const std::uint64_t last_txn = (*environment)->info().me_last_txnid;
    if (oldest.found && last_txn > oldest.found->snapshot) {
        findings.oldest_behind = last_txn - oldest.found->snapshot;
        findings.oldest_process = oldest.found->process;
    }
    return findings;
}

}  // namespace sluice::store
