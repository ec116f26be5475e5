// Signature header: whatever is sent, only the right digest opens, and the diagnosis copes.
#include <string>

#include "check.hpp"
#include "core/intake/diagnosis.hpp"
#include "core/protocol/signature.hpp"

namespace {

struct World {
    World() {
        auto token = std::make_shared<sluice::TokenView>();
        token->scopes = sluice::kWriteOrders;
        token->signing_key = std::make_unique<sluice::SigningKey>("a secret of sixteen bytes");
        auto account = std::make_shared<sluice::AccountView>();
        account->tokens.push_back(token);
        shop.account = account;
    }
    sluice::ShopView shop;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const World world;
    const std::string_view text = sluice::fuzz::text_of(data, size);
    const auto lower = sluice::parse_hex_digest(text, sluice::HexCase::kLowerOnly);
    const auto either = sluice::parse_hex_digest(text, sluice::HexCase::kEither);
    FUZZ_CHECK(!lower || (either && *either == *lower));
    FUZZ_CHECK(!lower || sluice::to_hex(*lower) == text);
    FUZZ_CHECK(!either || text.size() == 64);
    if (lower) {
        const auto& key = *world.shop.account->tokens.front()->signing_key;
        FUZZ_CHECK(key.verify("{}", *lower) == (key.sign("{}") == *lower));
    }
    const std::string_view mistake = sluice::diagnose_signature(
        {text, 1}, text, &world.shop, {}, sluice::kWriteOrders, {1'700'000'000, 0});
    FUZZ_CHECK(mistake.size() < 40);
    return 0;
}
