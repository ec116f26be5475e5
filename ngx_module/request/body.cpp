#include "ngx_module/request/body.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "ngx_module/store/store_link.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"

namespace sluice::ngx {
namespace {
std::uint64_t bytes_of(const ngx_buf_t* buffer) noexcept {
    return static_cast<std::uint64_t>(ngx_buf_size(buffer));
}

bool copy_buffer(const ngx_buf_t* buffer, char* to) noexcept {
    const std::size_t bytes = bytes_of(buffer);
    if (ngx_buf_in_memory(buffer)) {
        std::memcpy(to, buffer->pos, bytes);
        return true;
    }
    return !buffer->in_file ||
           read_at(buffer->file->fd, to, bytes, static_cast<std::uint64_t>(buffer->file_pos)) ==
               static_cast<std::int64_t>(bytes);
}

Error no_memory() noexcept {
    return {ErrorCode::kInternal, {}};  // a message would need memory
}

}  // namespace

void RequestBody::reference(const ngx_http_request_t* r) noexcept {
    chain_ = nullptr;
    view_ = {};
    bytes_ = 0;
    spooled_ = false;
    const ngx_chain_t* first = r->request_body != nullptr ? r->request_body->bufs : nullptr;
    bool one_piece = true;
    for (const ngx_chain_t* link = first; link != nullptr; link = link->next) {
        const ngx_buf_t* buffer = link->buf;
        const std::uint64_t bytes = bytes_of(buffer);
        if (bytes == 0) {
            continue;
        }
        bytes_ += bytes;
        if (!ngx_buf_in_memory(buffer)) {
            spooled_ = true;
            one_piece = false;
            continue;
        }
        // The bytes that came with the head and the rest are often adjacent in one buffer.
        const std::string_view piece = to_view(buffer->pos, buffer->last);
        if (view_.empty()) {
            view_ = piece;
        } else if (view_.data() + view_.size() == piece.data()) {
            view_ = {view_.data(), view_.size() + piece.size()};
        } else {
            one_piece = false;
        }
    }
    if (!one_piece) {
        view_ = {};
        chain_ = first;
    }
}

bool RequestBody::gather() {
    if (chain_ == nullptr) {
        return true;
    }
    char* to = make_room();
    for (const ngx_chain_t* link = chain_; link != nullptr; link = link->next) {
        if (!copy_buffer(link->buf, to)) {
            view_ = {};
            return false;
        }
        to += bytes_of(link->buf);
    }
    chain_ = nullptr;
    return true;
}

void RequestBody::take_piece(std::string_view text) noexcept {
    chain_ = nullptr;
    view_ = text;
    bytes_ = text.size();
    spooled_ = false;
}

void RequestBody::take_pieces(std::uint64_t bytes) noexcept {
    take_piece({});
    bytes_ = bytes;
    spooled_ = true;
}

char* RequestBody::make_room() {
    copy_.reset(new char[bytes_ + kBodySpareBytes]);
    view_ = {copy_.get(), bytes_};
    return copy_.get();
}

void RequestBody::release() noexcept {
    copy_.reset();
    chain_ = nullptr;
    view_ = {};
}

// -- A body in pieces -----------------------------------------------------------------------------

BodyStream::BodyStream(std::size_t piece_bytes, BodyDigests digests)
    : pieces_(piece_bytes), digests_(std::move(digests)) {}

void BodyStream::take(std::string_view piece, const store::StorePaths& paths) noexcept {
    const std::uint64_t started_us = monotonic_us();
    digests_.add(piece);
    hash_us_ += monotonic_us() - started_us;
    if (error_) {
        return;
    }
    try {
        if (Status written = write(piece, paths); !written) {
            fail(written.error());
        }
    } catch (const std::bad_alloc&) {
        fail(no_memory());
    }
}

Status BodyStream::write(std::string_view piece, const store::StorePaths& paths) {
    if (!file_) {
        Result<store::BulkFile> made = store::BulkFile::create(paths);
        if (!made) {
            return made.error();
        }
        file_.emplace(std::move(*made));
    }
    return file_->add(piece);
}

/// Removes the file at once, because it takes room from others if the disk is full.
void BodyStream::fail(Error error) noexcept {
    error_ = std::move(error);
    file_.reset();
}

bool BodyStream::read_into(RequestBody& body) {
    if (error_) {
        return false;
    }
    if (Status read = file_->read_back(body.make_room()); !read) {
        body.release();  // the buffer does not hold the body
        fail(read.error());
        return false;
    }
    return true;
}

std::optional<store::BulkFile> BodyStream::seal() noexcept {
    try {
        if (Status sealed = file_->seal(digests_.sha256()); !sealed) {
            fail(sealed.error());
        }
    } catch (const std::bad_alloc&) {
        fail(no_memory());
    }
    return std::exchange(file_, std::nullopt);
}

std::optional<bool> StreamedBody::is_signed_by(const SigningKey& key, const Digest256& signature) {
    if (const std::optional<bool> known = stream_.digests().is_signed_by(key, signature)) {
        return known;
    }
    // The token was created, or became readable, while the body arrived.
    std::string_view text;
    return read(text) == Reason::kNone ? std::optional(key.verify(text, signature)) : std::nullopt;
}

Reason StreamedBody::read(std::string_view& text) {
    if (body_.view().empty() && !stream_.read_into(body_)) {
        return reason_of(stream_.error()->code);
    }
    text = body_.view();
    return Reason::kNone;
}

// -- The deadline ---------------------------------------------------------------------------------

ngx_msec_t BodyDeadline::milliseconds_for(const ngx_http_request_t* r) noexcept {
    const ngx_http_core_loc_conf_t& core = core_conf(r);
    const off_t announced = r->headers_in.content_length_n;
    // For a chunked body, nginx counts there what has arrived.
    const bool is_announced = announced > 0 && !r->headers_in.chunked;
    const off_t bytes = is_announced ? announced : core.client_max_body_size;
    return core.client_body_timeout + static_cast<ngx_msec_t>(bytes / kBytesPerSecondMin) * 1000;
}

void BodyDeadline::start(const ngx_http_request_t* r, IngestRequest& request,
                         Handler overdue) noexcept {
    request_ = &request;
    overdue_ = overdue;
    bind_event<&BodyDeadline::on_overdue>(timer_, ident_, this, r->connection->log);
    timer_.cancelable = 1;  // nginx's own timer keeps a quitting process here
    ngx_add_timer(&timer_, milliseconds_for(r));
}

void BodyDeadline::pause() noexcept {
    if (timer_.timer_set) {
        const auto left = static_cast<ngx_msec_int_t>(timer_.timer.key - loop_ms());
        left_ms_ = left > 0 ? static_cast<ngx_msec_t>(left) : 1;
        ngx_del_timer(&timer_);
    }
}

void BodyDeadline::resume() noexcept {
    if (left_ms_ > 0) {
        ngx_add_timer(&timer_, std::exchange(left_ms_, 0));
    }
}

void BodyDeadline::stop() noexcept {
    left_ms_ = 0;
    if (timer_.timer_set) {
        ngx_del_timer(&timer_);
    }
}

}  // namespace sluice::ngx
