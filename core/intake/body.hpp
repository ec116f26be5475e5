// The body of a request: how the checks see it, and how a large one is taken while it arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/intake/answer.hpp"
#include "core/intake/registry_view.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/interface.hpp"

namespace sluice {

/// Memory that must be readable after a body, because the JSON parser reads beyond the end. Without
/// it the parser would copy the body.
inline constexpr std::size_t kBodySpareBytes = 64;

/// A body as accept_event() and accept_catalog() need it: first what was computed from its bytes,
/// and the bytes only if they are needed. A small body is in memory (WholeBody). The digests of a
/// large one are complete with its last byte, and its bytes are in a file
/// (ngx_module/request/body.hpp). One thread at a time.
class CheckedBody : public Interface {
public:
    /// Returns whether `signature` is the HMAC-SHA256 under `key`, or nothing if the bytes cannot
    /// be read. Throws std::bad_alloc.
    [[nodiscard]] virtual std::optional<bool> is_signed_by(const SigningKey& key,
                                                           const Digest256& signature) = 0;
    [[nodiscard]] virtual Digest256 sha256() = 0;
    /// Sets `text` to the bytes, which stay valid as long as the body. May wait for the disk.
    /// Throws std::bad_alloc.
    /// @return Reason::kNone, or why the bytes cannot be read; `text` is unchanged then.
    [[nodiscard]] virtual Reason read(std::string_view& text) = 0;
};

/// A body in memory.
class WholeBody final : public CheckedBody {
public:
    /// @param text  Outlives this object.
    explicit WholeBody(std::string_view text) noexcept : text_(text) {}

    [[nodiscard]] std::optional<bool> is_signed_by(const SigningKey& key,
                                                   const Digest256& signature) override {
        return key.verify(text_, signature);
    }
    [[nodiscard]] Digest256 sha256() override { return sluice::sha256(text_); }
    [[nodiscard]] Reason read(std::string_view& text) override {
        text = text_;
        return Reason{};
    }

private:
    std::string_view text_;
};

/// The digests that the checks need of a body, computed while it arrives: the HMAC under every
/// key that may have signed it, and the SHA-256.
///
/// The keys are selected again when the body is complete, because a token may be created or revoked
/// meanwhile. A key that was not known at the start is reported as such, never guessed. One thread
/// at a time.
class BodyDigests {
public:
    /// Begins an event, or clicks. Computes Sender::signing_tokens_max HMACs for every sender, with
    /// the dummy key in place of missing tokens, as accept_event() does. Throws std::bad_alloc.
    /// @param scope  Of the tokens that may sign.
    static BodyDigests of_signed(const Sender& sender, Scope scope, Timestamp now);
    /// Begins a batch, with SHA-256 alone. Throws std::bad_alloc.
    static BodyDigests of_batch() { return {}; }

    void add(std::string_view piece) noexcept;

    /// Returns whether `signature` is the HMAC of the added bytes, or nothing if `key` was not
    /// known at the start.
    [[nodiscard]] std::optional<bool> is_signed_by(const SigningKey& key,
                                                   const Digest256& signature) const noexcept;
    [[nodiscard]] Digest256 sha256() const noexcept { return sha256_.digest(); }

private:
    struct Signing {
        std::shared_ptr<const TokenView> token;  ///< Keeps the key in place.
        const SigningKey* key;
        RunningHmac hmac;
    };

    BodyDigests() = default;

    std::vector<Signing> signings_;
    RunningSha256 sha256_;
};

/// A body that is taken piece by piece while it arrives, without nginx, threads or files.
///
/// put() copies bytes into the piece that is being filled. The caller gives a full piece to a
/// thread pool, which hashes and writes it while the next piece is filled. So at most two pieces
/// are in memory, however long the body is. While the pool has one piece and the other is full,
/// nothing more is read and the sender waits. A body of one piece is never given; it stays in
/// memory.
///
///     put() ... next() = kRead ──> read more, put() again; ended() after the last byte
///                        kGive ──> give() to the pool, and read on
///                        kWait ──> nothing, until given_back()
///                        kWhole ─> all bytes came and the pool has no piece: rest() remains
///                        kBroken > no more bytes come and the pool has no piece: discard it
///
/// Thread: one at a time. The pool reads what give() returned until given_back().
class BodyPieces {
public:
    enum class Next : std::uint8_t { kRead, kGive, kWait, kWhole, kBroken };

    /// Requires: piece_bytes > 0. Throws std::bad_alloc.
    explicit BodyPieces(std::size_t piece_bytes);

    /// Copies what there is room for, and returns how much. The caller offers the rest again after
    /// the next give(). Requires: not ended.
    [[nodiscard]] std::size_t put(std::string_view bytes) noexcept;
    /// Reports that the last byte was put.
    void ended() noexcept { is_ended_ = true; }
    /// Reports that the body will never be complete, because the sender left or was refused.
    /// Allowed after ended().
    void broke() noexcept { is_broken_ = true; }

    [[nodiscard]] Next next() const noexcept;

    /// Returns the full piece, for the pool. Requires: next() is kGive. Throws std::bad_alloc and
    /// changes nothing then.
    [[nodiscard]] std::string_view give();
    /// Takes the piece back from the pool. Requires: is_given().
    void given_back() noexcept;

    /// Returns what the pool was not given. Requires: next() is kWhole.
    [[nodiscard]] std::string_view rest() const noexcept { return {filling_.get(), filled_}; }
    /// Returns how many bytes were put.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Returns whether the pool has a piece now; was_given() whether it ever had one.
    [[nodiscard]] bool is_given() const noexcept { return is_given_; }
    [[nodiscard]] bool was_given() const noexcept { return was_given_; }
    /// Frees the memory; afterwards only bytes() may be called. Requires: the pool has no piece.
    void release() noexcept;

private:
    [[nodiscard]] std::unique_ptr<char[]> make() const;

    std::size_t piece_bytes_;
    std::unique_ptr<char[]> filling_;
    std::unique_ptr<char[]> other_;  ///< The pool's, or spare; allocated when it is needed.
    std::size_t filled_ = 0;
    std::uint64_t bytes_ = 0;
    bool is_short_ = false;  ///< More was offered than fitted.
    bool is_given_ = false;  ///< `other_` is the pool's.
    bool was_given_ = false;
    bool is_ended_ = false;
    bool is_broken_ = false;
};

}  // namespace sluice
