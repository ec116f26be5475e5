#include "lmdb_store/store/leftovers.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

#include "lmdb_store/store/command_key.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNew = ".new.";
constexpr std::string_view kDigits = "0123456789";
/// `notify` is a folder.
constexpr std::array<std::string_view, 6> kNamesInRoot = {"format",     "ledger.url", "command.key",
                                                          "notify.key", "notify",     "token.days"};

/// Returns what the temporary file will be named, or an empty text if the name is of another form.
std::string_view replaced_name(std::string_view name) {
    const std::size_t at = name.rfind(kNew);
    const bool is_temporary = at != std::string_view::npos && at + kNew.size() < name.size() &&
                              name.find_first_not_of(kDigits, at + kNew.size()) == name.npos;
    return is_temporary ? name.substr(0, at) : std::string_view();
}

/// `M260131140509-7KQ4M9XW`, the id of a payment message.
bool is_message(std::string_view name) {
    constexpr std::size_t kDash = 13;
    return name.size() > kDash && name.front() == 'M' && name[kDash] == '-' &&
           name.find_first_not_of(kDigits, 1) == kDash && name.find('.') == name.npos;
}

template <class IsName>
void add_temporary(const fs::path& folder, IsName is_name, std::vector<fs::path>& found) {
    const Result<std::vector<std::string>> names = names_in(folder);
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
        if (const std::string_view replaced = replaced_name(name);
            !replaced.empty() && is_name(replaced)) {
            found.push_back(folder / name);
        }
    }
}

bool is_in_root(std::string_view name) {
    return std::ranges::find(kNamesInRoot, name) != kNamesInRoot.end();
}

void remove_each(const std::vector<fs::path>& leftovers) {
    for (const fs::path& path : leftovers) {
        std::error_code ignored;  // the next command tries again
        fs::remove_all(path, ignored);
    }
}

void remove_unfinished_snapshot(const fs::path& snapshots) {
    const fs::path unfinished = snapshots / kUnfinishedSnapshot;
    const fs::path begun = unfinished.string() + ".new";  // as a new ledger is called at first
    if (::access(unfinished.c_str(), F_OK) != 0 && ::access(begun.c_str(), F_OK) != 0) {
        return;
    }
    const Fd folder(open_retrying(snapshots.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (folder.ok() && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
        remove_each({unfinished, begun});
    }
}

}  // namespace

Result<Fd> hold_temporary_files(const StorePaths& paths) {
    auto lock = lock_command_key(paths.command_key, LOCK_SH);
    return !lock && lock.error().code == ErrorCode::kNotFound ? Result<Fd>(Fd()) : std::move(lock);
}

Status replace_store_file(const StorePaths& paths, const fs::path& path, std::string_view bytes,
                          const FileOwner& owner) {
    const auto held = hold_temporary_files(paths);
    return held ? replace_file(path, bytes, owner) : Status(held.error());
}

std::vector<fs::path> temporary_files(const StorePaths& paths) {
    std::vector<fs::path> found;
    add_temporary(paths.root, is_in_root, found);
    add_temporary(paths.exports, is_message, found);
    return found;
}

void remove_leftovers(const StorePaths& paths) {
    if (!temporary_files(paths).empty()) {
        const auto alone = lock_command_key(paths.command_key, LOCK_EX | LOCK_NB);
        // Looked up again: under the lock, each one that is there is a leftover.
        remove_each(alone ? temporary_files(paths) : std::vector<fs::path>());
    }
    remove_unfinished_snapshot(paths.snapshots);
}

}  // namespace sluice::store
