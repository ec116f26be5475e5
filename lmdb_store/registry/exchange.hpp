// Registry exchange: a registry as one value, so that all stores of a fleet can have the same.
//
// One store is the source, where people create and change accounts, shops and tokens. Every other
// store follows it: Registry::merge() copies the source's rows with their numbers and slots,
// because a shared ledger names accounts and shops by number. A registry never deletes rows, so a
// merge only adds and changes. A follower refuses local changes, except revoking a token.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/lineage.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

struct SealedToken {
    TokenRow row;
    std::string sealed_secret;  ///< MasterKey::seal(secret, token id)
};

struct RegistrySnapshot {
    RegistryRevision revision;
    std::vector<PastRevision> history;  ///< By number, `revision` last.
    Timestamp exported_at;
    std::string key_check;                    ///< Tells which master key encrypted the secrets.
    std::vector<RegisteredAccount> accounts;  ///< Sorted by id, as are shops and tokens.
    std::vector<RegisteredShop> shops;
    std::vector<SealedToken> tokens{};
    std::vector<UserRow> users{};      ///< By name and account; removed ones as well.
    std::vector<ChangeRow> changes{};  ///< The log, by store and number.
};

/// Returns kInvalid if the snapshot's secrets were encrypted with another key.
[[nodiscard]] Status check_snapshot_key(const RegistrySnapshot& snapshot, const MasterKey& key);

/// Returns true if `snapshot` is `earlier` or a later state of it. False means another source, an
/// older state, or a fork, as after the source was restored from a backup.
[[nodiscard]] bool descends_from(const RegistrySnapshot& snapshot, const RegistryRevision& earlier);

/// A change of one row by a merge: "account" "acme" "suspended".
struct RegistryChange {
    std::string_view kind;  ///< account, shop, token, user
    std::string id;
    std::string change;
};

enum class MergeFrom {
    kSameSource,  ///< Refuses a source other than before, an older revision, and a fork.
    kAny,
};

}  // namespace sluice::store
