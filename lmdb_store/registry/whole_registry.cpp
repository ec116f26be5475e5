// The whole registry out of a store, and what it follows.
#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/lineage.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace sluice::store {

Result<RegistrySnapshot> Registry::snapshot(Timestamp now) {
    const Result<StoreFormat> format = access_->format();
    if (!format) {
        return format.error();
    }
    return attempt([&]() -> Result<RegistrySnapshot> {
        ReadTxn txn;
        access_->begin(txn);
        if (Status ok = access_->check_independent(txn); !ok) {
            return ok.error();
        }
        RegistrySnapshot all;
        all.revision = revision_of(access_->tables(), txn, format->uuid);
        all.history = history_of(access_->tables(), txn);
        all.exported_at = now;
        all.key_check = find(txn, access_->tables().main, kKeyCheckKey).value_or("");
        scan(txn, access_->tables().accounts, "", [&](std::string_view id, std::string_view) {
            all.accounts.push_back(access_->load_account(txn, AccountId(id)).value());
            return true;
        });
        scan(txn, access_->tables().shops, "", [&](std::string_view id, std::string_view) {
            all.shops.push_back(access_->load_shop(txn, ShopId(id)).value());
            return true;
        });
        scan(txn, access_->tables().tokens, "", [&](std::string_view id, std::string_view) {
            StoredToken token = access_->load_token(txn, id);
            all.tokens.push_back({std::move(token.row), std::move(token.sealed_secret)});
            return true;
        });
        return all;
    });
}

Result<std::optional<RegistryRevision>> Registry::followed() {
    return attempt([&]() -> Result<std::optional<RegistryRevision>> {
        ReadTxn txn;
        access_->begin(txn);
        return access_->load_followed(txn);
    });
}

Status Registry::detach() {
    return access_->write([&](WriteTxn& txn) -> Status {
        if (!erase(txn, access_->tables().main, kFollowsKey)) {
            return Error{ErrorCode::kConflict, "this registry follows no other"};
        }
        return Status::success();
    });
}

}  // namespace sluice::store
