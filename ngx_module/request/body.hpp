// The body of a request: where its bytes are, how a large one is taken while it arrives, and how
// long it may take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/intake/body.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

struct IngestRequest;

/// The bytes of a body: in one buffer of nginx, in several, in a temporary file of nginx, or, if
/// they came in pieces, in a bulk file.
class RequestBody {
public:
    /// References the request's buffers without copying them. Event loop, once the body is read.
    void reference(const ngx_http_request_t* r) noexcept;

    /// Takes a body that came in pieces and fitted into one. `text` stays valid until release().
    void take_piece(std::string_view text) noexcept;
    /// Takes a body of `bytes` that was written to a file. view() is empty until the bytes are read
    /// into make_room().
    void take_pieces(std::uint64_t bytes) noexcept;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Returns true if part of the body is in a file, so that reading it waits for the disk.
    [[nodiscard]] bool spooled() const noexcept { return spooled_; }

    /// Makes view() the whole body; copies it only if it is not contiguous. Any thread, while the
    /// request is parked. Returns false if the temporary file could not be read. Throws
    /// std::bad_alloc.
    [[nodiscard]] bool gather();
    /// Allocates bytes(), which the caller fills; view() refers to them. Throws std::bad_alloc.
    [[nodiscard]] char* make_room();
    [[nodiscard]] std::string_view view() const noexcept { return view_; }

    /// Frees the copy, if there is one.
    void release() noexcept;

private:
    const ngx_chain_t* chain_ = nullptr;  ///< Buffers that gather() copies; not contiguous.
    std::string_view view_;
    std::unique_ptr<char[]> copy_;
    std::uint64_t bytes_ = 0;
    bool spooled_ = false;
};

/// A large body that is taken while it arrives. The event loop fills its pieces; a thread of the
/// offload pool hashes each and writes it to the file that the record will name. The digests are
/// complete with the last byte, and at most two pieces are in memory.
///
/// If the file cannot be written, the body is still hashed, so that the sender is authenticated and
/// counted. The step that needs the bytes then gets the error.
class BodyStream {
public:
    /// Throws std::bad_alloc.
    BodyStream(std::size_t piece_bytes, BodyDigests digests);

    /// Used by the event loop; once the body is complete, by the thread that checks it.
    [[nodiscard]] BodyPieces& pieces() noexcept { return pieces_; }

    // Used by the pool's thread while it has a piece, and once the body is complete or broken.

    /// Hashes a piece and writes it.
    void take(std::string_view piece, const store::StorePaths& paths) noexcept;
    [[nodiscard]] const BodyDigests& digests() const noexcept { return digests_; }
    /// Reads the whole file into `body`. Returns false on an error, see error(). Throws
    /// std::bad_alloc.
    [[nodiscard]] bool read_into(RequestBody& body);
    /// Syncs the file and hands it over for its record. Returns nothing on an error, see error().
    [[nodiscard]] std::optional<store::BulkFile> seal() noexcept;
    /// Removes the file, if there is one.
    void drop() noexcept { file_.reset(); }

    [[nodiscard]] bool has_file() const noexcept { return file_.has_value(); }
    /// Returns why the bytes cannot be read, if so.
    [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
    /// Returns the time that hashing in take() took.
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

/// A BodyStream as the checks see it.
class StreamedBody final : public CheckedBody {
public:
    /// Both outlive this object.
    StreamedBody(BodyStream& stream, RequestBody& body) noexcept : stream_(stream), body_(body) {}

    [[nodiscard]] std::optional<bool> is_signed_by(const SigningKey& key,
                                                   const Digest256& signature) override;
    [[nodiscard]] Digest256 sha256() override { return stream_.digests().sha256(); }
    [[nodiscard]] Reason read(std::string_view& text) override;

private:
    BodyStream& stream_;
    RequestBody& body_;
};

/// A deadline for the whole body. client_body_timeout limits only the pause between two reads, so
/// that a sender of one byte now and then could hold a request for hours. Event loop.
class BodyDeadline {
public:
    using Handler = void (*)(IngestRequest& request) noexcept;

    BodyDeadline() = default;
    BodyDeadline(const BodyDeadline&) = delete;
    BodyDeadline& operator=(const BodyDeadline&) = delete;
    ~BodyDeadline() { stop(); }

    /// Calls `overdue` if the body takes longer than client_body_timeout, and the time that its
    /// bytes need at kBytesPerSecondMin.
    void start(const ngx_http_request_t* r, IngestRequest& request, Handler overdue) noexcept;
    /// Stops the clock while the sender waits for the server.
    void pause() noexcept;
    void resume() noexcept;
    void stop() noexcept;
    [[nodiscard]] bool is_running() const noexcept { return timer_.timer_set != 0; }

private:
    static constexpr off_t kBytesPerSecondMin = 16 * 1024;

    [[nodiscard]] static ngx_msec_t milliseconds_for(const ngx_http_request_t* r) noexcept;
    void on_overdue() noexcept { overdue_(*request_); }

    EventIdent ident_;
    ngx_event_t timer_{};
    ngx_msec_t left_ms_ = 0;  ///< While the clock is stopped.
    IngestRequest* request_ = nullptr;
    Handler overdue_ = nullptr;
};

}  // namespace sluice::ngx
