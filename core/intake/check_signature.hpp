// Signature check: whether a token that may sign has signed the body. Shared by events and
// webhooks, so that both compute the same number of HMACs for every sender.
#pragma once

#include "core/intake/answer.hpp"
#include "core/intake/body.hpp"
#include "core/intake/registry_view.hpp"

namespace sluice {

/// Returns kNone if a token of the shop's account for which `may_sign` is true signed the body,
/// kStoreUnavailable if one may have, or else why none did. A check that fails computes the same
/// number of HMACs whatever the reason, with the dummy key in place of tokens.
/// @param signer  Set to the token that signed.
template <class MaySign>
Reason check_signature(const Sender& sender, CheckedBody& body, MaySign may_sign,
                       const TokenView*& signer) {
    const ShopView* shop = sender.shop.get();
    const Digest256& signature = sender.signature;
    Reason reason = shop == nullptr   ? Reason::kShopUnknown
                    : !shop->active() ? Reason::kShopSuspended
                                      : Reason::kNoUsableToken;
    bool unreadable = sender.is_key_outdated;
    std::uint32_t tried = 0;
    if (reason == Reason::kNoUsableToken) {
        for (const std::shared_ptr<const TokenView>& token : shop->account->tokens) {
            if (!may_sign(*token)) {
                continue;
            }
            unreadable = unreadable || token->unreadable;
            if (token->signing_key == nullptr) {
                continue;
            }
            ++tried;
            const std::optional<bool> is_right = body.is_signed_by(*token->signing_key, signature);
            if (is_right.value_or(false)) {
                signer = token.get();
                return Reason::kNone;
            }
            unreadable = unreadable || !is_right;
            reason = Reason::kSignatureMismatch;
        }
    }
    for (; tried < sender.signing_tokens_max; ++tried) {
        static_cast<void>(body.is_signed_by(dummy_signing_key(), signature));
    }
    return unreadable ? Reason::kStoreUnavailable : reason;
}

}  // namespace sluice
