#include "lmdb_store/links/link_reader.hpp"

#include <utility>

#include "lmdb_store/links/published_file.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {
namespace {

using LinkAccounts = std::unordered_map<std::uint32_t, LinkAccount>;

std::shared_ptr<const LinkAccounts> read_accounts(const StorePaths& paths,
                                                  std::uint64_t generation) {
    const RegistryTables tables = checked(RegistryTables::open_published(paths, generation));
    ReadTxn txn;
    check(txn.begin(*tables.environment), *tables.environment, "read");
    auto accounts = std::make_shared<LinkAccounts>();
    scan(txn, tables.accounts, "", [&](std::string_view id, std::string_view bytes) {
        const RegisteredAccount row = tables.sound(decode_account(id, bytes), "account");
        accounts->insert_or_assign(row.number.value, LinkAccount{row.account_id, row.suspended});
    });
    return accounts;
}

}  // namespace

Result<LinkReader> LinkReader::open(const StorePaths& paths) {
    return attempt([&] {
        PublishedGeneration links =
            checked(PublishedGeneration::open(links_generation_file(paths)));
        return LinkReader(paths, std::move(links), checked(PublishedGeneration::open(paths)));
    });
}

Result<LinkSnapshot> LinkReader::read(const std::optional<LinkSnapshot>& before) const {
    return attempt([&] {
        LinkSnapshot snapshot;
        // Read first: a file that is published meanwhile is then read again.
        snapshot.links_generation = links_page_.current();
        snapshot.accounts_generation = registry_page_.current();
        if (before && before->links_generation == snapshot.links_generation) {
            snapshot.links = before->links;
        } else {
            snapshot.links = std::make_shared<const PublishedLinks>(
                checked(read_links(paths_, snapshot.links_generation)));
        }
        if (before && before->accounts_generation == snapshot.accounts_generation) {
            snapshot.accounts = before->accounts;
        } else {
            snapshot.accounts = read_accounts(paths_, snapshot.accounts_generation);
        }
        return snapshot;
    });
}

}  // namespace sluice::store
