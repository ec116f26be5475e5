// Page tokens of requests: which creator's page a request may read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "core/creators/creator_scope.hpp"
#include "core/protocol/page_token.hpp"
#include "core/values/ids.hpp"
#include "core/values/name_table.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace sluice::serve {

/// Why a request is refused: for the metrics. The client gets 401 in each case.
enum class PageRefusal : std::uint8_t {
    kMissing,    ///< No page token in `Authorization`.
    kMalformed,  ///< A text that no server makes.
    kUnknown,    ///< No token with the scope creator_pages has this id.
    kSignature,
    kTime,      ///< Expired, ahead of the clock, or made for longer than an hour.
    kInactive,  ///< The API token is revoked or expired, or the account suspended.
    kAccount,   ///< The path names another account.
};
inline constexpr NameTable<PageRefusal, 7> kPageRefusals{{{PageRefusal::kMissing, "missing"},
                                                          {PageRefusal::kMalformed, "malformed"},
                                                          {PageRefusal::kUnknown, "unknown"},
                                                          {PageRefusal::kSignature, "signature"},
                                                          {PageRefusal::kTime, "time"},
                                                          {PageRefusal::kInactive, "inactive"},
                                                          {PageRefusal::kAccount, "account"}}};
static_assert(kPageRefusals.size() == static_cast<std::size_t>(PageRefusal::kAccount) + 1);
[[nodiscard]] inline std::string_view to_string(PageRefusal refusal) noexcept {
    return name_in(kPageRefusals, refusal, "account");
}

/// A creator whose page token counts.
struct PageCaller {
    CreatorScope scope;
    std::string logged;  ///< `ann/9f3c21d0a4b7e655`: creator and random bytes, for the log.
};

/// Looks the registry's row up for each request, so that a revoked token ends its page tokens at
/// once. Remembers signatures that were verified, and no row. One thread at a time.
class PageTokens {
public:
    explicit PageTokens(store::StorePaths paths) : paths_(std::move(paths)) {}
    /// Opens the registry.
    [[nodiscard]] Status open();

    /// Returns the error of a registry that cannot be read.
    /// @param authorization  The header, or nothing without it.
    /// @param account        Of the path.
    [[nodiscard]] Result<std::variant<PageCaller, PageRefusal>> find(
        const std::optional<std::string>& authorization, const AccountId& account, Timestamp now);

    /// As Registry::generation().
    [[nodiscard]] std::uint64_t generation() const { return registry_->generation(); }

private:
    [[nodiscard]] bool is_signed(const std::string& text, const SignedPageToken& token,
                                 const PageKey& key);

    store::StorePaths paths_;
    std::unique_ptr<store::Registry> registry_;
    std::unordered_map<std::string, PageKey> verified_;  ///< By the token's text.
};

}  // namespace sluice::serve
