// Identity: who runs the program, and whose rights it uses to open a store.
//
// A program that root starts becomes the owner of the store before it opens any of the store's
// files, because processes of other users write to some of them. Files that a person names are
// opened before that (named_file.hpp), with that person's rights.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "core/values/result.hpp"

namespace sluice::cli {

/// Gives up root's rights for good: the process becomes the user and group that own `folder`, with
/// the groups of that user and without capabilities. Does nothing if the process is not root's, if
/// there is no such folder, or if root owns it. kPermission if the owner cannot enter the folder.
///
/// Passwords for PostgreSQL in root's `~/.pgpass` stay usable.
[[nodiscard]] Status become_owner_of(const std::filesystem::path& folder);

/// Creates `folder` and those above it, if missing, for `user` and `group`, or gives them an empty
/// folder of root. Leaves every other folder as it is. Requires: root.
[[nodiscard]] Status make_folder_for(const std::filesystem::path& folder, uid_t user, gid_t group);

/// Makes a program of root the user `sluice`, which will own the new store. Root owns it if there
/// is no such user, or if that user cannot enter the folder above.
/// @param group  Name of the group of the store's folder; absent means the user's.
[[nodiscard]] Status become_new_owner(const std::filesystem::path& store,
                                      const std::optional<std::string>& group);

/// Returns true if become_owner_of(folder) will change the user.
[[nodiscard]] bool leaves_root_for(const std::filesystem::path& folder);

/// Returns the user for the audit trail: the user who logged in (/proc/self/loginuid, which
/// survives sudo), else the user who started the program, with kNoLogin behind the name. No option
/// sets it, and it stays the same after become_owner_of().
[[nodiscard]] std::string current_user();

}  // namespace sluice::cli
