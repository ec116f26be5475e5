// Registry exchange: a registry as one value, so that the stores of a fleet can have the same.
//
// One store is the source: there people create and change. Every other store follows it: merge()
// takes over what the source has, numbers and slots included, since a shared ledger knows accounts
// and shops by their numbers. Nothing in a registry is ever deleted, so a merge only adds and
// changes. A follower refuses changes of its own, but for revoking a token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/revision.hpp"
#include "lmdb_store/registry/values.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

struct SealedToken {
    TokenRow row;
    std::string sealed_secret;  ///< MasterKey::seal(secret, token id)
};

struct RegistrySnapshot {
    RegistryRevision revision;
    std::vector<PastRevision> history;  ///< By number, `revision` last; empty: an older release's.
    Timestamp exported_at;
    std::string key_check;             ///< Tells whether a key is the one that sealed the secrets.
    std::vector<AccountRow> accounts;  ///< Sorted by id, as the others.
    std::vector<ShopRow> shops;
    std::vector<SealedToken> tokens;
};

/// kInvalid, if `snapshot` was sealed with another key.
[[nodiscard]] Status check_snapshot_key(const RegistrySnapshot& snapshot, const MasterKey& key);

/// Whether `snapshot` is a later state of what was `earlier`, or that itself. False: another
/// source's, an older one, or a fork, as after a backup was restored at the source.
[[nodiscard]] bool descends_from(const RegistrySnapshot& snapshot, const RegistryRevision& earlier);

/// What a merge did to one row: "account" "acme" "suspended".
struct RegistryChange {
    std::string_view kind;  ///< account, shop, token
    std::string id;
    std::string change;
};

enum class MergeFrom {
    kSameSource,  ///< Refuses another source than before, an older revision, and a fork.
    kAny,
};

}  // namespace sluice::store
