#include "lmdb_store/queue/lock_holders.hpp"

#include "lmdb_store/environment/lock_file.hpp"
#include "lmdb_store/environment/lock_wait.hpp"
#include "lmdb_store/lanes/lane_recovery.hpp"
#include "lmdb_store/store/control_page.hpp"

namespace sluice::store {
namespace {

void add(std::string& text, const std::string& holder) {
    text += (text.empty() || holder.empty() ? "" : ", ") + holder;
}

/// The locks for which a process waits before it has a lane.
void add_lane_locks(const StorePaths& paths, bool searches, std::string& text) {
    const Result<ControlFile> control = ControlFile::open(paths);
    const auto claimer =
        control ? static_cast<pid_t>(control->words().lane_claimer.load()) : pid_t{0};
    const auto holder = [&](LaneLock::Byte byte) {
        return holder_of_byte(paths.lane_cells, static_cast<int>(byte), claimer, searches);
    };
    add(text, holder(LaneLock::Byte::kClaimers));
    if (claimer != 0) {
        add(text, holder(LaneLock::Byte::kSettlers));  // it finds the ends of lanes
    }
}

}  // namespace

std::string describe_lock_holders(const StorePaths& paths, bool searches) {
    std::string text;
    add_lane_locks(paths, searches, text);
    add(text, holders_of_lock_file(paths.queue / "lock.mdb"));
    add(text, holders_of_lock_file(paths.registry / "lock.mdb"));
    return text;
}

}  // namespace sluice::store
