// RegistryAccess: transactions and rows, from which all changes of a registry are built. Internal
// to lmdb_store. Throws StoreFailure; attempt() at the registry's border catches it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/lineage.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {

/// The published copy that is open, and the page that tells whether a newer one was published.
struct OpenedCopy {
    PublishedGeneration page;
    std::uint64_t generation = 0;
};

class RegistryAccess {
public:
    /// @param copy  Of the tables, if they are those of a copy.
    RegistryAccess(const StorePaths& paths, RegistryTables tables,
                   std::optional<OpenedCopy> copy = std::nullopt)
        : paths_(paths), tables_(std::move(tables)), copy_(std::move(copy)) {}

    [[nodiscard]] const RegistryTables& tables() const noexcept { return tables_; }
    [[nodiscard]] StoreFormat format() const { return checked(read_store_format(paths_)); }

    /// Names who makes the changes that follow.
    void set_author(Author author) { author_ = std::move(author); }
    [[nodiscard]] const Author& author() const noexcept { return author_; }
    /// Runs `change` in one durable transaction, and logs what it returns. Aborts it if `change`
    /// throws.
    [[nodiscard]] Status write(const std::function<std::string(WriteTxn&)>& change);
    /// Runs `change` in one durable transaction, and logs `what`.
    [[nodiscard]] Status write(const std::string& what,
                               const std::function<void(WriteTxn&)>& change);
    /// Runs `change` after check_independent() in one durable transaction, and logs `what`.
    [[nodiscard]] Status write_own(const std::string& what,
                                   const std::function<void(WriteTxn&)>& change);
    /// Logs a change of the transaction.
    void log(const WriteTxn& txn, const std::string& what) const;
    /// Returns what `act` returns in a read transaction.
    template <class Act>
    [[nodiscard]] auto read(Act&& act) {
        return attempt([&] {
            ReadTxn txn;
            begin(txn);
            return act(std::as_const(txn));
        });
    }
    /// Opens the present copy first, if another one is open.
    void begin(ReadTxn& txn);
    void begin(WriteTxn& txn) const;
    /// Records the revision, commits, and publishes the registry. Throws also if the change is
    /// stored, but not published.
    void commit(WriteTxn& txn);
    /// Returns true if the last commit() stored a change that is not published.
    [[nodiscard]] bool is_unpublished() const noexcept { return is_unpublished_; }
    /// As Registry::generation().
    [[nodiscard]] std::uint64_t generation() const {
        return copy_ && copy_->page.still_in_place() ? copy_->page.current() : 0;
    }
    [[nodiscard]] Status publish() const { return publish_registry(paths_, tables_); }

    /// Return nullopt if there is no such row.
    [[nodiscard]] std::optional<RegisteredAccount> load_account(const Txn& txn,
                                                                const AccountId& id) const;
    [[nodiscard]] std::optional<RegisteredShop> load_shop(const Txn& txn, const ShopId& id) const;
    /// Throws kNotFound, with the sentence for people, if there is no such row.
    [[nodiscard]] RegisteredAccount known_account(const Txn& txn, const AccountId& id) const;
    /// Throws kNotFound if a listing is limited to an account that there is not.
    void check_account(const Txn& txn, const std::optional<AccountId>& id) const {
        if (id) {
            static_cast<void>(known_account(txn, *id));
        }
    }
    /// Return all rows by id, or those of an account.
    [[nodiscard]] std::vector<RegisteredAccount> accounts(const Txn& txn) const;
    [[nodiscard]] std::vector<RegisteredShop> shops(
        const Txn& txn, const std::optional<AccountId>& account = {}) const;
    [[nodiscard]] std::vector<StoredToken> tokens(const Txn& txn) const;
    [[nodiscard]] StoredToken load_token(const Txn& txn, std::string_view id) const;
    /// Stores the row, and its domain. Throws kConflict if another shop has the domain.
    void store_shop(const WriteTxn& txn, const RegisteredShop& row) const;
    void store_token(const WriteTxn& txn, const StoredToken& token) const;
    /// Visits the users whose key (name, account) begins with `prefix`, in the order of the keys,
    /// removed ones as well.
    void scan_users(const Txn& txn, std::string_view prefix,
                    const std::function<void(UserRow)>& visit) const;
    void store_user(const WriteTxn& txn, const UserRow& row) const;
    /// Visits the logged changes, by store and number.
    void scan_changes(const Txn& txn, const std::function<void(ChangeRow)>& visit) const;
    void store_change(const WriteTxn& txn, const ChangeRow& row) const;
    /// Returns the account's tokens that are not retired.
    [[nodiscard]] std::vector<StoredToken> open_tokens(const Txn& txn, AccountNumber account) const;
    /// Removes a token from those that requests try. $sluice_reason still names it.
    void retire(const WriteTxn& txn, const StoredToken& token, std::int64_t seconds) const;

    /// Assigns the next number of a dense series.
    [[nodiscard]] std::uint32_t take_number(const WriteTxn& txn, std::string_view series) const;
    /// Advances a dense series beyond `number`.
    void reserve_number(const WriteTxn& txn, std::string_view series, std::uint32_t number) const;

    /// Returns the revision that this registry follows, or nullopt if it follows none.
    [[nodiscard]] std::optional<RegistryRevision> load_followed(const Txn& txn) const;
    /// Throws kConflict in a registry that follows another.
    void check_independent(const Txn& txn) const;

private:
    [[nodiscard]] std::uint32_t next_of(const Txn& txn, std::string_view series) const;
    void renew_copy();

    StorePaths paths_;
    RegistryTables tables_;
    std::optional<OpenedCopy> copy_;
    bool is_unpublished_ = false;
    Author author_;
};

/// Returns the public key of a token with the scope creator_pages, or nothing.
[[nodiscard]] std::optional<PageKey> page_key_of(const TokenRow& row, std::string_view secret);

}  // namespace sluice::store
