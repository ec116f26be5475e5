#include "worker/copy/snapshot.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "os/files/file_io.hpp"

namespace sluice::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTitle = "sluice ledger snapshot\n";
constexpr std::string_view kSealWord = "seal ";
constexpr const char* kSealedFile = "snapshot";
constexpr std::size_t kSealedBytesMax = 1U << 20;
constexpr std::size_t kKeyDigits = 8;

/// Returns what is sealed: all that the file says but its seal.
Result<std::string> text_of(const fs::path& ledger, std::string_view name) {
    using store::EmbeddedLedger;
    const auto opened = EmbeddedLedger::open(ledger, EmbeddedLedger::Mode::kReadOnly);
    if (!opened) {
        return opened.error();
    }
    const auto reader = (*opened)->whole_snapshot();
    std::string text = std::string(kTitle) + "made " + std::string(name) + "\n";
    reader->scan_heads([&text](const LedgerHead& head) {
        text += "node " + head.node + " " + std::to_string(head.applied_seq.value) + "\n";
    });
    const auto digests = store::RowDigests::make({});
    walk_ledger(*reader, *digests);
    for (const store::TableDigest& table : digests->take()) {
        text += "table " + table.table + " " + std::to_string(table.rows) + " " +
                to_hex(table.sha256) + "\n";
    }
    return text;
}

std::string seal_line(const CommandSeal& seal) {
    std::string key(kKeyDigits, '0');
    std::snprintf(key.data(), key.size() + 1, "%08x", seal.key);
    return std::string(kSealWord) + key + " " + to_hex(seal.mac) + "\n";
}

/// Returns the seal of the file's last line, or nothing if that is no seal.
std::optional<CommandSeal> parse_seal(std::string_view line) {
    if (!line.starts_with(kSealWord) || line.size() < kSealWord.size() + kKeyDigits + 1) {
        return std::nullopt;
    }
    const auto mac =
        parse_hex_digest(line.substr(kSealWord.size() + kKeyDigits + 1), HexCase::kEither);
    std::uint32_t key = 0;
    const char* const from = line.data() + kSealWord.size();
    const auto [at, error] = std::from_chars(from, from + kKeyDigits, key, 16);
    return mac && error == std::errc() && at == from + kKeyDigits
               ? std::optional(CommandSeal{key, *mac})
               : std::nullopt;
}

Error not_sealed(const fs::path& snapshot, const char* why) {
    return {ErrorCode::kConflict, "the snapshot " + snapshot.string() + " " + why};
}

/// Makes the folder, and locks it until the returned descriptor closes.
Result<Fd> lock_folder(const fs::path& folder) {
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return system_error(errno, "create", folder);
    }
    Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.ok()) {
        return system_error(errno, "open", folder);
    }
    if (::flock(opened.get(), LOCK_EX | LOCK_NB) == 0) {
        return opened;
    }
    return errno == EWOULDBLOCK ? busy("another snapshot is being made in " + folder.string())
                                : system_error(errno, "lock", folder);
}

/// Seals the copy in `made`, and gives it its name.
Status finish(const fs::path& made, const fs::path& named, const CommandKeys& keys) {
    const auto text = text_of(made, named.filename().string());
    if (!text) {
        return text.error();
    }
    if (Status written = replace_file(made / kSealedFile, *text + seal_line(keys.seal_text(*text)));
        !written) {
        return written;
    }
    std::error_code failure;
    if (fs::exists(named, failure)) {
        return conflict("a snapshot " + named.string() + " exists already");
    }
    fs::rename(made, named, failure);
    return failure ? system_error(failure.value(), "rename", made)
                   : sync_folder(named.parent_path());
}

}  // namespace

Result<SnapshotMade> make_snapshot(const LedgerPlace& from, const fs::path& snapshots,
                                   const CommandKeys& keys, Timestamp made,
                                   std::function<void(std::uint64_t)> progress) {
    const auto lock = lock_folder(snapshots);
    if (!lock) {
        return lock.error();
    }
    LedgerPlace to{.folder = snapshots / store::kUnfinishedSnapshot};
    std::error_code failure;
    fs::remove_all(to.folder, failure);
    if (failure) {
        return system_error(failure.value(), "remove", to.folder);
    }
    CopyOptions options{.progress = std::move(progress), .is_snapshot = true};
    auto proof = copy_ledger(from, to, options);
    if (!proof) {
        return proof.error();
    }
    if (!proof->holds()) {
        return not_sealed(to.folder, "is not equal to the ledger: check the disk, and try again");
    }
    const fs::path named = snapshots / made.to_string();
    try {
        if (Status finished = finish(to.folder, named, keys); !finished) {
            return finished.error();
        }
    } catch (const LedgerFailure& damaged) {
        return damaged.error();
    }
    return SnapshotMade{named, std::move(*proof)};
}

Result<std::optional<fs::path>> newest_snapshot(const fs::path& snapshots) {
    std::error_code unknown;
    if (!fs::exists(snapshots, unknown)) {
        return std::optional<fs::path>();
    }
    auto names = names_in(snapshots);
    if (!names) {
        return names.error();
    }
    std::optional<std::pair<Timestamp, std::string>> newest;
    for (const std::string& name : *names) {
        if (const auto made = Timestamp::parse(name); made && (!newest || newest->first < *made)) {
            newest.emplace(*made, name);
        }
    }
    return newest ? std::optional(snapshots / newest->second) : std::optional<fs::path>();
}

Status restore_snapshot(const fs::path& snapshot, const CommandKeys& keys, const fs::path& folder) {
    const auto file = read_plain_file(snapshot / kSealedFile, kSealedBytesMax);
    if (!file) {
        return file.error();
    }
    const std::size_t at = file->rfind(kSealWord);
    const auto seal = at == std::string::npos || !file->ends_with('\n')
                          ? std::nullopt
                          : parse_seal(std::string_view(*file).substr(at, file->size() - at - 1));
    if (!seal) {
        return not_sealed(snapshot, "has no seal");
    }
    if (!keys.verify_text(file->substr(0, at), *seal)) {
        return not_sealed(
            snapshot,
            "was changed, or was sealed by another key: `sluice key rotate` ends what "
            "was sealed before it, and --command-key names the key of another store");
    }
    std::error_code failure;
    fs::create_directory(folder, failure);
    // A new ledger has the lock file that every program asks for.
    if (Status created = store::EmbeddedLedger::create(folder); !created) {
        return created;
    }
    fs::copy_file(snapshot / "data.mdb", folder / "data.mdb", fs::copy_options::overwrite_existing,
                  failure);
    if (failure) {
        return system_error(failure.value(), "copy", snapshot / "data.mdb");
    }
    try {
        const auto text = text_of(folder, snapshot.filename().string());
        if (!text) {
            return text.error();
        }
        if (*text == file->substr(0, at)) {
            return {};
        }
    } catch (const LedgerFailure&) {
        // A row that cannot be read differs from the sealed one.
    }
    return not_sealed(snapshot, "has other rows than those that were sealed");
}

}  // namespace sluice::worker
