#include <algorithm>
#include <string_view>

#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {
namespace {

/// So that a small client_body_buffer_size does not make a task of every packet.
constexpr std::size_t kPieceBytesMin = 16U << 10;

/// Returns true if nginx is to hand over the body piece by piece, because it is, or may be, longer
/// than the memory that client_body_buffer_size sets aside.
bool comes_in_pieces(const ngx_http_request_t* r) noexcept {
    // With client_body_in_file_only the configuration asks nginx to write the body to a file.
    return !r->request_body_in_file_only &&
           (r->headers_in.chunked || r->headers_in.content_length_n >
                                         static_cast<off_t>(core_conf(r).client_body_buffer_size));
}

/// Copies what nginx has read, as far as there is room, and returns the buffers to nginx.
void put_buffers(ngx_http_request_t* r, BodyPieces& pieces) noexcept {
    ngx_chain_t*& chain = r->request_body->bufs;
    while (chain != nullptr) {
        ngx_buf_t* buffer = chain->buf;
        const std::string_view bytes = to_view(buffer->pos, buffer->last);
        const std::size_t taken = pieces.put(bytes);
        buffer->pos += taken;
        if (taken < bytes.size()) {
            return;
        }
        ngx_chain_t* done = chain;
        chain = chain->next;
        ngx_free_chain(r->pool, done);
    }
}

void run_piece(OffloadJob& job, ngx_log_t*) noexcept {
    auto& request = *static_cast<IngestRequest*>(job.owner);
    request.stream->take(request.given_piece, request.tools.paths);
}

void on_piece_taken(OffloadJob& job) noexcept {
    wake(*static_cast<IngestRequest*>(job.owner), Step::kPieceTaken);
}

void run_drop(OffloadJob& job, ngx_log_t*) noexcept {
    static_cast<IngestRequest*>(job.owner)->stream->drop();
}

void on_dropped(OffloadJob& job) noexcept {
    auto& request = *static_cast<IngestRequest*>(job.owner);
    wake(request, request.resume);
}

void enqueue(IngestRequest& request, void (*run)(OffloadJob&, ngx_log_t*) noexcept,
             void (*completed)(OffloadJob&) noexcept) noexcept {
    OffloadJob& job = request.offload_job;
    job.owner = &request;
    job.run = run;
    job.completed = completed;
    request.tools.offload.enqueue(job);
}

void stop_read_timer(const ngx_http_request_t* r) noexcept {
    ngx_event_t* event = r->connection->read;
    if (event->timer_set) {
        ngx_del_timer(event);
    }
}

/// Reads nothing more of the body.
void end_reading(IngestRequest& request) noexcept {
    request.deadline.stop();
    stop_read_timer(request.r);
    request.r->read_event_handler = ngx_http_block_reading;
}

Step pause(IngestRequest& request) noexcept {
    request.deadline.pause();
    stop_read_timer(request.r);
    return Step::kBodyHeld;
}

/// Continues with `then` once a thread has removed what was written of the body.
Step drop(IngestRequest& request, Step then) noexcept {
    if (!request.stream->has_file()) {
        return then;
    }
    request.resume = then;
    enqueue(request, run_drop, on_dropped);
    return Step::kParked;
}

/// The body is complete. It took its time, so the sender may have been revoked meanwhile.
Step complete(IngestRequest& request) noexcept {
    const BodyPieces& pieces = request.stream->pieces();
    end_reading(request);
    if (pieces.was_given()) {
        request.body.take_pieces(pieces.bytes());
    } else {
        request.body.take_piece(pieces.rest());
    }
    return Step::kLookUpAgain;
}

}  // namespace

Step read_body(IngestRequest& request, ngx_http_client_body_handler_pt on_read,
               BodyDeadline::Handler overdue) noexcept {
    ngx_http_request_t* r = request.r;
    r->request_body_no_buffering = comes_in_pieces(r) ? 1 : 0;
    const ngx_int_t rc = ngx_http_read_client_request_body(r, on_read);
    if (rc == NGX_AGAIN && !r->request_body_no_buffering) {
        request.deadline.start(r, request, overdue);
    }
    if (rc < NGX_HTTP_SPECIAL_RESPONSE) {
        return Step::kBodyComing;
    }
    request.ending = rc;
    return Step::kEnd;
}

Step body_read(IngestRequest& request) noexcept {
    request.body.reference(request.r);
    if (request.deadline.is_running()) {
        request.deadline.stop();
        return Step::kLookUpAgain;
    }
    return request.answer ? Step::kAnswer : Step::kCheck;
}

Step begin_pieces(IngestRequest& request, ngx_http_event_handler_pt on_readable,
                  BodyDeadline::Handler overdue) {
    request.r->read_event_handler = on_readable;
    request.deadline.start(request.r, request, overdue);
    const std::size_t bytes =
        std::max(kPieceBytesMin, core_conf(request.r).client_body_buffer_size);
    request.stream = std::make_unique<BodyStream>(
        bytes, request.signing_scope()
                   ? BodyDigests::of_signed(request.sender, *request.signing_scope(), loop_time())
                   : BodyDigests::of_batch());
    return Step::kReadPieces;
}

Step read_pieces(IngestRequest& request) {
    ngx_http_request_t* r = request.r;
    BodyPieces& pieces = request.stream->pieces();
    for (;;) {
        if (pieces.next() == BodyPieces::Next::kRead) {
            put_buffers(r, pieces);
        }
        switch (pieces.next()) {
            case BodyPieces::Next::kRead: {
                if (!r->reading_body) {
                    pieces.ended();
                    break;
                }
                const ngx_int_t rc = ngx_http_read_unbuffered_request_body(r);
                if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
                    request.ending = rc;
                    return break_off(request);
                }
                if (rc == NGX_AGAIN && r->request_body->bufs == nullptr) {
                    return pieces.is_given() ? Step::kBodyHeld : Step::kBodyComing;
                }
                break;
            }
            case BodyPieces::Next::kGive:
                request.given_piece = pieces.give();
                enqueue(request, run_piece, on_piece_taken);
                put_buffers(r, pieces);
                break;
            case BodyPieces::Next::kWait:
                return pause(request);
            case BodyPieces::Next::kWhole:
                return complete(request);
            case BodyPieces::Next::kBroken:
                return drop(request, Step::kEnd);
        }
    }
}

Step piece_taken(IngestRequest& request) {
    request.stream->pieces().given_back();
    request.deadline.resume();
    return read_pieces(request);
}

Step break_off(IngestRequest& request) {
    end_reading(request);
    request.stream->pieces().broke();
    return read_pieces(request);
}

Step drop_pieces(IngestRequest& request) noexcept {
    if (request.stream == nullptr) {
        return Step::kAnswer;
    }
    end_reading(request);
    return drop(request, Step::kAnswer);
}

bool is_reading_paused(const IngestRequest& request) noexcept {
    return request.stream->pieces().next() == BodyPieces::Next::kWait;
}

}  // namespace sluice::ngx
