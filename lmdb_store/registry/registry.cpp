#include "lmdb_store/registry/registry.hpp"

#include <unistd.h>

#include <utility>

#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/published.hpp"

namespace sluice::store {
namespace {

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

Status change_account(RegistryAccess& access, const AccountId& id,
                      const std::function<void(AccountRow&)>& change) {
    return access.write_own([&](WriteTxn& txn) {
        AccountRow row = access.known_account(txn, id);
        change(row);
        put(txn, access.tables().accounts, id.view(), encode_account(row));
    });
}

Result<std::unique_ptr<RegistryAccess>> open_registry_copy(const StorePaths& paths) {
    Result<PublishedGeneration> page = PublishedGeneration::open(paths);
    if (!page) {
        return page.error();
    }
    const std::uint64_t generation = page->current();
    Result<RegistryTables> tables = RegistryTables::open_published(paths, generation);
    if (!tables) {
        return tables.error();
    }
    return std::make_unique<RegistryAccess>(paths, std::move(*tables),
                                            OpenedCopy{std::move(*page), generation});
}

Status change_shop(RegistryAccess& access, const ShopId& id,
                   const std::function<void(ShopRow&)>& change) {
    return access.write_own([&](WriteTxn& txn) {
        std::optional<ShopRow> row = access.load_shop(txn, id);
        if (!row) {
            throw StoreFailure({ErrorCode::kNotFound, "there is no shop \"" + id.str() + "\""});
        }
        change(*row);
        access.store_shop(txn, *row);
    });
}

/// Whether a text is a host as platform_domain() returns it, maybe with a port and a path.
bool is_host(std::string_view text) noexcept {
    constexpr std::size_t kHostBytesMax = 253;
    return text.size() <= kHostBytesMax &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-:/_~%") ==
               std::string_view::npos;
}

/// Opens the registry, and publishes it if the copy is behind. A process that may not write to it,
/// such as the worker in its unit, reads the copy.
Result<std::unique_ptr<RegistryAccess>> open_access(const StorePaths& paths, Registry::Mode mode) {
    const bool reads = mode != Registry::Mode::kReadWrite;
    if (mode == Registry::Mode::kPublished ||
        (reads && ::access((paths.registry / "lock.mdb").c_str(), W_OK) != 0)) {
        return open_registry_copy(paths);
    }
    Result<RegistryTables> tables = RegistryTables::open(paths);
    if (!tables) {
        return tables.error();
    }
    const Status published = publish_if_behind(paths, *tables);
    if (!published && !reads) {
        return published.error();  // doctor reports it to readers
    }
    return std::make_unique<RegistryAccess>(paths, std::move(*tables));
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
    Result<std::unique_ptr<RegistryAccess>> access = open_access(paths, mode);
    if (!access) {
        return access.error();
    }
    return std::unique_ptr<Registry>(new Registry(std::move(*access)));
}

Registry::Registry(std::unique_ptr<RegistryAccess> access) : access_(std::move(access)) {}
Registry::~Registry() = default;

std::uint64_t Registry::generation() const {
    return access_->generation();
}

Status Registry::publish() {
    return access_->publish();
}

Status Registry::create_account(const AccountId& id, std::optional<RateLimit> limit,
                                Timestamp now) {
    Status ok = check_id(id.view(), "an account id");
    ok = ok ? check_limit(limit) : ok;
    if (!ok) {
        return ok;
    }
    return access_->write_own([&](WriteTxn& txn) {
        if (access_->load_account(txn, id)) {
            throw StoreFailure(
                {ErrorCode::kConflict, "there is an account \"" + id.str() + "\" already"});
        }
        const StoreFormat format = access_->format();
        AccountRow row{id, {access_->take_number(txn, kNextAccountKey)}, {}, limit, false, now};
        row.slot = slot_of(row.number);
        if (row.slot.value >= format.max_accounts) {
            throw StoreFailure(
                {ErrorCode::kLimit,
                 "the store has all of its " + std::to_string(format.max_accounts) +
                     " accounts: raise the limit with \"sluice store set --max-accounts "
                     "N\" and restart nginx"});
        }
        put(txn, access_->tables().accounts, id.view(), encode_account(row));
        put(txn, access_->tables().account_ids, account_number_key(row.number), id.view());
    });
}

Status Registry::set_rate_limit(const AccountId& id, std::optional<RateLimit> limit) {
    if (Status ok = check_limit(limit); !ok) {
        return ok;
    }
    return change_account(*access_, id, [&](AccountRow& row) { row.rate_limit = limit; });
}

Status Registry::suspend_account(const AccountId& id, bool suspended) {
    return change_account(*access_, id, [&](AccountRow& row) { row.suspended = suspended; });
}

Status Registry::create_shop(const ShopId& id, const AccountId& account, Timestamp now) {
    if (Status ok = check_id(id.view(), "a shop id"); !ok) {
        return ok;
    }
    return access_->write_own([&](WriteTxn& txn) {
        const AccountRow owner = access_->known_account(txn, account);
        if (const std::optional<ShopRow> taken = access_->load_shop(txn, id)) {
            throw StoreFailure({ErrorCode::kConflict, "there is a shop \"" + id.str() +
                                                          "\" already, of account \"" +
                                                          taken->account_id.str() + "\""});
        }
        const ShopRow row{
            id, {access_->take_number(txn, kNextShopKey)}, account, owner.number, false, now};
        access_->store_shop(txn, row);
    });
}

Status Registry::suspend_shop(const ShopId& id, bool suspended) {
    return change_shop(*access_, id, [&](ShopRow& row) { row.suspended = suspended; });
}

Status Registry::set_shop_source(const ShopId& id, const std::function<void(ShopSource&)>& change) {
    return change_shop(*access_, id, [&](ShopRow& row) {
        change(row.source);
        if (row.source.platform == Platform::kNone) {
            row.source = {};
        }
        if (!row.source.domain.empty() && !is_host(row.source.domain)) {
            throw StoreFailure({ErrorCode::kInvalid,
                                "a domain is a host of 253 characters at most, such as "
                                "shop.example, without blanks and query"});
        }
    });
}

Result<std::vector<AccountRow>> Registry::accounts() {
    return access_->read([&](const Txn& txn) { return access_->accounts(txn); });
}

Result<std::vector<ShopRow>> Registry::shops(std::optional<AccountId> account) {
    return access_->read([&](const Txn& txn) {
        access_->check_account(txn, account);
        return access_->shops(txn, account);
    });
}

Result<std::optional<AccountRow>> Registry::account(const AccountId& id) {
    return access_->read([&](const Txn& txn) { return access_->load_account(txn, id); });
}

Result<std::optional<ShopRow>> Registry::shop(const ShopId& id) {
    return access_->read([&](const Txn& txn) { return access_->load_shop(txn, id); });
}

}  // namespace sluice::store
