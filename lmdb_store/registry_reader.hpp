// Registry reader: the nginx worker's view, cached and never stale.
//
// Every find renews a kept read transaction and compares its id (no system call); entries of the
// cache are read again only when the id has moved, and prepared again only when their bytes
// changed. Between two calls it holds no snapshot, so no page of the file waits for it.
//
// Thread: one at a time. What it returns may be used on any thread.
// Errors: find_*() throw std::exception when the registry cannot be read: not the same as unknown.
#pragma once

#include <memory>
#include <optional>

#include "core/registry_view.hpp"
#include "core/result.hpp"
#include "lmdb_store/master_key.hpp"
#include "lmdb_store/store_format.hpp"

namespace sluice::store {

/// An account as the status page names it.
struct AccountSummary {
    AccountId account_id;
    std::optional<RateLimit> rate_limit;  ///< Its own, if it has one.
};

class RegistryReader : public RegistryView {
public:
    static constexpr std::size_t kCachedShopsMax = 16'384;  ///< Least recently used go first.

    /// Nothing: no account has this slot. Two point reads, not cached: for a few dozen accounts.
    [[nodiscard]] virtual std::optional<AccountSummary> find_account(AccountSlot slot) = 0;

    [[nodiscard]] static Result<std::unique_ptr<RegistryReader>> open(const StorePaths& paths,
                                                                      const MasterKey& key);
};

}  // namespace sluice::store
