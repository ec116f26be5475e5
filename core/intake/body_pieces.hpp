// BodyPieces: a body that is taken piece by piece while it comes, without nginx, threads or files.
//
// Bytes are copied into the piece that is being filled. A full piece is given to the pool, which
// hashes and writes it, while the next one is filled: two pieces at most, however long the body is.
// While the pool has one and the other is full, nothing more is read, so that the sender waits. A
// body of one piece is never given: it stays in memory.
//
//     put() ... next() = kRead ──> read more, put() again; ended() after the last byte
//                        kGive ──> give() to the pool, and go on: there is room again
//                        kWait ──> nothing, until given_back()
//                        kWhole ─> all of it came and the pool has nothing: rest() is left
//                        kBroken > nothing more comes and the pool has nothing: throw it away
//
// Thread: one at a time. The pool reads what give() gave until given_back().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice {

class BodyPieces {
public:
    enum class Next : std::uint8_t { kRead, kGive, kWait, kWhole, kBroken };

    /// @param piece_bytes  More than 0. Throws std::bad_alloc.
    explicit BodyPieces(std::size_t piece_bytes);

    /// Takes what there is room for. @return how much that was; less than offered: the rest is
    /// offered again after the next give(). Requires: not ended.
    [[nodiscard]] std::size_t put(std::string_view bytes) noexcept;
    /// The last byte was put.
    void ended() noexcept { is_ended_ = true; }
    /// It will never be whole: the sender has gone, or was refused. Also after ended().
    void broke() noexcept { is_broken_ = true; }

    [[nodiscard]] Next next() const noexcept;

    /// The full piece, for the pool. Requires: next() is kGive. Throws std::bad_alloc; nothing has
    /// changed then.
    [[nodiscard]] std::string_view give();
    /// The pool is done with it. Requires: given, and not back.
    void given_back() noexcept;

    /// What the pool was not given. Requires: next() is kWhole.
    [[nodiscard]] std::string_view rest() const noexcept { return {filling_.get(), filled_}; }
    /// Of all that was put.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// The pool has a piece now; it had one.
    [[nodiscard]] bool is_given() const noexcept { return is_given_; }
    [[nodiscard]] bool was_given() const noexcept { return was_given_; }
    /// Frees its memory. Requires: the pool has nothing; nothing more is asked but bytes().
    void release() noexcept;

private:
    [[nodiscard]] std::unique_ptr<char[]> make() const;

    std::size_t piece_bytes_;
    std::unique_ptr<char[]> filling_;
    std::unique_ptr<char[]> other_;  ///< The pool's, or spare; made when it is needed.
    std::size_t filled_ = 0;
    std::uint64_t bytes_ = 0;
    bool is_short_ = false;  ///< More was offered than there was room for.
    bool is_given_ = false;  ///< `other_` is the pool's.
    bool was_given_ = false;
    bool is_ended_ = false;
    bool is_broken_ = false;
};

}  // namespace sluice
