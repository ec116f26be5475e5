// BodyStream: a large body that is taken as it comes. Its pieces are filled on the event loop; a
// thread of the offload pool hashes them and writes them to the file that the record will name. So
// its digests are ready when the last byte is, and no more than two pieces of it lie in memory.
//
// A file that cannot be written does not end it: who sent it, and whether the account's window has
// room, is found out all the same. What needs the bytes then gets the error.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/intake/body_digests.hpp"
#include "core/intake/body_pieces.hpp"
#include "core/intake/checked_body.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "ngx_module/request/body.hpp"

namespace sluice::ngx {

class BodyStream {
public:
    /// Throws std::bad_alloc.
    BodyStream(std::size_t piece_bytes, BodyDigests digests);

    /// The event loop's; once the body is whole, the thread's that checks it.
    [[nodiscard]] BodyPieces& pieces() noexcept { return pieces_; }

    // On the pool's thread while it has a piece, and once the body is whole or broken.

    /// Hashes a piece and writes it.
    void take(std::string_view piece, const store::StorePaths& paths) noexcept;
    [[nodiscard]] const BodyDigests& digests() const noexcept { return digests_; }
    /// Reads all of it into `body`. Throws std::bad_alloc. @return false: see error().
    [[nodiscard]] bool read_into(RequestBody& body);
    /// Makes the file ready for its record. @return nothing: see error().
    [[nodiscard]] std::optional<store::BulkFile> seal() noexcept;
    /// Removes the file, if there is one.
    void drop() noexcept { file_.reset(); }

    [[nodiscard]] bool has_file() const noexcept { return file_.has_value(); }
    /// Why its bytes cannot be had, if so.
    [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
    /// What take() has taken.
    [[nodiscard]] std::uint64_t hash_us() const noexcept { return hash_us_; }

private:
    [[nodiscard]] Status write(std::string_view piece, const store::StorePaths& paths);
    void fail(Error error) noexcept;

    BodyPieces pieces_;
    BodyDigests digests_;
    std::optional<store::BulkFile> file_;
    std::optional<Error> error_;
    std::uint64_t hash_us_ = 0;
};

/// The checks' view of it.
class StreamedBody final : public CheckedBody {
public:
    /// Both outlive it.
    StreamedBody(BodyStream& stream, RequestBody& body) noexcept : stream_(stream), body_(body) {}

    [[nodiscard]] std::optional<bool> is_signed_by(const SigningKey& key,
                                                   const Digest256& signature) override;
    [[nodiscard]] Digest256 sha256() override { return stream_.digests().sha256(); }
    [[nodiscard]] Reason read(std::string_view& text) override;

private:
    BodyStream& stream_;
    RequestBody& body_;
};

}  // namespace sluice::ngx
