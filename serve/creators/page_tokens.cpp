#include "serve/creators/page_tokens.hpp"

#include "serve/read/caller.hpp"

namespace sluice::serve {

Status PageTokens::open() {
    return assign(registry_, store::Registry::open(paths_, store::Registry::Mode::kPublished));
}

bool PageTokens::is_signed(const std::string& text, const SignedPageToken& token,
                           const PageKey& key) {
    constexpr std::size_t kRemembered = 4096;
    const auto known = verified_.find(text);
    if (known != verified_.end() && known->second == key) {
        return true;
    }
    if (!token.verify(key)) {
        return false;
    }
    if (verified_.size() >= kRemembered) {
        verified_.clear();  // the tokens in use come again
    }
    verified_.insert_or_assign(text, key);
    return true;
}

Result<std::variant<PageCaller, PageRefusal>> PageTokens::find(
    const std::optional<std::string>& authorization, const AccountId& account, Timestamp now) {
    using Found = std::variant<PageCaller, PageRefusal>;
    const std::string header = authorization.value_or("");
    const std::string text(bearer_of(header));
    if (text.empty()) {
        return Found(PageRefusal::kMissing);
    }
    const auto signed_token = parse_page_token(text);
    if (!signed_token) {
        return Found(PageRefusal::kMalformed);
    }
    const PageToken& token = signed_token->token;
    const auto row = registry_->token(token.token_id);
    if (!row.ok()) {
        return row.error();
    }
    if (!*row || !(*row)->page_key) {
        return Found(PageRefusal::kUnknown);
    }
    const store::Bearer& bearer = **row;
    if (!is_signed(text, *signed_token, *bearer.page_key)) {
        return Found(PageRefusal::kSignature);
    }
    if (!token.counts_at(now.seconds)) {
        return Found(PageRefusal::kTime);
    }
    if (bearer.account.suspended || !store::is_active(bearer.token, now)) {
        return Found(PageRefusal::kInactive);
    }
    if (bearer.account.account_id != account) {
        return Found(PageRefusal::kAccount);
    }
    return Found(PageCaller{CreatorScope::proven(bearer.account.number, token.creator),
                            token.creator.str() + "/" + token.random});
}

}  // namespace sluice::serve
