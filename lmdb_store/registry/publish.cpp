#include "lmdb_store/registry/publish.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/intake/registry_view.hpp"
#include "core/values/crc32c.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "os/files/file_owner.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_of(const Environment& registry) noexcept {
    return (registry.info().me_last_pgno + 1) * registry.page_bytes();
}

/// Returns how many tokens that sign an account has at most, for the registry's reader. Counts
/// expired tokens too, because the copy outlives them, and all shops of an account together.
std::uint32_t count_signing_tokens(const RegistryTables& tables, const Txn& txn) {
    std::unordered_map<std::uint64_t, std::uint32_t> counts;  // by account and scope
    std::uint32_t most = 1;
    scan(txn, tables.tokens, "", [&](std::string_view id, std::string_view bytes) {
        const std::optional<StoredToken> token = decode_token(id, bytes);
        const unsigned signs = token ? token->row.scopes & unsigned{kSigningScopes} : 0;
        for (unsigned scope = 1; scope <= signs && !token->row.revoked_at; scope <<= 1U) {
            if ((signs & scope) != 0) {
                const std::uint64_t key = std::uint64_t{token->account_number.value} << 8 | scope;
                most = std::max(most, ++counts[key]);
            }
        }
    });
    return std::min(most, kActiveTokensMax);
}

/// Writes the committed pages and a seal. Requires: no process writes to the registry meanwhile.
int write_pages(int to, const Environment& registry, CopySeal seal) {
    seal.bytes = bytes_of(registry);
    std::uint32_t crc = 0;
    const int rc =
        each_piece(registry.fd(), seal.bytes, [&](std::uint64_t at, std::string_view piece) {
            crc = crc32c(crc, piece);
            return write_at(to, piece, at);
        });
    if (rc != 0) {
        return rc;
    }
    seal.crc = seal.crc_after(crc);
    return write_at(to, {reinterpret_cast<const char*>(&seal), sizeof(seal)}, seal.bytes);
}

/// @param lock  The registry's writer lock.
void publish_locked(const StorePaths& paths, const RegistryTables& tables, const WriteTxn& lock) {
    const MappedFile page = map_generation(generation_file(paths), [&paths] {
        return create_generation(paths, owner_like(paths.format, paths));
    });
    auto& counter = *static_cast<std::atomic<std::uint64_t>*>(page.data());
    const Result<SealedCopy> last = open_sealed_copy(paths, 0);
    CopySeal seal;
    seal.generation = std::max(counter.load(), last ? last->seal.generation : 0) + 1;
    seal.signing_tokens_max = count_signing_tokens(tables, lock);
    replace_published(published_file(paths), owner_like(generation_file(paths), paths),
                      [&](int to) { return write_pages(to, *tables.environment, seal); });
    counter.store(seal.generation, std::memory_order_release);
}

bool is_published(const StorePaths& paths, const Environment& registry) {
    const Result<PublishedGeneration> page = PublishedGeneration::open(paths);
    const Result<SealedCopy> copy = open_copy(paths);
    if (!page || !copy || copy->seal.generation != page->current() ||
        copy->seal.bytes != bytes_of(registry)) {
        return false;
    }
    std::uint32_t crc = 0;
    std::string other;
    const auto compare = [&](std::uint64_t at, std::string_view piece) {
        crc = crc32c(crc, piece);
        other.resize(piece.size());
        const std::int64_t count = read_at(copy->file.get(), other.data(), other.size(), at);
        return count == static_cast<std::int64_t>(piece.size()) && other == piece ? 0 : EIO;
    };
    return each_piece(registry.fd(), copy->seal.bytes, compare) == 0 &&
           copy->seal.crc_after(crc) == copy->seal.crc;
}

}  // namespace

FileOwner owner_like(const fs::path& path, const StorePaths& paths) {
    struct stat info {};
    const bool is_known =
        ::stat(path.c_str(), &info) == 0 || ::stat(paths.format.c_str(), &info) == 0;
    return is_known ? FileOwner{info.st_uid, info.st_gid, static_cast<mode_t>(info.st_mode & 0777U)}
                    : FileOwner{};
}

MappedFile map_generation(const fs::path& page, const std::function<Status()>& create) {
    Result<MappedFile> mapped = MappedFile::open(page, kGenerationBytes);
    if (!mapped && (mapped.error().code == ErrorCode::kNotFound ||
                    mapped.error().code == ErrorCode::kInvalid)) {
        check(create());
        mapped = MappedFile::open(page, kGenerationBytes);
    }
    return checked(std::move(mapped));
}

void replace_published(const fs::path& path, const FileOwner& owner,
                       const std::function<int(int fd)>& write) {
    TemporaryFile temporary(path.string() + ".new");
    const fs::path part = temporary.c_str();
    const auto done = [](int rc, const char* doing, const fs::path& file) {
        if (rc != 0) {
            throw StoreFailure(system_error(rc, doing, file));
        }
    };
    ::unlink(part.c_str());  // left by a process that was killed
    const Fd fd(open_retrying(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    done(fd.ok() ? 0 : errno, "create", part);
    done(write(fd.get()), "write", part);
    done(set_owner(fd.get(), owner.user, owner.group, owner.mode), "set the owner of", part);
    done(::fsync(fd.get()) == 0 ? 0 : errno, "write", part);
    done(::rename(part.c_str(), path.c_str()) == 0 ? 0 : errno, "replace", path);
    temporary.keep();
    check(sync_folder(path.parent_path()));
}

Status create_generation(const StorePaths& paths, const FileOwner& owner) {
    return replace_file(generation_file(paths), std::string(kGenerationBytes, '\0'), owner);
}

Status publish_registry(const StorePaths& paths, const RegistryTables& tables) {
    return attempt([&] {
        WriteTxn lock;  // writes nothing
        check(lock.begin(*tables.environment), *tables.environment, "publish");
        publish_locked(paths, tables, lock);
    });
}

Status publish_registry(const StorePaths& paths) {
    const auto tables = RegistryTables::open(paths);
    return tables ? publish_registry(paths, *tables) : Status(tables.error());
}

Status publish_if_behind(const StorePaths& paths, const RegistryTables& tables) {
    if (is_published(paths, *tables.environment)) {
        return Status::success();
    }
    return attempt([&] {
        WriteTxn lock;  // of the process that publishes now, if there is one
        check(lock.begin(*tables.environment), *tables.environment, "publish");
        if (!is_published(paths, *tables.environment)) {
            publish_locked(paths, tables, lock);
        }
    });
}

Status check_published(const StorePaths& paths) {
    const Result<PublishedGeneration> page = PublishedGeneration::open(paths);
    if (!page) {
        return page.error();
    }
    const Result<RegistryTables> tables = RegistryTables::open_published(paths, page->current());
    return tables ? Status::success() : Status(tables.error());
}

}  // namespace sluice::store
