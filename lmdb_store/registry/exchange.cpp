#include "lmdb_store/registry/exchange.hpp"

#include <algorithm>

#include "lmdb_store/environment/key_bytes.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {

Status check_snapshot_key(const RegistrySnapshot& snapshot, const MasterKey& key) {
    const Result<std::string> text = key.open(snapshot.key_check, kKeyCheckKey);
    if (!text || *text != kKeyCheckText) {
        return Error{ErrorCode::kInvalid,
                     "it was made with another master key: every store of a fleet needs a copy of "
                     "the master.key of store " +
                         snapshot.revision.source};
    }
    return Status::success();
}

bool descends_from(const RegistrySnapshot& snapshot, const RegistryRevision& earlier) {
    if (earlier.source != snapshot.revision.source) {
        return false;
    }
    if (earlier.number == snapshot.revision.number) {
        return earlier.digest == snapshot.revision.digest || earlier.digest.empty();
    }
    const auto past = std::lower_bound(
        snapshot.history.begin(), snapshot.history.end(), earlier.number,
        [](const PastRevision& at, std::uint64_t number) { return at.number < number; });
    if (earlier.digest.size() < sizeof(std::uint64_t)) {  // taken over by a release that kept none
        return earlier.number < snapshot.revision.number;
    }
    return past != snapshot.history.end() && past->number == earlier.number &&
           past->digest == get_big_endian<std::uint64_t>(earlier.digest.data());
}

}  // namespace sluice::store
