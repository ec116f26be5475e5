#include "core/protocol/signature.hpp"
#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace sluice::store {
namespace {

Result<std::string> checked_name(std::string_view text) {
    const auto name = user_name(text);
    if (!name) {
        return invalid("a user name has 1 to 254 bytes without control characters");
    }
    return *name;
}

std::optional<UserRow> load_user(const RegistryAccess& access, const Txn& txn,
                                 const std::string& name, const AccountId& account) {
    std::optional<UserRow> found;
    access.scan_users(txn, name + '\0', [&](UserRow row) {
        if (row.account_id == account) {
            found = std::move(row);
        }
    });
    return found;
}

Bearer bearer_of(const RegistryAccess& access, const Txn& txn, std::string_view id) {
    StoredToken token = access.load_token(txn, id);
    RegisteredAccount account =
        access.tables().sound(access.load_account(txn, token.row.account_id), "account");
    return {std::move(token.row), std::move(account), token.page_key};
}

}  // namespace

Status Registry::add_user(std::string_view text, const AccountId& account, Role role,
                          Timestamp now) {
    const Result<std::string> name = checked_name(text);
    if (!name) {
        return name.error();
    }
    const std::string what =
        "user add " + *name + " of " + account.str() + ": " + std::string(to_string(role));
    return access_->write_own(what, [&](WriteTxn& txn) {
        const RegisteredAccount owner = access_->known_account(txn, account);
        const auto before = load_user(*access_, txn, *name, account);
        if (before && !before->removed_at && before->role == role) {
            throw StoreFailure(
                conflict("the user has this role in account \"" + account.str() + "\" already"));
        }
        const bool changes_role = before && !before->removed_at;
        access_->store_user(txn, {*name, account, owner.number, role,
                                  changes_role ? before->created_at : now, std::nullopt});
    });
}

Status Registry::remove_user(std::string_view text, const AccountId& account, Timestamp now) {
    const Result<std::string> name = checked_name(text);
    if (!name) {
        return name.error();
    }
    return access_->write_own("user remove " + *name + " of " + account.str(), [&](WriteTxn& txn) {
        auto row = load_user(*access_, txn, *name, account);
        if (!row || row->removed_at) {
            throw StoreFailure(not_found("account \"" + account.str() + "\" has no such user"));
        }
        row->removed_at = now;
        access_->store_user(txn, *row);
    });
}

Result<std::vector<UserRow>> Registry::users(const std::optional<AccountId>& account) {
    return access_->read([&](const Txn& txn) {
        access_->check_account(txn, account);
        std::vector<UserRow> rows;
        access_->scan_users(txn, "", [&](UserRow row) {
            if (!row.removed_at && (!account || row.account_id == *account)) {
                rows.push_back(std::move(row));
            }
        });
        return rows;
    });
}

Result<std::optional<Bearer>> Registry::bearer(std::string_view secret) {
    return access_->read([&](const Txn& txn) -> std::optional<Bearer> {
        const auto id = find(txn, access_->tables().bearers, to_view(sha256(secret)));
        if (!id) {
            return std::nullopt;
        }
        return bearer_of(*access_, txn, *id);
    });
}

Result<std::optional<Bearer>> Registry::token(const TokenId& id) {
    return access_->read([&](const Txn& txn) -> std::optional<Bearer> {
        if (id.empty() || !find(txn, access_->tables().tokens, id.view())) {
            return std::nullopt;
        }
        return bearer_of(*access_, txn, id.view());
    });
}

Result<std::vector<UserAccount>> Registry::accounts_of(const std::string& name) {
    return access_->read([&](const Txn& txn) {
        std::vector<UserAccount> accounts;
        access_->scan_users(txn, name + '\0', [&](const UserRow& row) {
            const auto account = access_->load_account(txn, row.account_id);
            if (account && !row.removed_at) {
                accounts.push_back({*account, row.role});
            }
        });
        return accounts;
    });
}

}  // namespace sluice::store
