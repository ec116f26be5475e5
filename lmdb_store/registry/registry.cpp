#include "lmdb_store/registry/registry.hpp"

#include <limits>

#include "lmdb_store/environment/key_bytes.hpp"
#include "lmdb_store/registry/impl.hpp"
#include "lmdb_store/registry/lineage.hpp"

namespace sluice::store {
namespace {

Error unknown_account(const AccountId& id) {
    return {ErrorCode::kNotFound, "there is no account \"" + id.str() + "\""};
}

Status check_id(std::string_view id, const char* what) {
    if (!is_admin_id(id)) {
        return Error{ErrorCode::kInvalid, std::string(what) +
                                              " is 1 to 128 characters of A-Z a-z 0-9 . _ - : @ + "
                                              "/ ="};
    }
    return Status::success();
}

Status check_limit(const std::optional<RateLimit>& limit) {
    constexpr std::uint32_t kRequestsMax = (1U << 28) - 1;
    constexpr std::uint32_t kWindowMax = 86'400U * 366;
    if (limit && (limit->requests == 0 || limit->requests > kRequestsMax ||
                  limit->window_seconds == 0 || limit->window_seconds > kWindowMax)) {
        return Error{ErrorCode::kInvalid, "a rate limit is N/SECONDS, N from 1 to " +
                                              std::to_string(kRequestsMax) +
                                              ", SECONDS from 1 to " + std::to_string(kWindowMax)};
    }
    return Status::success();
}

}  // namespace

Result<std::unique_ptr<Registry>> Registry::open(const StorePaths& paths, Mode mode) {
    Result<StoreFormat> format = read_store_format(paths);
    if (!format) {
        return format.error();
    }
    if (mode == Mode::kReadWrite) {
        if (Status ok = check_writable_format(*format); !ok) {
            return ok.error();
        }
    }
    Result<RegistryTables> tables = RegistryTables::open(paths, mode == Mode::kReadOnly);
    if (!tables) {
        return tables.error();
    }
    return std::unique_ptr<Registry>(std::make_unique<LmdbRegistry>(paths, std::move(*tables)));
}

Status LmdbRegistry::write(const std::function<Status(WriteTxn&)>& change) {
    return attempt([&]() -> Status {
        WriteTxn txn;
        check(txn.begin(*tables_.environment), *tables_.environment, "write");
        if (Status ok = change(txn); !ok) {
            return ok;
        }
        record_revision(tables_, txn);
        check(txn.commit(), *tables_.environment, "write");
        return Status::success();
    });
}

void LmdbRegistry::begin(ReadTxn& txn) {
    check(txn.begin(*tables_.environment), *tables_.environment, "read");
}

std::optional<AccountRow> LmdbRegistry::load_account(const Txn& txn, const AccountId& id) {
    const auto bytes = find(txn, tables_.accounts, id.view());
    if (!bytes) {
        return std::nullopt;
    }
    std::optional<AccountRow> row = decode_account(id.view(), *bytes);
    if (!row) {
        throw StoreFailure(tables_.damaged("account"));
    }
    return row;
}

std::optional<ShopRow> LmdbRegistry::load_shop(const Txn& txn, const ShopId& id) {
    const auto bytes = find(txn, tables_.shops, id.view());
    if (!bytes) {
        return std::nullopt;
    }
    std::optional<ShopRow> row = decode_shop(id.view(), *bytes);
    if (!row) {
        throw StoreFailure(tables_.damaged("shop"));
    }
    return row;
}

std::uint32_t LmdbRegistry::take_number(const WriteTxn& txn, std::string_view series) {
    const auto stored = find(txn, tables_.main, series);
    if (!stored || stored->size() != sizeof(std::uint32_t)) {
        throw StoreFailure(tables_.damaged(series));
    }
    const auto number = get_big_endian<std::uint32_t>(stored->data());
    if (number == 0 || number == std::numeric_limits<std::uint32_t>::max()) {
        throw StoreFailure(tables_.damaged(series));
    }
    put(txn, tables_.main, series, account_number_key({number + 1}));
    return number;
}

void LmdbRegistry::reserve_number(const WriteTxn& txn, std::string_view series,
                                  std::uint32_t number) {
    const auto stored = find(txn, tables_.main, series);
    if (!stored || stored->size() != sizeof(std::uint32_t)) {
        throw StoreFailure(tables_.damaged(series));
    }
    if (get_big_endian<std::uint32_t>(stored->data()) <= number) {
        put(txn, tables_.main, series, account_number_key({number + 1}));
    }
}

Status LmdbRegistry::create_account(const AccountId& id, std::optional<RateLimit> limit,
                                    Timestamp now) {
    Status ok = check_id(id.view(), "an account id");
    ok = ok ? check_limit(limit) : ok;
    if (!ok) {
        return ok;
    }
    return write([&](WriteTxn& txn) -> Status {
        if (Status own = check_independent(txn); !own) {
            return own;
        }
        if (load_account(txn, id)) {
            return Error{ErrorCode::kConflict, "there is an account \"" + id.str() + "\" already"};
        }
        const Result<StoreFormat> format = read_store_format(paths_);
        if (!format) {
            return format.error();
        }
        AccountRow row{id, {take_number(txn, kNextAccountKey)}, {}, limit, false, now};
        row.slot = slot_of(row.number);
        if (row.slot.value >= format->max_accounts) {
            return Error{ErrorCode::kLimit,
                         "the store has all of its " + std::to_string(format->max_accounts) +
                             " accounts: raise the limit with \"sluice store set --max-accounts "
                             "N\" and reload nginx"};
        }
        put(txn, tables_.accounts, id.view(), encode_account(row));
        put(txn, tables_.account_ids, account_number_key(row.number), id.view());
        return Status::success();
    });
}

Status LmdbRegistry::change_account(const AccountId& id,
                                    const std::function<void(AccountRow&)>& change) {
    return write([&](WriteTxn& txn) -> Status {
        if (Status ok = check_independent(txn); !ok) {
            return ok;
        }
        std::optional<AccountRow> row = load_account(txn, id);
        if (!row) {
            return unknown_account(id);
        }
        change(*row);
        put(txn, tables_.accounts, id.view(), encode_account(*row));
        return Status::success();
    });
}

Status LmdbRegistry::set_rate_limit(const AccountId& id, std::optional<RateLimit> limit) {
    if (Status ok = check_limit(limit); !ok) {
        return ok;
    }
    return change_account(id, [&](AccountRow& row) { row.rate_limit = limit; });
}

Status LmdbRegistry::suspend_account(const AccountId& id, bool suspended) {
    return change_account(id, [&](AccountRow& row) { row.suspended = suspended; });
}

Status LmdbRegistry::create_shop(const ShopId& id, const AccountId& account, Timestamp now) {
    if (Status ok = check_id(id.view(), "a shop id"); !ok) {
        return ok;
    }
    return write([&](WriteTxn& txn) -> Status {
        if (Status ok = check_independent(txn); !ok) {
            return ok;
        }
        const std::optional<AccountRow> owner = load_account(txn, account);
        if (!owner) {
            return unknown_account(account);
        }
        if (const std::optional<ShopRow> taken = load_shop(txn, id)) {
            return Error{ErrorCode::kConflict, "there is a shop \"" + id.str() +
                                                   "\" already, of account \"" +
                                                   taken->account_id.str() + "\""};
        }
        const ShopRow row{id, {take_number(txn, kNextShopKey)}, account, owner->number, false, now};
        put(txn, tables_.shops, id.view(), encode_shop(row));
        return Status::success();
    });
}

Status LmdbRegistry::suspend_shop(const ShopId& id, bool suspended) {
    return write([&](WriteTxn& txn) -> Status {
        if (Status ok = check_independent(txn); !ok) {
            return ok;
        }
        std::optional<ShopRow> row = load_shop(txn, id);
        if (!row) {
            return Error{ErrorCode::kNotFound, "there is no shop \"" + id.str() + "\""};
        }
        row->suspended = suspended;
        put(txn, tables_.shops, id.view(), encode_shop(*row));
        return Status::success();
    });
}

Result<std::vector<AccountRow>> LmdbRegistry::accounts() {
    return attempt([&]() -> Result<std::vector<AccountRow>> {
        ReadTxn txn;
        begin(txn);
        std::vector<AccountRow> rows;
        scan(txn, tables_.accounts, "", [&](std::string_view id, std::string_view bytes) {
            std::optional<AccountRow> row = decode_account(id, bytes);
            if (!row) {
                throw StoreFailure(tables_.damaged("account"));
            }
            rows.push_back(*std::move(row));
            return true;
        });
        return rows;
    });
}

Result<std::vector<ShopRow>> LmdbRegistry::shops(std::optional<AccountId> account) {
    return attempt([&]() -> Result<std::vector<ShopRow>> {
        ReadTxn txn;
        begin(txn);
        if (account && !load_account(txn, *account)) {
            return unknown_account(*account);
        }
        std::vector<ShopRow> rows;
        scan(txn, tables_.shops, "", [&](std::string_view id, std::string_view bytes) {
            std::optional<ShopRow> row = decode_shop(id, bytes);
            if (!row) {
                throw StoreFailure(tables_.damaged("shop"));
            }
            if (!account || row->account_id == *account) {
                rows.push_back(*std::move(row));
            }
            return true;
        });
        return rows;
    });
}

Result<std::optional<AccountRow>> LmdbRegistry::account(const AccountId& id) {
    return attempt([&]() -> Result<std::optional<AccountRow>> {
        ReadTxn txn;
        begin(txn);
        return load_account(txn, id);
    });
}

Result<std::optional<ShopRow>> LmdbRegistry::shop(const ShopId& id) {
    return attempt([&]() -> Result<std::optional<ShopRow>> {
        ReadTxn txn;
        begin(txn);
        return load_shop(txn, id);
    });
}

}  // namespace sluice::store
