// A registry and a rate gate in memory, and requests to send through intake.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/intake/intake.hpp"
#include "core/values/token_number.hpp"

namespace sluice::test {

inline std::string base64(const Digest256& digest) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const std::uint8_t byte : digest) {
        bits = bits << 8 | byte;
        for (held += 8; held >= 6; held -= 6) {
            text += kDigits[bits >> (held - 6) & 63U];
        }
    }
    text += kDigits[bits << (6 - held) & 63U];
    return text + "=";
}

inline constexpr Timestamp kNow{1'706'702'400, 0};

/// Counts its look-ups, so that tests see which answers need none.
class FakeRegistry : public RegistryView {
public:
    bool key_outdated = false;
    std::uint32_t tokens_max = 1;

    bool is_key_outdated() const noexcept override { return key_outdated; }
    std::uint32_t signing_tokens_max() const noexcept override { return tokens_max; }

    std::shared_ptr<AccountView> add_account(const std::string& id, std::uint32_t number) {
        auto account = std::make_shared<AccountView>();
        account->account_id = AccountId(id);
        account->number = {number};
        account->slot = {number};
        return account;
    }

    /// Gives the token to the account, as the store would: a revoked one is not listed there.
    std::shared_ptr<TokenView> add_token(const std::shared_ptr<AccountView>& account,
                                         const std::string& secret, unsigned scopes,
                                         bool revoked = false) {
        auto token = std::make_shared<TokenView>();
        token->token_id = TokenId(token_id_of(++tokens_made));
        token->account_number = account->number;
        token->scopes = static_cast<std::uint8_t>(scopes);
        token->revoked = revoked;
        if ((scopes & kSigningScopes) != 0) {
            token->signing_key = std::make_unique<SigningKey>(secret);
        }
        (revoked ? retired : account->tokens).push_back(token);
        bearers[secret] = {token, account};
        return token;
    }

    std::shared_ptr<const ShopView> find_platform_shop(Platform platform,
                                                       std::string_view domain) override {
        ++lookups;
        for (const auto& [id, shop] : shops) {
            if (shop->source.platform == platform && shop->source.domain == domain) {
                return shop;
            }
        }
        return nullptr;
    }

    std::shared_ptr<ShopView> add_shop(const std::string& id, std::uint32_t number,
                                       const std::shared_ptr<AccountView>& account) {
        auto shop = std::make_shared<ShopView>();
        shop->shop_id = ShopId(id);
        shop->number = {number};
        shop->account = account;
        shops[id] = shop;
        return shop;
    }

    std::shared_ptr<const ShopView> find_shop(std::string_view shop_id) override {
        ++lookups;
        const auto found = shops.find(std::string(shop_id));
        return found == shops.end() ? nullptr : found->second;
    }
    BearerView find_bearer(std::string_view secret) override {
        ++lookups;
        const auto found = bearers.find(std::string(secret));
        return found == bearers.end() ? BearerView() : found->second;
    }

    std::map<std::string, std::shared_ptr<ShopView>> shops;
    std::map<std::string, BearerView> bearers;
    std::vector<std::shared_ptr<const TokenView>> retired;
    int lookups = 0;
    std::uint64_t tokens_made = 0;
};

class FakeGate : public RateGate {
public:
    std::optional<RateVerdict> count(const AccountView& account) override {
        counted.push_back(account.account_id.str());
        return verdict;
    }

    void recognize(const AccountView& account) override {
        recognized.push_back(account.account_id.str());
    }

    std::optional<RateVerdict> verdict = RateVerdict{true, 600, 599, 1'706'702'460, 60};
    std::vector<std::string> counted, recognized;
};

/// One account with a shop and a token of every scope, and a second account.
struct World {
    World() {
        registry.add_token(acme, kSecret, kWriteOrders | kWriteProducts);
        registry.add_shop("shop-1", 1, acme);
        registry.add_token(other, kOtherSecret, kWriteOrders | kWriteProducts);
        registry.add_shop("shop-2", 2, other);
    }

    static constexpr const char* kSecret = "secret of acme, sixteen bytes";
    static constexpr const char* kOtherSecret = "secret of other, sixteen bytes";

    FakeRegistry registry;
    FakeGate gate;
    std::shared_ptr<AccountView> acme = registry.add_account("acme", 1);
    std::shared_ptr<AccountView> other = registry.add_account("other", 2);
    HeaderNames names{"X-SVC-"};
    IntakeScratch scratch;
};

/// A request whose head owns its text.
struct Request {
    std::map<std::string, std::vector<std::string>> headers;
    std::string body;
    bool is_post = true;

    [[nodiscard]] HeaderValue header(const std::string& name) const {
        const auto found = headers.find(name);
        if (found == headers.end() || found->second.empty()) {
            return {};
        }
        return {found->second.front(), static_cast<std::uint32_t>(found->second.size())};
    }
    [[nodiscard]] RequestHead head() const {
        RequestHead head;
        head.is_post = is_post;
        head.shop = header("X-SVC-SHOP-ID");
        head.topic = header("X-SVC-TOPIC");
        head.signature = header("X-Signature");
        head.content_type = header("Content-Type");
        head.content_encoding = header("Content-Encoding");
        head.authorization = header("Authorization");
        head.idempotency_key = header("Idempotency-Key");
        return head;
    }
    Request& set(const std::string& name, std::vector<std::string> values) {
        headers[name] = std::move(values);
        return *this;
    }
};

/// Outcomes of both steps of a request, as a caller uses them. No answer means accepted.
struct Outcomes {
    std::optional<Answer> answer;
    Accepted accepted;
    bool before_body = false;
    TokenId token{};  ///< The one that proved the sender.

    /// @param accept  The second step: gives the Accepting of a request that was opened.
    template <class Accept>
    static Outcomes of(Opened opened, Accept&& accept) {
        if (opened.answer) {
            return {std::move(opened.answer), {}, true, {}};
        }
        Accepting accepting = accept(opened.sender);
        return {std::move(accepting.answer), accepting.accepted, false,
                accepting.token != nullptr ? accepting.token->token_id : TokenId()};
    }
};

inline std::string signature_of(std::string_view body, std::string_view secret = World::kSecret) {
    return to_hex(SigningKey(secret).sign(body));
}

}  // namespace sluice::test
