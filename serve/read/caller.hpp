// Callers: who sends a request, and which accounts the caller may read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {

/// The right of the role support beyond read_orders: creators with their payees, balances, payouts
/// and statements. No token has it; read_ledger includes it.
inline constexpr std::uint16_t kReadCreators = 256;

/// An account that a caller may read.
struct Grant {
    AccountId account_id;
    AccountNumber account;
    std::uint16_t scopes = 0;  ///< Bits of Scope, and kReadCreators.
    store::Role role = store::Role::kViewer;
};

struct Caller {
    bool is_user = false;
    std::string name;  ///< The user's name, or the token's id.
    std::vector<Grant> grants;

    /// Names the caller among all callers, for its rate window.
    [[nodiscard]] std::string key() const { return (is_user ? "u:" : "t:") + name; }
};

/// Returns the token of `Bearer <token>`, or an empty text.
[[nodiscard]] std::string_view bearer_of(std::string_view header);

/// Looks every request's caller up, so that a revoked one is refused at once. One thread at a time.
class Callers {
public:
    explicit Callers(store::StorePaths paths) : paths_(std::move(paths)) {}
    /// Opens the registry.
    [[nodiscard]] Status open();

    /// Returns the caller, nothing if the credential is not valid (401), or the error of a registry
    /// that cannot be read. A user without an account is a caller without grants.
    [[nodiscard]] Result<std::optional<Caller>> find(const Request& request, Timestamp now);

    /// As Registry::generation().
    [[nodiscard]] std::uint64_t generation() const { return registry_->generation(); }

private:
    [[nodiscard]] Result<std::optional<Caller>> find_token(const Request& request, Timestamp now);
    [[nodiscard]] Result<std::optional<Caller>> find_user(const Request& request);

    store::StorePaths paths_;
    std::unique_ptr<store::Registry> registry_;
};

}  // namespace sluice::serve
