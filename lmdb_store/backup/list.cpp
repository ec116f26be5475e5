#include "lmdb_store/backup/list.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>
#include <sstream>
#include <system_error>

#include "lmdb_store/backup/file_copy.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListName = "backup";
constexpr std::string_view kFirstLine = "sluice backup 1\n";
constexpr std::string_view kLastLine = "end\n";
constexpr std::size_t kListBytesMax = std::size_t{256} << 20;

Error not_a_backup(const fs::path& folder) {
    return {ErrorCode::kNotFound, "\"" + folder.string() +
                                      "\" is no complete backup: it has no list that `sluice "
                                      "backup` writes last (file \"backup\")"};
}

std::string print_list(const Backup& backup) {
    std::ostringstream text;
    text << kFirstLine << "queue " << backup.queue_uuid << "\ngroup "
         << (backup.group.empty() ? "-" : backup.group) << "\nledger "
         << (backup.has_ledger ? "own" : "postgresql") << "\napplied " << backup.applied.value
         << "\nlast " << backup.last.value << "\nwaiting " << backup.waiting << "\n";
    for (const BackupFile& file : backup.files) {
        text << "file " << file.crc << " " << file.bytes << " " << file.path << "\n";
    }
    text << kLastLine;
    return text.str();
}

/// Returns false for a line that this release did not write.
bool read_line(const std::string& line, Backup& backup) {
    std::istringstream words(line);
    std::string name;
    std::string value;
    words >> name;
    if (name == "file") {
        BackupFile file;
        words >> file.crc >> file.bytes >> file.path;
        backup.files.push_back(file);
    } else if (name == "applied") {
        words >> backup.applied.value;
    } else if (name == "last") {
        words >> backup.last.value;
    } else if (name == "waiting") {
        words >> backup.waiting;
    } else if (words >> value; name == "queue") {
        backup.queue_uuid = value;
    } else if (name == "group") {
        backup.group = value == "-" ? "" : value;
    } else if (name == "ledger") {
        backup.has_ledger = value == "own";
    } else {
        return false;
    }
    return !words.fail();
}

/// Returns true for a path below the folder, whatever a changed list says.
bool is_below(const std::string& path) {
    const fs::path relative(path);
    return relative.is_relative() &&
           std::ranges::none_of(relative, [](const fs::path& part) { return part == ".."; });
}

std::optional<Backup> parse_list(const std::string& text) {
    const bool whole = text.starts_with(kFirstLine) && text.ends_with(kLastLine);
    if (!whole) {
        return std::nullopt;
    }
    Backup backup;
    std::istringstream lines(
        text.substr(kFirstLine.size(), text.size() - kFirstLine.size() - kLastLine.size()));
    for (std::string line; std::getline(lines, line);) {
        if (!read_line(line, backup)) {
            return std::nullopt;
        }
    }
    const bool sound = std::ranges::all_of(
        backup.files, [](const BackupFile& file) { return is_below(file.path); });
    return sound && !backup.queue_uuid.empty() ? std::optional(backup) : std::nullopt;
}

}  // namespace

std::uint64_t Backup::bytes() const noexcept {
    return std::accumulate(
        files.begin(), files.end(), std::uint64_t{0},
        [](std::uint64_t sum, const BackupFile& file) { return sum + file.bytes; });
}

void seal_backup(const fs::path& folder, Backup& backup) {
    std::error_code error;
    std::vector<fs::path> folders{folder};
    for (auto entry = fs::recursive_directory_iterator(folder, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        if (entry->is_directory()) {
            folders.push_back(entry->path());
        } else if (entry->path().filename() != "lock.mdb") {
            const FileSum file = read_whole(entry->path());
            // Another library may have written it.
            check(checked(OpenFile::open(entry->path(), OpenFile::Mode::kRead)).sync());
            backup.files.push_back(
                {fs::relative(entry->path(), folder).string(), file.bytes, file.crc});
        }
    }
    if (error) {
        throw StoreFailure(system_error(error.value(), "read", folder));
    }
    for (const fs::path& inner : folders) {
        fs::remove(inner / "lock.mdb", error);
        check(sync_folder(inner));
    }
    std::ranges::sort(backup.files,
                      [](const BackupFile& a, const BackupFile& b) { return a.path < b.path; });
    check(sync_folder(fs::absolute(folder).parent_path()));
    check(replace_file(folder / kListName, print_list(backup)));
}

Result<Backup> read_backup(const fs::path& folder) {
    const auto text = read_file(folder / kListName, kListBytesMax);
    if (!text) {
        return text.error().code == ErrorCode::kNotFound ? not_a_backup(folder) : text.error();
    }
    auto backup = parse_list(*text);
    return backup ? Result<Backup>(std::move(*backup)) : Result<Backup>(not_a_backup(folder));
}

void check_files(const fs::path& folder, const Backup& backup) {
    for (const BackupFile& listed : backup.files) {
        const FileSum file = read_whole(folder / listed.path);
        if (file.bytes != listed.bytes || file.crc != listed.crc) {
            throw StoreFailure(corrupt("\"" + (folder / listed.path).string() +
                                       "\" is not what `sluice backup` wrote: use another backup"));
        }
    }
}

// -- NewFolder ------------------------------------------------------------------------------------

NewFolder::NewFolder(const fs::path& folder) {
    is_created_ = ::mkdir(folder.c_str(), 0700) == 0;
    if (!is_created_ && errno != EEXIST) {
        throw StoreFailure(system_error(errno, "create", folder));
    }
    std::error_code error;
    const bool is_empty = fs::is_directory(folder, error) && fs::is_empty(folder, error);
    if (!is_created_ && (error || !is_empty)) {
        // A backup has no worker.lock, and an interrupted restore no format file.
        const bool is_store =
            fs::exists(folder / "format", error) && fs::exists(folder / "worker.lock", error);
        throw StoreFailure(conflict(
            "\"" + folder.string() + "\" is not an empty folder; nothing was changed: " +
            (is_store ? "it is a store. Name a new folder, or move the store away first"
                      : "name a new one. If an interrupted \"sluice backup\" or \"sluice restore\" "
                        "left it, remove it: it may hold keys")));
    }
    folder_ = folder;
}

NewFolder::~NewFolder() {
    if (folder_.empty()) {
        return;
    }
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
        fs::remove_all(entry.path(), ignored);
    }
    if (is_created_) {
        fs::remove(folder_, ignored);
    }
}

}  // namespace sluice::store
