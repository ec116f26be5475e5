#include "lmdb_store/links/link_reader.hpp"

#include <utility>

#include "lmdb_store/links/published_file.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {
namespace {

using LinkAccounts = std::unordered_map<std::uint32_t, LinkAccount>;

Result<std::shared_ptr<const LinkAccounts>> read_accounts(const StorePaths& paths,
                                                          std::uint64_t generation) {
    const Result<RegistryTables> tables = RegistryTables::open_published(paths, generation);
    if (!tables) {
        return tables.error();
    }
    return attempt([&]() -> Result<std::shared_ptr<const LinkAccounts>> {
        ReadTxn txn;
        check(txn.begin(*tables->environment), *tables->environment, "read");
        auto accounts = std::make_shared<LinkAccounts>();
        scan(txn, tables->accounts, "", [&](std::string_view id, std::string_view bytes) {
            const RegisteredAccount row = tables->sound(decode_account(id, bytes), "account");
            accounts->insert_or_assign(row.number.value,
                                       LinkAccount{row.account_id, row.suspended});
            return true;
        });
        return std::shared_ptr<const LinkAccounts>(std::move(accounts));
    });
}

}  // namespace

Result<LinkReader> LinkReader::open(const StorePaths& paths) {
    Result<PublishedGeneration> links = PublishedGeneration::open(links_generation_file(paths));
    if (!links) {
        return links.error();
    }
    Result<PublishedGeneration> registry = PublishedGeneration::open(paths);
    return registry ? Result<LinkReader>(LinkReader(paths, std::move(*links), std::move(*registry)))
                    : registry.error();
}

Result<LinkSnapshot> LinkReader::read(const std::optional<LinkSnapshot>& before) const {
    LinkSnapshot snapshot;
    // Read first: a file that is published meanwhile is then read again.
    snapshot.links_generation = links_page_.current();
    snapshot.accounts_generation = registry_page_.current();
    if (before && before->links_generation == snapshot.links_generation) {
        snapshot.links = before->links;
    } else {
        Result<PublishedLinks> links = read_links(paths_, snapshot.links_generation);
        if (!links) {
            return links.error();
        }
        snapshot.links = std::make_shared<const PublishedLinks>(std::move(*links));
    }
    if (before && before->accounts_generation == snapshot.accounts_generation) {
        snapshot.accounts = before->accounts;
    } else {
        auto accounts = read_accounts(paths_, snapshot.accounts_generation);
        if (!accounts) {
            return accounts.error();
        }
        snapshot.accounts = std::move(*accounts);
    }
    return snapshot;
}

}  // namespace sluice::store
