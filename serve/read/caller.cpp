#include "serve/read/caller.hpp"

#include <algorithm>
#include <utility>

#include "core/intake/registry_view.hpp"
#include "core/values/texts.hpp"

namespace sluice::serve {

std::string_view bearer_of(std::string_view header) {
    constexpr std::string_view kScheme = "bearer ";
    if (header.size() <= kScheme.size() ||
        ascii_lower(header.substr(0, kScheme.size())) != kScheme) {
        return {};
    }
    header.remove_prefix(kScheme.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

Status Callers::open() {
    return assign(registry_, store::Registry::open(paths_, store::Registry::Mode::kPublished));
}

Result<std::optional<Caller>> Callers::find(const Request& request, Timestamp now) {
    return request.door == Door::kTokens ? find_token(request, now) : find_user(request);
}

Result<std::optional<Caller>> Callers::find_token(const Request& request, Timestamp now) {
    const std::string header = request.authorization.value_or("");
    const std::string_view secret = bearer_of(header);
    if (secret.empty()) {
        return std::optional<Caller>();
    }
    const auto found = registry_->bearer(secret);
    if (!found.ok()) {
        return found.error();
    }
    const std::optional<store::Bearer>& bearer = *found;
    if (!bearer || bearer->account.suspended || !store::is_active(bearer->token, now)) {
        return std::optional<Caller>();
    }
    const std::uint8_t scopes = bearer->token.scopes;
    const store::Role role =
        (scopes & kReadLedger) != 0 ? store::Role::kManager : store::Role::kViewer;
    return std::optional(
        Caller{false,
               bearer->token.token_id.str(),
               {{bearer->account.account_id, bearer->account.number, scopes, role}}});
}

Result<std::optional<Caller>> Callers::find_user(const Request& request) {
    const auto name = store::user_name(request.user.value_or(""));
    if (!name) {
        return std::optional<Caller>();
    }
    const auto accounts = registry_->accounts_of(*name);
    if (!accounts.ok()) {
        return accounts.error();
    }
    Caller caller{true, *name, {}};
    for (const store::UserAccount& own : *accounts) {
        if (!own.account.suspended) {
            const std::uint16_t more = own.role == store::Role::kManager
                                           ? std::uint16_t{kReadLedger}
                                       : own.role == store::Role::kSupport ? kReadCreators
                                                                           : std::uint16_t{0};
            caller.grants.push_back({own.account.account_id, own.account.number,
                                     static_cast<std::uint16_t>(kReadOrders | more), own.role});
        }
    }
    const bool all_suspended = caller.grants.empty() && !accounts->empty();
    return all_suspended ? std::optional<Caller>() : std::optional(std::move(caller));
}

}  // namespace sluice::serve
