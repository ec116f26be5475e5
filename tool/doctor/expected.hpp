// The files and folders of a store, with the kind, owner and mode that each should have.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lmdb_store/store/format.hpp"

namespace sluice::cli {

/// Kind, owner and mode that a file or folder of the store should have.
struct Expected {
    std::filesystem::path path;
    mode_t kind = S_IFREG;
    unsigned forbidden = 0007;
    unsigned required = 0;             ///< The group's bits only if nginx's workers are in one.
    bool is_owned = true;              ///< Belongs to the owner of the store.
    std::optional<unsigned> children;  ///< Bits that are forbidden to the files of a folder.
    bool is_remade = false;            ///< mend() makes a new one if it is missing.

    [[nodiscard]] unsigned right_mode(unsigned mode) const noexcept {
        return (mode & 07777U & ~forbidden) | required;
    }
    [[nodiscard]] bool is_of_group() const noexcept { return (required & 0070U) != 0; }
    /// Requires: children.
    [[nodiscard]] Expected child(const std::string& name) const {
        constexpr unsigned kExecuted = 0111;              // no file is
        const bool is_shared = (*children & 0070U) == 0;  // nginx's workers make files in it
        return {path / name, S_IFREG, *children | kExecuted, 0, !is_shared, std::nullopt, false};
    }
};

/// Owner and group of the store's folder.
struct Owners {
    uid_t user;
    gid_t group;
    bool has_group;  ///< The group may enter the store, so it is that of nginx's workers.
};

[[nodiscard]] Owners owners_of(const struct stat& root);
/// Returns what doctor checks. The files of a folder are not in it: see Expected::child().
[[nodiscard]] std::vector<Expected> expected_files(const store::StorePaths& paths, bool has_group);
/// Returns what mend() may change at this path.
[[nodiscard]] std::optional<Expected> expected_of(const store::StorePaths& paths, bool has_group,
                                                  const std::filesystem::path& path);
/// Four digits, as chmod takes them.
[[nodiscard]] std::string octal(unsigned mode);

}  // namespace sluice::cli
