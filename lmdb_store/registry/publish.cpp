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
#include "os/files/mapped_file.hpp"

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
        return true;
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

/// Replaces the copy. Its temporary name belongs to the holder of the writer lock. Owner and mode
/// are those of the generation's page.
Status replace_copy(const StorePaths& paths, const Environment& registry, const CopySeal& seal) {
    TemporaryFile temporary(published_file(paths).string() + ".new");
    const fs::path path = temporary.c_str();
    struct stat owner {};
    ::unlink(path.c_str());  // left by a process that was killed
    const Fd fd(open_retrying(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    if (!fd.ok() || ::stat(generation_file(paths).c_str(), &owner) != 0) {
        return system_error(errno, "create", path);
    }
    if (const int rc = write_pages(fd.get(), registry, seal); rc != 0) {
        return system_error(rc, "write", path);
    }
    const mode_t mode = owner.st_mode & 0777U;
    if (const int rc = set_owner(fd.get(), owner.st_uid, owner.st_gid, mode); rc != 0) {
        return system_error(rc, "set the owner of", path);
    }
    if (::fsync(fd.get()) != 0) {
        return system_error(errno, "write", path);
    }
    if (::rename(path.c_str(), published_file(paths).c_str()) != 0) {
        return system_error(errno, "replace", published_file(paths));
    }
    temporary.keep();
    return sync_folder(paths.registry);
}

/// Maps the page for writing. Replaces one that is missing or cut off, as readable as the store's
/// format; nginx then opens the store again.
Result<MappedFile> map_page(const StorePaths& paths) {
    Result<MappedFile> page = MappedFile::open(generation_file(paths), kGenerationBytes);
    if (page ||
        (page.error().code != ErrorCode::kNotFound && page.error().code != ErrorCode::kInvalid)) {
        return page;
    }
    struct stat format {};
    if (::stat(paths.format.c_str(), &format) != 0) {
        return system_error(errno, "inspect", paths.format);
    }
    Status made = create_generation(
        paths, {format.st_uid, format.st_gid, static_cast<mode_t>(format.st_mode & 0777U)});
    return made ? MappedFile::open(generation_file(paths), kGenerationBytes)
                : Result<MappedFile>(made.error());
}

/// @param lock  The registry's writer lock.
Status publish_locked(const StorePaths& paths, const RegistryTables& tables, const WriteTxn& lock) {
    const Result<MappedFile> page = map_page(paths);
    if (!page) {
        return page.error();
    }
    auto& counter = *static_cast<std::atomic<std::uint64_t>*>(page->data());
    const Result<SealedCopy> last = open_sealed_copy(paths, 0);
    CopySeal seal;
    seal.generation = std::max(counter.load(), last ? last->seal.generation : 0) + 1;
    seal.signing_tokens_max = count_signing_tokens(tables, lock);
    if (Status replaced = replace_copy(paths, *tables.environment, seal); !replaced) {
        return replaced;
    }
    counter.store(seal.generation, std::memory_order_release);
    return Status::success();
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

Status create_generation(const StorePaths& paths, const FileOwner& owner) {
    return replace_file(generation_file(paths), std::string(kGenerationBytes, '\0'), owner);
}

Status publish_registry(const StorePaths& paths, const RegistryTables& tables) {
    return attempt([&]() -> Status {
        WriteTxn lock;  // writes nothing
        check(lock.begin(*tables.environment), *tables.environment, "publish");
        return publish_locked(paths, tables, lock);
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
    return attempt([&]() -> Status {
        WriteTxn lock;  // of the process that publishes now, if there is one
        check(lock.begin(*tables.environment), *tables.environment, "publish");
        return is_published(paths, *tables.environment) ? Status::success()
                                                        : publish_locked(paths, tables, lock);
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
