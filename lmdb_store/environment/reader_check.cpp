#include "lmdb_store/environment/reader_check.hpp"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {
namespace {

struct Reader {
    std::int64_t process = 0;
    std::uint64_t snapshot = 0;
};

/// One line of mdb_reader_list(): process, thread in hex, snapshot (or `-`: it reads nothing now).
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
    auto& oldest = *static_cast<std::optional<Reader>*>(context);
    if (reader && reader->process != ::getpid() &&
        (!oldest || reader->snapshot < oldest->snapshot)) {
        oldest = reader;
    }
    return 0;
}

}  // namespace

Result<ReaderFindings> look_at_readers(const std::filesystem::path& folder) {
    const auto environment = Environment::open({.folder = folder, .read_only = true});
    if (!environment) {
        return environment.error();
    }
    ReaderFindings findings;
    findings.dead_count = (*environment)->dead_readers_at_open();
    findings.slots = (*environment)->readers_max();
    findings.slots_wanted = kReadersMax;
    std::optional<Reader> oldest;
    mdb_reader_list((*environment)->get(), &see_reader, &oldest);
    const std::uint64_t last_txn = (*environment)->info().me_last_txnid;
    if (oldest && last_txn > oldest->snapshot) {
        findings.oldest_behind = last_txn - oldest->snapshot;
        findings.oldest_process = oldest->process;
    }
    return findings;
}

}  // namespace sluice::store
