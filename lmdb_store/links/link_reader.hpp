// LinkReader: a view of the published links, and of the accounts that may have some, for nginx.
//
// A snapshot never changes. Two loads of mapped words tell whether it is still what is published;
// then read() makes the next one, on a thread, because it reads files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "core/links/published_links.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

struct LinkAccount {
    AccountId id;
    bool is_suspended = false;
};

/// The links and accounts of one moment.
struct LinkSnapshot {
    std::shared_ptr<const PublishedLinks> links;
    std::shared_ptr<const std::unordered_map<std::uint32_t, LinkAccount>> accounts;
    std::uint64_t links_generation = 0, accounts_generation = 0;

    [[nodiscard]] const LinkAccount* account_of(const PublishedLink& link) const noexcept {
        const auto found = accounts->find(link.account.value);
        return found == accounts->end() ? nullptr : &found->second;
    }
};

/// Reads the published links and accounts, and the pages that tell of their changes. Any thread.
class LinkReader {
public:
    /// Returns kCorrupt or kNotFound if a page is missing.
    [[nodiscard]] static Result<LinkReader> open(const StorePaths& paths);
    /// Returns false once the links or the registry were published again. No system call.
    [[nodiscard]] bool is_current(const LinkSnapshot& snapshot) const noexcept {
        return snapshot.links_generation == links_page_.current() &&
               snapshot.accounts_generation == registry_page_.current();
    }
    /// Returns false if a page was removed or replaced: open the reader again.
    [[nodiscard]] bool still_in_place() const noexcept {
        return links_page_.still_in_place() && registry_page_.still_in_place();
    }
    /// Returns the links and accounts that are published now. Reads only those of another
    /// generation than `before` has. Waits for the disk.
    [[nodiscard]] Result<LinkSnapshot> read(const std::optional<LinkSnapshot>& before) const;

private:
    LinkReader(StorePaths paths, PublishedGeneration links, PublishedGeneration registry)
        : paths_(std::move(paths)),
          links_page_(std::move(links)),
          registry_page_(std::move(registry)) {}

    StorePaths paths_;
    PublishedGeneration links_page_, registry_page_;
};

}  // namespace sluice::store
