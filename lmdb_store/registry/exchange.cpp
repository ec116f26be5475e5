// The whole registry out of a store.
#include "lmdb_store/registry/exchange.hpp"

#include <algorithm>

#include "lmdb_store/environment/key_bytes.hpp"
#include "lmdb_store/registry/impl.hpp"
#include "lmdb_store/registry/lineage.hpp"

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

Result<RegistrySnapshot> LmdbRegistry::snapshot(Timestamp now) {
    const Result<StoreFormat> format = read_store_format(paths_);
    if (!format) {
        return format.error();
    }
    return attempt([&]() -> Result<RegistrySnapshot> {
        ReadTxn txn;
        begin(txn);
        if (Status ok = check_independent(txn); !ok) {
            return ok.error();
        }
        RegistrySnapshot all;
        all.revision = revision_of(tables_, txn, format->uuid);
        all.history = history_of(tables_, txn);
        all.exported_at = now;
        all.key_check = find(txn, tables_.main, kKeyCheckKey).value_or("");
        scan(txn, tables_.accounts, "", [&](std::string_view id, std::string_view) {
            all.accounts.push_back(load_account(txn, AccountId(id)).value());
            return true;
        });
        scan(txn, tables_.shops, "", [&](std::string_view id, std::string_view) {
            all.shops.push_back(load_shop(txn, ShopId(id)).value());
            return true;
        });
        scan(txn, tables_.tokens, "", [&](std::string_view id, std::string_view) {
            StoredToken token = load_token(txn, id);
            all.tokens.push_back({std::move(token.row), std::move(token.sealed_secret)});
            return true;
        });
        return all;
    });
}

std::optional<RegistryRevision> LmdbRegistry::load_followed(const Txn& txn) {
    const auto stored = find(txn, tables_.main, kFollowsKey);
    if (!stored) {
        return std::nullopt;
    }
    if (stored->size() <= sizeof(std::uint64_t)) {
        throw StoreFailure(tables_.damaged("source"));
    }
    RegistryRevision followed{std::string(stored->substr(sizeof(std::uint64_t))),
                              get_big_endian<std::uint64_t>(stored->data()),
                              {}};
    // Of this number only: an older release moves the one and not the other.
    const auto digest = find(txn, tables_.main, kFollowsDigestKey);
    if (digest && digest->size() > sizeof(std::uint64_t) &&
        get_big_endian<std::uint64_t>(digest->data()) == followed.number) {
        followed.digest = digest->substr(sizeof(std::uint64_t));
    }
    return followed;
}

Status LmdbRegistry::check_independent(const Txn& txn) {
    if (const auto source = load_followed(txn)) {
        return Error{ErrorCode::kConflict,
                     "this registry follows that of store " + source->source +
                         ": change it there, or run \"sluice registry detach\" here first"};
    }
    return Status::success();
}

Result<std::optional<RegistryRevision>> LmdbRegistry::followed() {
    return attempt([&]() -> Result<std::optional<RegistryRevision>> {
        ReadTxn txn;
        begin(txn);
        return load_followed(txn);
    });
}

Status LmdbRegistry::detach() {
    return write([&](WriteTxn& txn) -> Status {
        if (!erase(txn, tables_.main, kFollowsKey)) {
            return Error{ErrorCode::kConflict, "this registry follows no other"};
        }
        return Status::success();
    });
}

}  // namespace sluice::store
