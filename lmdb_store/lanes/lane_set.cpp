#include "lmdb_store/lanes/lane_set.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>

#include "lmdb_store/environment/store_failure.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".lane";
constexpr std::string_view kUnfinished = "new.";
constexpr std::uint64_t kKeepOpenNs = 5'000'000'000;
constexpr const char* kRemedy =
    "; nothing was changed. The file may hold events that were answered: put the right file back, "
    "or restore the store from a backup (\"sluice queue drop-lanes\" abandons the events of a lane "
    "that is missing)";

}  // namespace

Status LaneSet::create(const StorePaths& paths, const FileOwner& folder_owner,
                       const FileOwner& file_owner) {
    if (::mkdir(paths.lanes.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_error(errno, "create", paths.lanes);
    }
    Status ok = set_owner(paths.lanes, folder_owner);
    ok = ok ? LaneCells::create(paths.lane_cells, file_owner) : ok;
    return ok ? sync_folder(paths.queue) : ok;
}

Result<std::unique_ptr<LaneSet>> LaneSet::open(const StorePaths& paths, bool sync) {
    return attempt([&] {
        const std::optional<Uuid> store = parse_uuid(checked(read_store_format(paths)).uuid);
        if (!store) {
            throw StoreFailure(corrupt("\"" + paths.format.string() +
                                       "\" names no store: restore it from a backup"));
        }
        const Uuid boot = checked(read_boot_id());
        LaneCells cells = checked(LaneCells::open(paths.lane_cells));
        struct stat info {};
        if (::stat(paths.lane_cells.c_str(), &info) != 0) {
            throw StoreFailure(system_error(errno, "inspect", paths.lane_cells));
        }
        std::unique_ptr<LaneSet> lanes(new LaneSet(paths, std::move(cells)));
        lanes->store_ = *store;
        lanes->boot_ = boot;
        lanes->sync_ = sync;
        lanes->file_owner_.mode = info.st_mode & 0777U;
        if (::geteuid() == 0) {  // nginx may run as root, and the worker as the owner of the store
            lanes->file_owner_.user = info.st_uid;
            lanes->file_owner_.group = info.st_gid;
        }
        return lanes;
    });
}

fs::path LaneSet::path_of(std::uint32_t number) const {
    return folder_ / (std::to_string(number) + std::string(kSuffix));
}

Status LaneSet::check_file(const LaneFile& file, const LaneRow& row) const {
    const auto wrong = [&](const char* what) {
        return Error{ErrorCode::kCorrupt, "\"" + file.path().string() + "\" " + what + kRemedy};
    };
    if (file.head().identity.store != store_) {
        return wrong("belongs to another store");
    }
    if (file.head().identity.lane != row.lane) {
        return wrong("is another lane than the queue has under this name");
    }
    if (file.head().bytes != row.bytes) {
        return wrong("has another size than the queue has recorded");
    }
    return Status::success();
}

Result<LaneFile> LaneSet::open_file(const LaneRow& row) const {
    Result<LaneFile> file = LaneFile::open(path_of(row.number), sync_);
    if (!file) {
        const Error& error = file.error();
        const bool is_lost =
            error.code == ErrorCode::kNotFound || error.code == ErrorCode::kCorrupt;
        return is_lost ? Error{ErrorCode::kCorrupt, error.message + kRemedy} : error;
    }
    if (Status right = check_file(*file, row); !right) {
        return right.error();
    }
    return file;
}

Result<std::shared_ptr<LaneFile>> LaneSet::file(const LaneRow& row) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t now_ns = monotonic_ns();
    close_unused(now_ns);
    Kept& kept = files_[row.number];
    kept.used_ns = now_ns;
    std::shared_ptr<LaneFile>& known = kept.file;
    if (known != nullptr && known->still_in_place() && known->head().identity == identity_of(row)) {
        return known;
    }
    known.reset();
    Result<LaneFile> opened = open_file(row);
    if (!opened) {
        return opened.error();
    }
    known = std::make_shared<LaneFile>(std::move(*opened));
    return known;
}

/// Closes files that were not used for a while. Reloads leave more lanes behind than are in use.
void LaneSet::close_unused(std::uint64_t now_ns) {
    std::erase_if(files_,
                  [&](const auto& kept) { return now_ns - kept.second.used_ns > kKeepOpenNs; });
}

/// Returns true if any block of the file begins a batch of its lane that holds records.
bool LaneSet::holds_events(const std::string& name) const {
    const LaneFile file = checked(LaneFile::open(folder_ / name, sync_));
    LaneBuffers buffers;
    LaneFileSource source(file, buffers);
    source.expect_end(file.head().bytes);
    for (std::uint64_t at = 0; at < file.head().bytes; at += kLaneBlockBytes) {
        const std::string_view block = checked(source.read(at, kLaneBlockBytes));
        if (LaneBatch::claims_records(block, file.head().identity)) {
            return true;
        }
    }
    return false;
}

/// A lane gets its name first, then its row, then its events. So a file that holds events has a row
/// among those that are read after the names.
Status LaneSet::check_unregistered_lanes(
    const std::function<Result<std::vector<LaneRow>>()>& read_rows) const {
    const auto is_known = [&](const std::vector<LaneRow>& rows, const std::string& name) {
        return std::any_of(rows.begin(), rows.end(), [&](const LaneRow& row) {
            return path_of(row.number).filename() == name;
        });
    };
    return attempt([&] {
        const std::vector<std::string> names = checked(names_in(folder_));
        std::vector<LaneRow> rows = checked(read_rows());
        for (const std::string& name : names) {
            if (!name.ends_with(kSuffix) || is_known(rows, name) || !holds_events(name)) {
                continue;
            }
            rows = checked(read_rows());
            if (!is_known(rows, name)) {
                throw StoreFailure(corrupt(
                    "\"" + (folder_ / name).string() +
                    "\" holds events, and the queue has no such lane: the queue's data.mdb is "
                    "an older copy, or the file is of another store; nothing was changed. "
                    "Restore both from one backup, or move the file away"));
            }
        }
    });
}

fs::path LaneSet::unfinished_path() const {
    return folder_ / (std::string(kUnfinished) + std::to_string(::getpid()) + "." +
                      std::to_string(monotonic_ns()));
}

void LaneSet::sweep_unfinished() const noexcept {
    try {
        const Result<std::vector<std::string>> names = names_in(folder_);
        for (const std::string& name : names ? *names : std::vector<std::string>()) {
            if (name.starts_with(kUnfinished)) {
                ::unlink((folder_ / name).c_str());
            }
        }
    } catch (const std::bad_alloc&) {
        // The next process that claims a lane sweeps.
    }
}

Status LaneSet::try_write() const {
    const fs::path path = folder_ / ("test." + std::to_string(::getpid()));
    Status written = replace_file(path, std::string(kLaneBlockBytes, '\0'), file_owner_);
    ::unlink(path.c_str());
    return written;
}

LaneKnown LaneSet::known_of(const LaneRow& row) const noexcept {
    LaneKnown known{identity_of(row), row.bytes, row.moved, row.floor, row.floor_crc, std::nullopt};
    const auto durable = get_cell(cell_of(row).durable, key_of(row));
    // A cell below the row was not written since the last move, so it is unknown.
    if (durable && *durable >= row.moved && *durable <= row.floor + row.bytes) {
        known.durable = durable;
    }
    return known;
}

}  // namespace sluice::store
