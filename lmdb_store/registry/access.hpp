// RegistryAccess: what every change of a registry is made of, a transaction and the rows in it.
// Internal to this room. Throws StoreFailure; attempt() at the registry's border catches it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/revision.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {

class RegistryAccess {
public:
    RegistryAccess(const StorePaths& paths, RegistryTables tables)
        : paths_(paths), tables_(std::move(tables)) {}

    [[nodiscard]] const RegistryTables& tables() const noexcept { return tables_; }
    [[nodiscard]] Result<StoreFormat> format() const { return read_store_format(paths_); }

    /// One durable transaction. What `change` throws or returns as an error undoes it.
    [[nodiscard]] Status write(const std::function<Status(WriteTxn&)>& change) const;
    void begin(ReadTxn& txn) const;
    void begin(WriteTxn& txn) const;
    /// With the revision that it makes.
    void commit(WriteTxn& txn) const;

    // Nothing: there is none of this id.
    [[nodiscard]] std::optional<AccountRow> load_account(const Txn& txn, const AccountId& id) const;
    [[nodiscard]] std::optional<ShopRow> load_shop(const Txn& txn, const ShopId& id) const;
    [[nodiscard]] StoredToken load_token(const Txn& txn, std::string_view id) const;
    void store_token(const WriteTxn& txn, const StoredToken& token) const;
    /// Tokens of an account that are not revoked.
    [[nodiscard]] std::vector<StoredToken> open_tokens(const Txn& txn, AccountNumber account) const;
    /// Requests look at it no more; $sluice_reason does.
    void retire(const WriteTxn& txn, const StoredToken& token, std::int64_t seconds) const;

    /// Takes the next of a dense series and moves it on.
    [[nodiscard]] std::uint32_t take_number(const WriteTxn& txn, std::string_view series) const;
    /// Moves a dense series beyond `number`.
    void reserve_number(const WriteTxn& txn, std::string_view series, std::uint32_t number) const;

    /// What it follows, if it does.
    [[nodiscard]] std::optional<RegistryRevision> load_followed(const Txn& txn) const;
    /// kConflict in a registry that follows another.
    [[nodiscard]] Status check_independent(const Txn& txn) const;

private:
    [[nodiscard]] std::uint32_t next_of(const Txn& txn, std::string_view series) const;

    StorePaths paths_;
    RegistryTables tables_;
};

}  // namespace sluice::store
