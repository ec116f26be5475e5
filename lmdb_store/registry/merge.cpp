// Exports a registry, and merges another store's registry into this one.
#include <openssl/crypto.h>

#include <algorithm>
#include <map>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace sluice::store {
namespace {

Error number_conflict(const std::string& what, std::uint32_t here, std::uint32_t there) {
    return {ErrorCode::kConflict,
            what + " has the number " + std::to_string(here) + " in this store and " +
                std::to_string(there) +
                " in the other: a store whose accounts and shops were created in two places cannot "
                "be one of a fleet; begin with a new one (sluice init)"};
}

}  // namespace

Status check_snapshot_key(const RegistrySnapshot& snapshot, const MasterKey& key) {
    const Result<std::string> text = key.open(snapshot.key_check, kKeyCheckKey);
    if (!text || *text != kKeyCheckText) {
        return invalid(
            "it was made with another master key: every store of a fleet needs a copy of the "
            "master.key of store " +
            snapshot.revision.source);
    }
    return Status::success();
}

bool descends_from(const RegistrySnapshot& snapshot, const RegistryRevision& earlier) {
    if (earlier.source != snapshot.revision.source) {
        return false;
    }
    if (earlier.number == snapshot.revision.number) {
        return earlier.digest == snapshot.revision.digest;
    }
    const auto past = std::lower_bound(
        snapshot.history.begin(), snapshot.history.end(), earlier.number,
        [](const PastRevision& at, std::uint64_t number) { return at.number < number; });
    return past != snapshot.history.end() && past->number == earlier.number &&
           earlier.digest.size() >= sizeof(std::uint64_t) &&
           past->digest == get_big_endian<std::uint64_t>(earlier.digest.data());
}

/// One merge, in one transaction. Throws StoreFailure, and the caller aborts the transaction.
class RegistryMerge {
public:
    /// @param own  The revision of this store's own registry.
    RegistryMerge(const RegistryAccess& access, WriteTxn& txn, const RegistrySnapshot& from,
                  const MasterKey& key, RegistryRevision own)
        : access_(access),
          tables_(access.tables()),
          txn_(txn),
          from_(from),
          key_(key),
          own_(std::move(own)) {}

    /// Returns false if the snapshot is this store's own registry, as it is now.
    [[nodiscard]] bool check_source(MergeFrom allowed);
    void adopt_key();
    void merge_accounts(std::uint32_t accounts_max);
    void merge_shops();
    void merge_tokens();
    void merge_users();
    void merge_log();
    /// Returns true if the transaction must be committed.
    [[nodiscard]] bool finish();
    [[nodiscard]] std::vector<RegistryChange>& changes() noexcept { return changes_; }

private:
    void note(std::string_view kind, const std::string& id, std::string change) {
        changes_.push_back({kind, id, std::move(change)});
    }
    void add_account(const RegisteredAccount& row, std::uint32_t accounts_max);
    void add_token(const SealedToken& token, const RegisteredAccount& account);
    void update_token(const SealedToken& token);

    const RegistryAccess& access_;
    const RegistryTables& tables_;
    WriteTxn& txn_;
    const RegistrySnapshot& from_;
    const MasterKey& key_;
    RegistryRevision own_;
    std::vector<RegistryChange> changes_;
    bool key_adopted_ = false;
};

bool RegistryMerge::check_source(MergeFrom allowed) {
    if (from_.revision.source == own_.source) {
        if (from_.revision == own_) {
            return false;
        }
        throw StoreFailure(conflict(
            "it is this store's own registry as it was earlier: restore a backup instead"));
    }
    const std::optional<RegistryRevision> before = access_.load_followed(txn_);
    if (!before || allowed == MergeFrom::kAny) {
        return true;
    }
    if (before->source != from_.revision.source) {
        throw StoreFailure(conflict("it comes from store " + from_.revision.source +
                                    ", but this registry follows that of store " + before->source +
                                    ": --force follows the other one from now on"));
    }
    if (from_.revision.number < before->number) {
        throw StoreFailure(conflict("it is older (revision " +
                                    std::to_string(from_.revision.number) +
                                    ") than what is here (revision " +
                                    std::to_string(before->number) + "): --force merges it"));
    }
    if (!descends_from(from_, *before)) {
        throw StoreFailure(
            conflict("it is no later state of what is here (revision " +
                     std::to_string(before->number) + "): the history of store " + before->source +
                     " was forked, as by a backup that was restored there. Nothing was changed. "
                     "Compare accounts, shops and tokens on both sides; --force merges it, and "
                     "tokens that are revoked here stay revoked"));
    }
    return true;
}

void RegistryMerge::adopt_key() {
    check(check_snapshot_key(from_, key_));
    const Result<MasterKey> own = tables_.key_in_force(txn_, key_);
    if (own) {
        return;
    }
    bool empty = true;
    scan(txn_, tables_.tokens, "",
         [&](std::string_view, std::string_view) { return empty = false; });
    if (!empty) {
        throw StoreFailure(own.error());
    }
    put(txn_, tables_.main, kKeyCheckKey, key_.seal(kKeyCheckText, kKeyCheckKey));
    key_adopted_ = true;
}

void RegistryMerge::add_account(const RegisteredAccount& row, std::uint32_t accounts_max) {
    if (const auto taken = find(txn_, tables_.account_ids, account_number_key(row.number))) {
        throw StoreFailure(conflict("account \"" + row.account_id.str() + "\" has the number " +
                                    std::to_string(row.number.value) + ", which is account \"" +
                                    std::string(*taken) +
                                    "\" in this store: begin with a new one (sluice init)"));
    }
    if (row.slot.value >= accounts_max) {
        throw StoreFailure(
            {ErrorCode::kLimit,
             "it has more accounts than this store's " + std::to_string(accounts_max) +
                 ": raise the limit with \"sluice store set --max-accounts N\" and restart nginx"});
    }
    put(txn_, tables_.accounts, row.account_id.view(), encode_account(row));
    put(txn_, tables_.account_ids, account_number_key(row.number), row.account_id.view());
    access_.reserve_number(txn_, kNextAccountKey, row.number.value);
    note("account", row.account_id.str(), "added");
}

void RegistryMerge::merge_accounts(std::uint32_t accounts_max) {
    for (const RegisteredAccount& row : from_.accounts) {
        std::optional<RegisteredAccount> here = access_.load_account(txn_, row.account_id);
        if (!here) {
            add_account(row, accounts_max);
            continue;
        }
        if (here->number.value != row.number.value) {
            throw StoreFailure(number_conflict("account \"" + row.account_id.str() + "\"",
                                               here->number.value, row.number.value));
        }
        const std::size_t before = changes_.size();
        if (here->rate_limit != row.rate_limit) {
            note("account", row.account_id.str(), "rate limit " + limit_text(row.rate_limit));
        }
        if (here->suspended != row.suspended) {
            note("account", row.account_id.str(), row.suspended ? "suspended" : "resumed");
        }
        if (changes_.size() != before) {
            put(txn_, tables_.accounts, row.account_id.view(), encode_account(row));
        }
    }
}

void RegistryMerge::merge_shops() {
    std::map<std::uint32_t, std::string> numbers;
    scan(txn_, tables_.shops, "", [&](std::string_view id, std::string_view bytes) {
        if (const auto row = decode_shop(id, bytes)) {
            numbers.emplace(row->number.value, id);
        }
    });
    for (const RegisteredShop& row : from_.shops) {  // two shops may have exchanged their domains
        const std::optional<RegisteredShop> here = access_.load_shop(txn_, row.shop_id);
        if (here && here->source != row.source && !here->source.domain.empty()) {
            erase(txn_, tables_.main, domain_key(here->source.platform, here->source.domain));
        }
    }
    for (const RegisteredShop& row : from_.shops) {
        const std::optional<RegisteredShop> here = access_.load_shop(txn_, row.shop_id);
        const auto taken = numbers.find(row.number.value);
        if (here && here->number.value != row.number.value) {
            throw StoreFailure(number_conflict("shop \"" + row.shop_id.str() + "\"",
                                               here->number.value, row.number.value));
        }
        if (taken != numbers.end() && taken->second != row.shop_id.str()) {
            throw StoreFailure(conflict("shop \"" + row.shop_id.str() +
                                        "\" has the number of shop \"" + taken->second +
                                        "\" in this store: begin with a new one (sluice init)"));
        }
        if (here && here->account_id != row.account_id) {
            throw StoreFailure(conflict("shop \"" + row.shop_id.str() + "\" belongs to account \"" +
                                        here->account_id.str() + "\" in this store"));
        }
        const bool keeps_source = here && here->source == row.source;
        if (keeps_source && here->suspended == row.suspended) {
            continue;
        }
        access_.store_shop(txn_, row);
        access_.reserve_number(txn_, kNextShopKey, row.number.value);
        numbers.emplace(row.number.value, row.shop_id.str());
        if (!here || here->suspended != row.suspended) {
            note("shop", row.shop_id.str(),
                 !here ? "added" : (row.suspended ? "suspended" : "resumed"));
        }
        if (here && !keeps_source) {
            note("shop", row.shop_id.str(), source_changes(here->source, row.source));
        }
    }
}

void RegistryMerge::add_token(const SealedToken& token, const RegisteredAccount& account) {
    std::string secret = checked(key_.open(token.sealed_secret, token.row.token_id.view()));
    StoredToken row{token.row, account.number, sha256(secret), token.sealed_secret,
                    page_key_of(token.row, secret)};
    OPENSSL_cleanse(secret.data(), secret.size());
    const bool is_borne = (row.row.scopes & kWebhookScopes) == 0;
    if (is_borne && find(txn_, tables_.bearers, to_view(row.secret_sha256))) {
        throw StoreFailure(conflict("another token of this store has the secret of token \"" +
                                    token.row.token_id.str() + "\""));
    }
    access_.store_token(txn_, row);
    if (is_borne) {
        put(txn_, tables_.bearers, to_view(row.secret_sha256), token.row.token_id.view());
    }
    if (token.row.revoked_at) {
        access_.retire(txn_, row, token.row.revoked_at->seconds);
    } else {
        put(txn_, tables_.account_tokens,
            account_number_key(account.number) + token.row.token_id.str(), "");
    }
    note("token", token.row.token_id.str(), token.row.revoked_at ? "added, revoked" : "added");
}

/// Revokes a token. Tokens never change otherwise.
void RegistryMerge::update_token(const SealedToken& token) {
    StoredToken here = access_.load_token(txn_, token.row.token_id.view());
    if (here.row.revoked_at || !token.row.revoked_at) {
        return;
    }
    here.row.revoked_at = token.row.revoked_at;
    access_.store_token(txn_, here);
    access_.retire(txn_, here, here.row.revoked_at->seconds);
    note("token", token.row.token_id.str(), "revoked");
}

void RegistryMerge::merge_tokens() {
    for (const SealedToken& token : from_.tokens) {
        if (find(txn_, tables_.tokens, token.row.token_id.view())) {
            update_token(token);
            continue;
        }
        const auto account = access_.load_account(txn_, token.row.account_id);
        if (!account) {
            throw StoreFailure(corrupt("token \"" + token.row.token_id.str() +
                                       "\" belongs to an account that is not among them"));
        }
        add_token(token, *account);
    }
}

void RegistryMerge::merge_users() {
    std::map<std::pair<std::string, std::string>, UserRow> here;
    access_.scan_users(txn_, "", [&here](const UserRow& row) {
        here.insert_or_assign({row.name, row.account_id.str()}, row);
    });
    for (const UserRow& row : from_.users) {
        const auto before = here.find({row.name, row.account_id.str()});
        if (before != here.end() && before->second.role == row.role &&
            before->second.created_at == row.created_at &&
            before->second.removed_at == row.removed_at) {
            continue;
        }
        if (!access_.load_account(txn_, row.account_id)) {
            throw StoreFailure(
                corrupt("user \"" + row.name + "\" belongs to an account that is not among them"));
        }
        access_.store_user(txn_, row);
        note("user", row.name + " of " + row.account_id.str(),
             row.removed_at ? "removed"
                            : (row.role == Role::kManager   ? "added as manager"
                               : row.role == Role::kSupport ? "added as support"
                                                            : "added as viewer"));
    }
}

void RegistryMerge::merge_log() {
    for (const ChangeRow& row : from_.changes) {
        access_.store_change(txn_, row);
    }
    if (!changes_.empty()) {
        access_.log(txn_, "registry merge from store " + from_.revision.source + ", revision " +
                              std::to_string(from_.revision.number));
    }
}

bool RegistryMerge::finish() {
    if (changes_.empty() && !key_adopted_ && access_.load_followed(txn_) == from_.revision) {
        return false;
    }
    const std::string number = big_endian(from_.revision.number);
    put(txn_, tables_.main, kFollowsKey, number + from_.revision.source);
    put(txn_, tables_.main, kFollowsDigestKey, number + from_.revision.digest);
    return true;
}

Result<std::vector<RegistryChange>> Registry::merge(const RegistrySnapshot& snapshot,
                                                    const MasterKey& key, MergeFrom from) {
    return attempt([&]() -> std::vector<RegistryChange> {
        const StoreFormat format = access_->format();
        WriteTxn txn;
        access_->begin(txn);
        RegistryMerge merge(*access_, txn, snapshot, key,
                            revision_of(access_->tables(), txn, format.uuid));
        if (!merge.check_source(from)) {
            return {};
        }
        merge.adopt_key();
        merge.merge_accounts(format.max_accounts);
        merge.merge_shops();
        merge.merge_tokens();
        merge.merge_users();
        merge.merge_log();
        if (merge.finish()) {
            access_->commit(txn);
        }
        return std::move(merge.changes());
    });
}

Result<RegistrySnapshot> Registry::snapshot(Timestamp now) {
    return access_->read([&](const ReadTxn& txn) {
        const StoreFormat format = access_->format();
        access_->check_independent(txn);
        RegistrySnapshot all{
            .revision = revision_of(access_->tables(), txn, format.uuid),
            .history = history_of(access_->tables(), txn),
            .exported_at = now,
            .key_check = std::string(find(txn, access_->tables().main, kKeyCheckKey).value_or("")),
            .accounts = access_->accounts(txn),
            .shops = access_->shops(txn)};
        for (StoredToken& token : access_->tokens(txn)) {
            all.tokens.push_back({std::move(token.row), std::move(token.sealed_secret)});
        }
        access_->scan_users(txn, "", [&](UserRow row) { all.users.push_back(std::move(row)); });
        access_->scan_changes(txn, [&](ChangeRow row) { all.changes.push_back(std::move(row)); });
        return all;
    });
}

Result<std::optional<RegistryRevision>> Registry::followed() {
    return access_->read([&](const Txn& txn) { return access_->load_followed(txn); });
}

Status Registry::detach() {
    return access_->write("registry detach", [&](WriteTxn& txn) {
        if (!erase(txn, access_->tables().main, kFollowsKey)) {
            throw StoreFailure(conflict("this registry follows no other"));
        }
    });
}

}  // namespace sluice::store
