#include "lmdb_store/registry/registry.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/published.hpp"

namespace sluice::store {
namespace {

Status check_id(std::string_view id, const char* what) {
    if (!is_admin_id(id)) {
        return invalid(std::string(what) + " is 1 to " + std::to_string(kAdminIdBytesMax) +
                       " characters of " + std::string(kAdminIdCharacters));
    }
    return Status::success();
}

Status check_limit(const std::optional<RateLimit>& limit) {
    if (limit && (limit->requests == 0 || limit->requests > kRateRequestsMax ||
                  limit->window_seconds == 0 || limit->window_seconds > kRateWindowSecondsMax)) {
        return invalid("a rate limit is N/SECONDS, N from 1 to " +
                       std::to_string(kRateRequestsMax) + ", SECONDS from 1 to " +
                       std::to_string(kRateWindowSecondsMax));
    }
    return Status::success();
}

Status change_account(RegistryAccess& access, const AccountId& id, const std::string& what,
                      const std::function<void(RegisteredAccount&)>& change) {
    return access.write_own("account " + what, [&](WriteTxn& txn) {
        RegisteredAccount row = access.known_account(txn, id);
        change(row);
        put(txn, access.tables().accounts, id.view(), encode_account(row));
    });
}

std::unique_ptr<RegistryAccess> open_registry_copy(const StorePaths& paths) {
    PublishedGeneration page = checked(PublishedGeneration::open(paths));
    const std::uint64_t generation = page.current();
    return std::make_unique<RegistryAccess>(
        paths, checked(RegistryTables::open_published(paths, generation)),
        OpenedCopy{std::move(page), generation});
}

/// Logs what `change` returns, behind `shop `.
Status change_shop(RegistryAccess& access, const ShopId& id,
                   const std::function<std::string(RegisteredShop&)>& change) {
    return access.write([&](WriteTxn& txn) {
        access.check_independent(txn);
        std::optional<RegisteredShop> row = access.load_shop(txn, id);
        if (!row) {
            throw StoreFailure(not_found("there is no shop \"" + id.str() + "\""));
        }
        const std::string what = change(*row);
        access.store_shop(txn, *row);
        return "shop " + what;
    });
}

/// Whether a text is a host as platform_domain() returns it, maybe with a port and a path.
bool is_host(std::string_view text) noexcept {
    constexpr std::size_t kHostBytesMax = 253;
    return text.size() <= kHostBytesMax &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-:/_~%") ==
               std::string_view::npos;
}

/// Throws kInvalid for settings that the shop's platform does not have: an operator may rely on one
/// that has no effect.
void check_source(const ShopSource& source) {
    SourceSettings of_shopify = source.settings;
    of_shopify.from.reset();
    if (source.platform == Platform::kNone && source != ShopSource()) {
        throw StoreFailure(
            invalid("the shop has no platform, and no settings of one: choose it with --platform"));
    }
    if (source.platform == Platform::kWooCommerce && of_shopify != SourceSettings()) {
        throw StoreFailure(
            invalid("--platform-shop, --money, --test-orders and --gift-cards are settings of "
                    "Shopify: WooCommerce has none of them"));
    }
    if (!source.domain.empty() && !is_host(source.domain)) {
        throw StoreFailure(
            invalid("a domain is a host of 253 characters at most, such as shop.example, without "
                    "blanks and query"));
    }
}

/// Opens the registry, and publishes it if the copy is behind. A process that may not write to it,
/// such as the worker in its unit, reads the copy.
std::unique_ptr<RegistryAccess> open_access(const StorePaths& paths, Registry::Mode mode) {
    const bool reads = mode != Registry::Mode::kReadWrite;
    if (mode == Registry::Mode::kPublished ||
        (reads && ::access((paths.registry / "lock.mdb").c_str(), W_OK) != 0)) {
        return open_registry_copy(paths);
    }
    RegistryTables tables = checked(RegistryTables::open(paths));
    const Status published = publish_if_behind(paths, tables);
    check(reads ? Status::success() : published);  // doctor reports it to readers
    return std::make_unique<RegistryAccess>(paths, std::move(tables));
}

}  // namespace

Result<std::unique_ptr<Registry>> Registry::open(const StorePaths& paths, Mode mode) {
    return attempt([&] {
        const StoreFormat format = checked(read_store_format(paths));
        if (mode == Mode::kReadWrite) {
            check(check_writable_format(format));
        }
        return std::unique_ptr<Registry>(new Registry(open_access(paths, mode)));
    });
}

Registry::Registry(std::unique_ptr<RegistryAccess> access) : access_(std::move(access)) {}
Registry::~Registry() = default;

std::uint64_t Registry::generation() const {
    return access_->generation();
}

void Registry::set_author(Author author) {
    access_->set_author(std::move(author));
}

Status Registry::note(const std::string& change) {
    return access_->write(change, [](WriteTxn& /*txn*/) {});
}

Result<std::vector<ChangeRow>> Registry::changes() {
    return access_->read([&](const Txn& txn) {
        std::vector<ChangeRow> rows;
        access_->scan_changes(txn, [&rows](ChangeRow row) { rows.push_back(std::move(row)); });
        std::ranges::stable_sort(rows, {}, &ChangeRow::at);
        return rows;
    });
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
    return access_->write_own("account create " + id.str(), [&](WriteTxn& txn) {
        if (access_->load_account(txn, id)) {
            throw StoreFailure(conflict("there is an account \"" + id.str() + "\" already"));
        }
        const StoreFormat format = access_->format();
        RegisteredAccount row{id, {access_->take_number(txn, kNextAccountKey)}, {}, limit, false,
                              now};
        row.slot = slot_of(row.number);
        if (row.slot.value >= format.max_accounts) {
            throw StoreFailure({ErrorCode::kLimit,
                                "the store has all of its " + std::to_string(format.max_accounts) +
                                    " accounts: raise the limit with \"sluice store set "
                                    "--max-accounts N\" and restart nginx"});
        }
        put(txn, access_->tables().accounts, id.view(), encode_account(row));
        put(txn, access_->tables().account_ids, account_number_key(row.number), id.view());
    });
}

Status Registry::set_rate_limit(const AccountId& id, std::optional<RateLimit> limit) {
    if (Status ok = check_limit(limit); !ok) {
        return ok;
    }
    return change_account(*access_, id, "set " + id.str() + ": rate limit " + limit_text(limit),
                          [&](RegisteredAccount& row) { row.rate_limit = limit; });
}

Status Registry::suspend_account(const AccountId& id, bool suspended) {
    return change_account(*access_, id, (suspended ? "suspend " : "resume ") + id.str(),
                          [&](RegisteredAccount& row) { row.suspended = suspended; });
}

Status Registry::create_shop(const ShopId& id, const AccountId& account, Timestamp now) {
    if (Status ok = check_id(id.view(), "a shop id"); !ok) {
        return ok;
    }
    return access_->write_own(
        "shop create " + id.str() + " of " + account.str(), [&](WriteTxn& txn) {
            const RegisteredAccount owner = access_->known_account(txn, account);
            if (const std::optional<RegisteredShop> taken = access_->load_shop(txn, id)) {
                throw StoreFailure(conflict("there is a shop \"" + id.str() +
                                            "\" already, of account \"" + taken->account_id.str() +
                                            "\""));
            }
            const RegisteredShop row{
                id, {access_->take_number(txn, kNextShopKey)}, account, owner.number, false, now};
            access_->store_shop(txn, row);
        });
}

Status Registry::suspend_shop(const ShopId& id, bool suspended) {
    return change_shop(*access_, id, [&](RegisteredShop& row) {
        row.suspended = suspended;
        return (suspended ? "suspend " : "resume ") + id.str();
    });
}

Status Registry::set_shop_source(const ShopId& id, const std::function<void(ShopSource&)>& change) {
    return change_shop(*access_, id, [&](RegisteredShop& row) {
        const ShopSource before = row.source;
        change(row.source);
        check_source(row.source);
        return "set " + id.str() + ": " + source_changes(before, row.source);
    });
}

Result<std::vector<RegisteredAccount>> Registry::accounts() {
    return access_->read([&](const Txn& txn) { return access_->accounts(txn); });
}

Result<std::vector<RegisteredShop>> Registry::shops(std::optional<AccountId> account) {
    return access_->read([&](const Txn& txn) {
        access_->check_account(txn, account);
        return access_->shops(txn, account);
    });
}

Result<std::optional<RegisteredAccount>> Registry::account(const AccountId& id) {
    return access_->read([&](const Txn& txn) { return access_->load_account(txn, id); });
}

Result<std::optional<RegisteredShop>> Registry::shop(const ShopId& id) {
    return access_->read([&](const Txn& txn) { return access_->load_shop(txn, id); });
}

}  // namespace sluice::store
