#include "tool/doctor/expected.hpp"

#include <array>
#include <cstdio>

#include "lmdb_store/links/published_file.hpp"
#include "lmdb_store/registry/published.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOthers = 0007;
constexpr unsigned kNotInGroup = 0027;
constexpr unsigned kGroupAndOthers = 0077;
constexpr unsigned kSharedBits = S_ISGID | S_ISVTX;

}  // namespace

Owners owners_of(const struct stat& root) {
    return {root.st_uid, root.st_gid, (root.st_mode & 0010U) != 0};
}

std::vector<Expected> expected_files(const store::StorePaths& paths, bool has_group) {
    const auto right = [has_group](unsigned mode) { return has_group ? mode : mode & 0700U; };
    const auto folder = [&](const fs::path& path) {
        return Expected{path, S_IFDIR, kNotInGroup, right(0750), true, std::nullopt, false};
    };
    const auto file = [&](const fs::path& path, unsigned forbidden, unsigned mode) {
        return Expected{path, S_IFREG, forbidden, right(mode), true, std::nullopt, false};
    };
    const auto hints = [&](const fs::path& path) {
        return Expected{path, S_IFREG, kOthers, right(0660), true, std::nullopt, true};
    };
    const auto shared = [&](const fs::path& path) {
        const unsigned bits = has_group ? kSharedBits : 0U;
        return Expected{path, S_IFDIR, kOthers, right(0770) | bits, true, kOthers, true};
    };
    const auto closed = [](const fs::path& path, bool is_remade) {
        return Expected{path, S_IFDIR, kGroupAndOthers, 0700, true, kGroupAndOthers, is_remade};
    };
    std::vector<Expected> files{folder(paths.root),
                                folder(paths.registry),
                                file(paths.registry / "data.mdb", kGroupAndOthers, 0600),
                                file(paths.registry / "lock.mdb", kGroupAndOthers, 0600),
                                file(paths.format, kNotInGroup, 0640),
                                file(store::published_file(paths), kNotInGroup, 0640),
                                file(store::generation_file(paths), kNotInGroup, 0640),
                                folder(paths.links),
                                file(store::links_generation_file(paths), kNotInGroup, 0640),
                                folder(paths.queue),
                                file(paths.queue / "data.mdb", kOthers, 0660),
                                file(paths.queue / "lock.mdb", kOthers, 0660),
                                hints(paths.control),
                                shared(paths.bulk),
                                shared(paths.lanes),
                                hints(paths.lane_cells),
                                closed(paths.ledger, false),
                                closed(paths.archive, true)};
    std::error_code ignored;
    if (fs::exists(store::links_file(paths), ignored)) {  // the worker writes the first one
        files.push_back(file(store::links_file(paths), kNotInGroup, 0640));
    }
    return files;
}

std::optional<Expected> expected_of(const store::StorePaths& paths, bool has_group,
                                    const fs::path& path) {
    for (const Expected& each : expected_files(paths, has_group)) {
        if (each.path == path) {
            return each;
        }
    }
    for (const Expected& each : expected_files(paths, has_group)) {
        if (each.children && each.path == path.parent_path()) {
            return each.child(path.filename());
        }
    }
    for (const fs::path& key : {paths.master_key, paths.command_key}) {
        if (path == key) {
            return Expected{path, S_IFREG, kGroupAndOthers, 0400, true, std::nullopt, false};
        }
    }
    return std::nullopt;
}

std::string octal(unsigned mode) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
    return text.data();
}

}  // namespace sluice::cli
