// RegistryReader: the nginx worker's view of the registry, cached and never stale.
//
// Every find compares the generation of the published registry (published.hpp), without a system
// call. If it grew, the reader opens the new copy. A cached entry is read again only then, and
// prepared again only if its bytes have changed. The caller passes the master key, again after it
// was replaced (is_key_outdated()).
//
// Threads: one at a time; results may be used on any thread. Blocking: to open a new copy, and for
// pages that are not in memory. Errors: find_*() throw StoreFailure if the registry cannot be read,
// because an unreadable shop is not an unknown one.
#pragma once

#include <memory>
#include <optional>

#include "core/intake/registry_view.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/registry/registry_size.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

/// An account on the status page.
struct AccountSummary {
    AccountId account_id;
    std::optional<RateLimit> rate_limit;  ///< Empty means the default.
};

class RegistryReader : public RegistryView {
public:
    /// Above it, the reader evicts the least recently used shop.
    static constexpr std::size_t kCachedShopsMax = 16'384;

    /// Returns the account of this slot, or nullopt. Reads two rows, uncached: for a few dozen
    /// accounts.
    [[nodiscard]] virtual std::optional<AccountSummary> find_account(AccountSlot slot) = 0;

    /// Returns how much the registry has. Reads no row.
    [[nodiscard]] virtual RegistrySize size() = 0;

    /// Returns the number of slots in use; every slot is below it. One uncached read.
    [[nodiscard]] virtual std::uint64_t slots_used() = 0;

    /// Uses the one of the file's keys that is in force from now on, also for secrets that could
    /// not be decrypted before. Returns false, and changes nothing, if the registry's secrets were
    /// encrypted with none of them.
    [[nodiscard]] virtual bool use_key(const MasterKey& file) = 0;

    /// Returns false once the page that tells of changes was removed or replaced. Any thread.
    [[nodiscard]] virtual bool still_in_place() const noexcept = 0;

    /// Returns kCorrupt if the registry's secrets were encrypted with none of the keys in `file`.
    [[nodiscard]] static Result<std::unique_ptr<RegistryReader>> open(const StorePaths& paths,
                                                                      const MasterKey& file);
};

}  // namespace sluice::store
