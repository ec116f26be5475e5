#include "lmdb_store/registry/access.hpp"

#include <limits>

#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

/// Returns nullopt without such a row.
template <class Decode>
auto load_row(const RegistryTables& tables, const Txn& txn, MDB_dbi table, std::string_view kind,
              std::string_view id, Decode&& decode) {
    const auto bytes = find(txn, table, id);
    return bytes ? std::optional(tables.sound(decode(id, *bytes), kind)) : std::nullopt;
}

constexpr auto kAll = [](const auto& /*row*/) { return true; };

template <class Decode, class Keeps>
auto load_rows(const RegistryTables& tables, const Txn& txn, MDB_dbi table, std::string_view kind,
               Decode&& decode, Keeps&& keeps) {
    std::vector<decltype(tables.sound(decode("", ""), kind))> rows;
    scan(txn, table, "", [&](std::string_view id, std::string_view bytes) {
        if (auto row = tables.sound(decode(id, bytes), kind); keeps(row)) {
            rows.push_back(std::move(row));
        }
    });
    return rows;
}

}  // namespace

Status RegistryAccess::write(const std::function<std::string(WriteTxn&)>& change) {
    is_unpublished_ = false;
    return attempt([&] {
        WriteTxn txn;
        begin(txn);
        log(txn, change(txn));
        commit(txn);
    });
}

Status RegistryAccess::write(const std::string& what,
                             const std::function<void(WriteTxn&)>& change) {
    return write([&](WriteTxn& txn) {
        change(txn);
        return what;
    });
}

Status RegistryAccess::write_own(const std::string& what,
                                 const std::function<void(WriteTxn&)>& change) {
    return write(what, [&](WriteTxn& txn) {
        check_independent(txn);
        change(txn);
    });
}

void RegistryAccess::log(const WriteTxn& txn, const std::string& what) const {
    store_change(txn,
                 {format().uuid, take_number(txn, kNextChangeKey), sluice::now(), author_, what});
}

void RegistryAccess::scan_changes(const Txn& txn,
                                  const std::function<void(ChangeRow)>& visit) const {
    scan(txn, tables_.main, kChangeKey, [&](std::string_view key, std::string_view bytes) {
        visit(tables_.sound(decode_change(key.substr(kChangeKey.size()), bytes), "change"));
    });
}

void RegistryAccess::store_change(const WriteTxn& txn, const ChangeRow& row) const {
    put(txn, tables_.main, std::string(kChangeKey) + row.store + "/" + big_endian(row.number),
        encode_change(row));
}

void RegistryAccess::renew_copy() {
    if (!copy_->page.still_in_place()) {  // the store was restored from a backup
        copy_->page = checked(PublishedGeneration::open(paths_));
        copy_->generation = 0;  // no copy has it
    }
    const std::uint64_t generation = copy_->page.current();
    if (generation != copy_->generation) {
        tables_ = checked(RegistryTables::open_published(paths_, generation));
        copy_->generation = generation;
    }
}

void RegistryAccess::begin(ReadTxn& txn) {
    if (copy_) {
        renew_copy();
    }
    check(txn.begin(*tables_.environment), *tables_.environment, "read");
}

void RegistryAccess::begin(WriteTxn& txn) const {
    check(txn.begin(*tables_.environment), *tables_.environment, "write");
}

void RegistryAccess::commit(WriteTxn& txn) {
    record_revision(tables_, txn);
    check(txn.commit(), *tables_.environment, "write");
    const Status published = publish();
    is_unpublished_ = !published.ok();
    if (is_unpublished_) {
        Error error = published.error();
        error.message +=
            "; the change is stored, but nginx does not use it yet: do not repeat it, run \"sluice "
            "registry publish\"";
        throw StoreFailure(error);
    }
}

std::optional<RegisteredAccount> RegistryAccess::load_account(const Txn& txn,
                                                              const AccountId& id) const {
    return load_row(tables_, txn, tables_.accounts, "account", id.view(), decode_account);
}

std::optional<RegisteredShop> RegistryAccess::load_shop(const Txn& txn, const ShopId& id) const {
    return load_row(tables_, txn, tables_.shops, "shop", id.view(), decode_shop);
}

RegisteredAccount RegistryAccess::known_account(const Txn& txn, const AccountId& id) const {
    std::optional<RegisteredAccount> row = load_account(txn, id);
    if (!row) {
        throw StoreFailure(not_found("there is no account \"" + id.str() + "\""));
    }
    return *std::move(row);
}

std::vector<RegisteredAccount> RegistryAccess::accounts(const Txn& txn) const {
    return load_rows(tables_, txn, tables_.accounts, "account", decode_account, kAll);
}

std::vector<RegisteredShop> RegistryAccess::shops(const Txn& txn,
                                                  const std::optional<AccountId>& account) const {
    return load_rows(
        tables_, txn, tables_.shops, "shop", decode_shop,
        [&](const RegisteredShop& row) { return !account || row.account_id == *account; });
}

std::vector<StoredToken> RegistryAccess::tokens(const Txn& txn) const {
    return load_rows(tables_, txn, tables_.tokens, "token", decode_token, kAll);
}

StoredToken RegistryAccess::load_token(const Txn& txn, std::string_view id) const {
    const auto bytes = find(txn, tables_.tokens, id);
    return tables_.sound(bytes ? decode_token(id, *bytes) : std::nullopt, "token");
}

void RegistryAccess::store_shop(const WriteTxn& txn, const RegisteredShop& row) const {
    const std::optional<RegisteredShop> before = load_shop(txn, row.shop_id);
    if (before && !before->source.domain.empty()) {
        const std::string key = domain_key(before->source.platform, before->source.domain);
        if (find(txn, tables_.main, key) == row.shop_id.view()) {  // a merge may have moved it
            erase(txn, tables_.main, key);
        }
    }
    if (!row.source.domain.empty()) {
        const std::string key = domain_key(row.source.platform, row.source.domain);
        if (const auto taken = find(txn, tables_.main, key)) {
            throw StoreFailure(conflict("shop \"" + std::string(*taken) + "\" has the domain \"" +
                                        row.source.domain + "\" already"));
        }
        put(txn, tables_.main, key, row.shop_id.view());
    }
    put(txn, tables_.shops, row.shop_id.view(), encode_shop(row));
}

void RegistryAccess::store_token(const WriteTxn& txn, const StoredToken& token) const {
    put(txn, tables_.tokens, token.row.token_id.view(), encode_token(token));
}

void RegistryAccess::scan_users(const Txn& txn, std::string_view prefix,
                                const std::function<void(UserRow)>& visit) const {
    scan(txn, tables_.main, std::string(kUserKey) + std::string(prefix),
         [&](std::string_view key, std::string_view bytes) {
             const std::string_view named = key.substr(kUserKey.size());
             visit(tables_.sound(decode_user(named.substr(0, named.find('\0')), bytes), "user"));
         });
}

void RegistryAccess::store_user(const WriteTxn& txn, const UserRow& row) const {
    put(txn, tables_.main, std::string(kUserKey) + row.name + '\0' + row.account_id.str(),
        encode_user(row));
}

std::vector<StoredToken> RegistryAccess::open_tokens(const Txn& txn, AccountNumber account) const {
    const std::string prefix = account_number_key(account);
    std::vector<StoredToken> tokens;
    scan(txn, tables_.account_tokens, prefix, [&](std::string_view key, std::string_view) {
        tokens.push_back(load_token(txn, key.substr(prefix.size())));
    });
    return tokens;
}

void RegistryAccess::retire(const WriteTxn& txn, const StoredToken& token,
                            std::int64_t seconds) const {
    const std::string id = token.row.token_id.str();
    erase(txn, tables_.account_tokens, account_number_key(token.account_number) + id);
    put(txn, tables_.account_tokens, retired_token_key(token.account_number, seconds, id), "");
    const auto keys =
        keys_of(txn, tables_.account_tokens, retired_tokens_key(token.account_number));
    for (std::size_t i = kRetiredTokensKept; i < keys.size(); ++i) {
        erase(txn, tables_.account_tokens, keys[i]);
    }
}

std::uint32_t RegistryAccess::next_of(const Txn& txn, std::string_view series) const {
    const auto stored = find(txn, tables_.main, series);
    if (!stored || stored->size() != sizeof(std::uint32_t)) {
        throw StoreFailure(tables_.damaged(series));
    }
    return get_big_endian<std::uint32_t>(stored->data());
}

std::uint32_t RegistryAccess::take_number(const WriteTxn& txn, std::string_view series) const {
    const std::uint32_t number = next_of(txn, series);
    if (number == 0 || number == std::numeric_limits<std::uint32_t>::max()) {
        throw StoreFailure(tables_.damaged(series));
    }
    put(txn, tables_.main, series, big_endian(number + 1));
    return number;
}

void RegistryAccess::reserve_number(const WriteTxn& txn, std::string_view series,
                                    std::uint32_t number) const {
    if (next_of(txn, series) <= number) {
        put(txn, tables_.main, series, big_endian(number + 1));
    }
}

std::optional<RegistryRevision> RegistryAccess::load_followed(const Txn& txn) const {
    const auto stored = find(txn, tables_.main, kFollowsKey);
    if (!stored) {
        return std::nullopt;
    }
    if (stored->size() <= sizeof(std::uint64_t)) {
        throw StoreFailure(tables_.damaged("source"));
    }
    const auto digest = find(txn, tables_.main, kFollowsDigestKey);
    if (!digest || digest->size() != sizeof(std::uint64_t) + sizeof(Digest256) ||
        digest->substr(0, sizeof(std::uint64_t)) != stored->substr(0, sizeof(std::uint64_t))) {
        throw StoreFailure(tables_.damaged("digest of the source"));
    }
    return RegistryRevision{std::string(stored->substr(sizeof(std::uint64_t))),
                            get_big_endian<std::uint64_t>(stored->data()),
                            std::string(digest->substr(sizeof(std::uint64_t)))};
}

void RegistryAccess::check_independent(const Txn& txn) const {
    if (const auto source = load_followed(txn)) {
        throw StoreFailure(
            conflict("this registry follows that of store " + source->source +
                     ": change it there, or run \"sluice registry detach\" here first"));
    }
}

}  // namespace sluice::store
