
#include "core/protocol/signature.hpp"
#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace sluice::store {
namespace {

Error no_such_account(const AccountId& id) {
    return {ErrorCode::kNotFound, "there is no account \"" + id.str() + "\""};
}

Result<std::string> checked_name(std::string_view text) {
    const auto name = user_name(text);
    if (!name) {
        return Error{ErrorCode::kInvalid,
                     "a user name has 1 to 254 bytes without control characters"};
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

}  // namespace

Status Registry::add_user(std::string_view text, const AccountId& account, Role role,
                          Timestamp now) {
    const Result<std::string> name = checked_name(text);
    if (!name) {
        return name.error();
    }
    return access_->write([&](WriteTxn& txn) -> Status {
        if (Status ok = access_->check_independent(txn); !ok) {
            return ok;
        }
        const std::optional<AccountRow> owner = access_->load_account(txn, account);
        if (!owner) {
            return no_such_account(account);
        }
        const auto before = load_user(*access_, txn, *name, account);
        if (before && !before->removed_at && before->role == role) {
            return Error{ErrorCode::kConflict,
                         "the user has this role in account \"" + account.str() + "\" already"};
        }
        const bool changes_role = before && !before->removed_at;
        access_->store_user(txn, {*name, account, owner->number, role,
                                  changes_role ? before->created_at : now, std::nullopt});
        return Status::success();
    });
}

Status Registry::remove_user(std::string_view text, const AccountId& account, Timestamp now) {
    const Result<std::string> name = checked_name(text);
    if (!name) {
        return name.error();
    }
    return access_->write([&](WriteTxn& txn) -> Status {
        if (Status ok = access_->check_independent(txn); !ok) {
            return ok;
        }
        auto row = load_user(*access_, txn, *name, account);
        if (!row || row->removed_at) {
            return Error{ErrorCode::kNotFound,
                         "account \"" + account.str() + "\" has no such user"};
        }
        row->removed_at = now;
        access_->store_user(txn, *row);
        return Status::success();
    });
}

Result<std::vector<UserRow>> Registry::users(const std::optional<AccountId>& account) {
    return attempt([&]() -> Result<std::vector<UserRow>> {
        ReadTxn txn;
        access_->begin(txn);
        if (account && !access_->load_account(txn, *account)) {
            return no_such_account(*account);
        }
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
    return attempt([&]() -> Result<std::optional<Bearer>> {
        ReadTxn txn;
        access_->begin(txn);
        const auto id = find(txn, access_->tables().bearers, view_of(sha256(secret)));
        if (!id) {
            return std::optional<Bearer>();
        }
        StoredToken token = access_->load_token(txn, *id);
        const auto account = access_->load_account(txn, token.row.account_id);
        if (!account) {
            throw StoreFailure(access_->tables().damaged("account"));
        }
        return std::optional(Bearer{std::move(token.row), *account});
    });
}

Result<std::string> Registry::cursor_secret() {
    return attempt([&]() -> Result<std::string> {
        ReadTxn txn;
        access_->begin(txn);
        std::optional<StoredToken> oldest;
        scan(txn, access_->tables().tokens, "", [&](std::string_view id, std::string_view) {
            StoredToken token = access_->load_token(txn, id);
            if (!oldest || token.row.created_at < oldest->row.created_at) {
                oldest = std::move(token);
            }
            return true;
        });
        constexpr std::string_view kPurpose = "sluice cursor ";
        return oldest ? std::string(view_of(sha256(std::string(kPurpose) +
                                                   std::string(view_of(oldest->secret_sha256)))))
                      : std::string();
    });
}

Result<std::vector<UserAccount>> Registry::accounts_of(const std::string& name) {
    return attempt([&]() -> Result<std::vector<UserAccount>> {
        ReadTxn txn;
        access_->begin(txn);
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
