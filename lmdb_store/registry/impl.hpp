// The registry over LMDB. Internal to this room: its sources share it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {

class LmdbRegistry final : public Registry {
public:
    LmdbRegistry(const StorePaths& paths, RegistryTables tables)
        : paths_(paths), tables_(std::move(tables)) {}

    Status create_account(const AccountId& id, std::optional<RateLimit> limit,
                          Timestamp now) override;
    Status set_rate_limit(const AccountId& id, std::optional<RateLimit> limit) override;
    Status suspend_account(const AccountId& id, bool suspended) override;
    Status create_shop(const ShopId& id, const AccountId& account, Timestamp now) override;
    Status suspend_shop(const ShopId& id, bool suspended) override;
    Result<NewToken> create_token(const TokenRequest& request, const MasterKey& key,
                                  Timestamp now) override;
    Status revoke_token(const TokenId& id, Timestamp now) override;
    Status rotate_key(const MasterKey& from, const MasterKey& to) override;
    Status check_key(const MasterKey& key) override;

    Result<RegistrySnapshot> snapshot(Timestamp now) override;
    Result<std::vector<RegistryChange>> merge(const RegistrySnapshot& snapshot,
                                              const MasterKey& key, MergeFrom from) override;
    Result<std::optional<RegistryRevision>> followed() override;
    Status detach() override;

    Result<std::vector<AccountRow>> accounts() override;
    Result<std::vector<ShopRow>> shops(std::optional<AccountId> account) override;
    Result<std::vector<TokenRow>> tokens(std::optional<AccountId> account) override;
    Result<std::optional<AccountRow>> account(const AccountId& id) override;
    Result<std::optional<ShopRow>> shop(const ShopId& id) override;

private:
    /// One durable transaction. What `change` throws or returns as an error undoes it.
    [[nodiscard]] Status write(const std::function<Status(WriteTxn&)>& change);
    void begin(ReadTxn& txn);

    [[nodiscard]] std::optional<AccountRow> load_account(const Txn& txn, const AccountId& id);
    [[nodiscard]] std::optional<ShopRow> load_shop(const Txn& txn, const ShopId& id);
    [[nodiscard]] StoredToken load_token(const Txn& txn, std::string_view id);
    void store_token(const WriteTxn& txn, const StoredToken& token);
    /// Takes the next of a dense series and moves it on.
    [[nodiscard]] std::uint32_t take_number(const WriteTxn& txn, std::string_view series);
    /// Moves a dense series beyond `number`.
    void reserve_number(const WriteTxn& txn, std::string_view series, std::uint32_t number);
    [[nodiscard]] std::optional<RegistryRevision> load_followed(const Txn& txn);
    /// kConflict in a registry that follows another.
    [[nodiscard]] Status check_independent(const Txn& txn);
    [[nodiscard]] Status change_account(const AccountId& id,
                                        const std::function<void(AccountRow&)>& change);
    /// Tokens of an account that are not revoked.
    [[nodiscard]] std::vector<StoredToken> open_tokens(const Txn& txn, AccountNumber account);
    /// Requests look at it no more; $sluice_reason does.
    void retire(const WriteTxn& txn, const StoredToken& token, std::int64_t seconds);
    [[nodiscard]] Status check_token_count(const WriteTxn& txn, const AccountRow& account,
                                           std::uint8_t scopes, Timestamp now);

    friend class RegistryMerge;

    StorePaths paths_;
    RegistryTables tables_;
};

}  // namespace sluice::store
