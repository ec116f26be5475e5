// Registry reader: the nginx worker's view, cached and never stale.
//
// Every find renews a kept read transaction and compares its id (no system call); entries of the
// cache are read again only when the id has moved, and prepared again only when their bytes
// changed. Between two calls it holds no snapshot, so no page of the file waits for it.
//
// Thread: one at a time. What it returns may be used on any thread.
// Errors: find_*() throw StoreFailure when the registry cannot be read: not the same as unknown.
#pragma once

#include <functional>
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

/// Gives the master key as it is now. Called when it is opened, and when a secret does not open,
/// which means that the key was replaced. Must not block for long: on the reader's thread.
using KeySource = std::function<Result<MasterKey>()>;

class RegistryReader : public RegistryView {
public:
    static constexpr std::size_t kCachedShopsMax = 16'384;  ///< Least recently used go first.

    /// Nothing: no account has this slot. Two point reads, not cached: for a few dozen accounts.
    [[nodiscard]] virtual std::optional<AccountSummary> find_account(AccountSlot slot) = 0;

    /// The registry's secrets were sealed with a key that `key_source` did not give: tokens that
    /// were used before go on working, others are unreadable.
    [[nodiscard]] virtual bool is_key_outdated() const noexcept = 0;

    [[nodiscard]] static Result<std::unique_ptr<RegistryReader>> open(const StorePaths& paths,
                                                                      KeySource key_source);
};

}  // namespace sluice::store
