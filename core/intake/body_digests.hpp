// BodyDigests: everything that the checks of a body need to know of all its bytes, worked out while
// they come: its HMAC under every key that may have signed it, and its SHA-256.
//
// Who may have signed is asked again when the body is whole, because a token may be made or revoked
// meanwhile. A key that is asked for then and was not begun with is told apart, never guessed.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/intake/intake.hpp"

namespace sluice {

/// One thread at a time.
class BodyDigests {
public:
    /// Of an event: a sender without a usable key costs one dummy HMAC, as in accept_event().
    /// Throws std::bad_alloc.
    static BodyDigests of_event(const Sender& sender, Timestamp now);
    /// Of a batch: SHA-256 alone. Throws std::bad_alloc.
    static BodyDigests of_batch() { return {}; }

    void add(std::string_view piece) noexcept;

    /// Is `signature` the HMAC of what was added? Nothing: it was not begun with `key`.
    [[nodiscard]] std::optional<bool> is_signed_by(const SigningKey& key,
                                                   const Digest256& signature) const noexcept;
    [[nodiscard]] Digest256 sha256() const noexcept { return sha256_.digest(); }

private:
    struct Signing {
        std::shared_ptr<const TokenView> token;  ///< Keeps the key where it is.
        const SigningKey* key;
        RunningHmac hmac;
    };

    BodyDigests() = default;

    std::vector<Signing> signings_;
    RunningSha256 sha256_;
};

}  // namespace sluice
