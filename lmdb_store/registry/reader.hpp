// Registry reader: the nginx worker's view, cached and never stale.
//
// Every find renews a kept read transaction and compares its id (no system call); entries of the
// cache are read again only when the id has moved, and prepared again only when their bytes
// changed. It never opens a file: who has it gives it the master key, again when that was replaced
// (is_key_outdated()). Between two calls it holds no snapshot, so no page of the file waits for it.
//
// Thread: one at a time. What it returns may be used on any thread.
// Errors: find_*() throw StoreFailure when the registry cannot be read: not the same as unknown.
#pragma once

#include <memory>
#include <optional>

#include "core/intake/registry_view.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

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

    /// How many slots accounts have taken: every slot is below it. One point read.
    [[nodiscard]] virtual std::uint64_t slots_used() = 0;

    /// The registry's secrets were sealed with `key`: those that could not be read are read with it
    /// from now on. False: they were not, and nothing changed. Neither blocks nor reads a file.
    [[nodiscard]] virtual bool use_key(const MasterKey& key) = 0;

    /// @param key  kCorrupt if it is not the one that sealed the registry's secrets.
    [[nodiscard]] static Result<std::unique_ptr<RegistryReader>> open(const StorePaths& paths,
                                                                      const MasterKey& key);
};

}  // namespace sluice::store
