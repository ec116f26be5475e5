#include "core/intake/body.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/values/assert.hpp"

namespace sluice {

BodyDigests BodyDigests::of_signed(const Sender& sender, Scope scope, Timestamp now) {
    BodyDigests digests;
    if (sender.shop != nullptr && sender.shop->active()) {
        for (const std::shared_ptr<const TokenView>& token : sender.shop->account->tokens) {
            if (token->may_sign(scope, now) && token->signing_key != nullptr) {
                const SigningKey& key = *token->signing_key;
                digests.signings_.push_back({token, &key, key.begin()});
            }
        }
    }
    const SigningKey& dummy = dummy_signing_key();
    while (digests.signings_.size() < sender.signing_tokens_max) {
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

BodyPieces::BodyPieces(std::size_t piece_bytes) : piece_bytes_(piece_bytes) {
    SLUICE_ASSERT(piece_bytes > 0);
    filling_ = make();
}

/// Leaves the memory uninitialized, so that the system provides pages as they are written.
std::unique_ptr<char[]> BodyPieces::make() const {
    return std::unique_ptr<char[]>(new char[piece_bytes_ + kBodySpareBytes]);
}

std::size_t BodyPieces::put(std::string_view bytes) noexcept {
    SLUICE_ASSERT(!is_ended_);
    const std::size_t taken = std::min(bytes.size(), piece_bytes_ - filled_);
    if (taken > 0) {
        std::memcpy(filling_.get() + filled_, bytes.data(), taken);
    }
    filled_ += taken;
    bytes_ += taken;
    is_short_ = taken < bytes.size();
    return taken;
}

BodyPieces::Next BodyPieces::next() const noexcept {
    if (is_broken_) {
        return is_given_ ? Next::kWait : Next::kBroken;
    }
    if (is_short_) {
        return is_given_ ? Next::kWait : Next::kGive;
    }
    if (is_ended_) {
        return is_given_ ? Next::kWait : Next::kWhole;
    }
    return Next::kRead;
}

std::string_view BodyPieces::give() {
    SLUICE_ASSERT(next() == Next::kGive);
    if (other_ == nullptr) {
        other_ = make();
    }
    std::swap(filling_, other_);
    is_given_ = true;
    was_given_ = true;
    is_short_ = false;
    return {other_.get(), std::exchange(filled_, 0)};
}

void BodyPieces::given_back() noexcept {
    SLUICE_ASSERT(is_given_);
    is_given_ = false;
}

void BodyPieces::release() noexcept {
    SLUICE_ASSERT(!is_given_);
    filling_.reset();
    other_.reset();
    filled_ = 0;
}

}  // namespace sluice
