#include "core/intake/body_digests.hpp"

namespace sluice {

BodyDigests BodyDigests::of_event(const Sender& sender, Timestamp now) {
    BodyDigests digests;
    if (sender.shop != nullptr && sender.shop->active()) {
        for (const std::shared_ptr<const TokenView>& token : sender.shop->account->tokens) {
            if (may_sign_events(*token, now) && token->signing_key != nullptr) {
                const SigningKey& key = *token->signing_key;
                digests.signings_.push_back({token, &key, key.begin()});
            }
        }
    }
    if (digests.signings_.empty()) {
        const SigningKey& dummy = dummy_signing_key();
        digests.signings_.push_back({nullptr, &dummy, dummy.begin()});
    }
    return digests;
}

void BodyDigests::add(std::string_view piece) noexcept {
    sha256_.add(piece);
    for (Signing& signing : signings_) {
        signing.hmac.add(piece);
    }
}

std::optional<bool> BodyDigests::is_signed_by(const SigningKey& key,
                                              const Digest256& signature) const noexcept {
    for (const Signing& signing : signings_) {
        if (signing.key == &key) {
            return equal_constant_time(signing.hmac.digest(), signature);
        }
    }
    return std::nullopt;
}

}  // namespace sluice
