#include "ngx_module/request/pieces.hpp"

#include <algorithm>
#include <string_view>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/loop_clock.hpp"
#include "ngx_module/request/body_deadline.hpp"
#include "ngx_module/request/open.hpp"

namespace sluice::ngx {
namespace {

/// So that a small client_body_buffer_size does not make a task of every packet.
constexpr std::size_t kPieceBytesMin = 16U << 10;

const ngx_http_core_loc_conf_t* core_conf(const ngx_http_request_t* r) noexcept {
    return static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
}

/// Copies what nginx has read, as far as there is room, and lets it use its buffer again.
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
    request.stream->take(request.given_piece, request.tools->paths);
}

void run_drop(OffloadJob& job, ngx_log_t*) noexcept {
    static_cast<IngestRequest*>(job.owner)->stream->drop();
}

void on_done(OffloadJob& job) noexcept {
    wake(*static_cast<IngestRequest*>(job.owner));
}

void line_up(IngestRequest& request, void (*run)(OffloadJob&, ngx_log_t*) noexcept) noexcept {
    OffloadJob& job = request.offload_job;
    job.owner = &request;
    job.run = run;
    job.completed = on_done;
    request.tools->offload.line_up(job);
}

void stop_read_timer(const ngx_http_request_t* r) noexcept {
    ngx_event_t* event = r->connection->read;
    if (event->timer_set) {
        ngx_del_timer(event);
    }
}

/// Nothing more is read of the body.
void end_reading(IngestRequest& request) noexcept {
    stop_body_deadline(request);
    stop_read_timer(request.r);
    request.r->read_event_handler = ngx_http_block_reading;
}

Step pause(IngestRequest& request) noexcept {
    pause_body_deadline(request);
    stop_read_timer(request.r);
    return Step::kBodyHeld;
}

/// The body took its time: a sender that was revoked meanwhile is refused.
Step whole(IngestRequest& request) {
    BodyPieces& pieces = request.stream->pieces();
    end_reading(request);
    if (pieces.was_given()) {
        request.body.take_pieces(pieces.bytes());
    } else {
        request.body.take_piece(pieces.rest());
    }
    look_up_sender(request);
    return request.answer ? drop_pieces(request, Step::kAnswer) : Step::kCheck;
}

}  // namespace

bool comes_in_pieces(const ngx_http_request_t* r) noexcept {
    // With client_body_in_file_only the configuration wants nginx to write it to a file.
    return !r->request_body_in_file_only &&
           (r->headers_in.chunked || r->headers_in.content_length_n >
                                         static_cast<off_t>(core_conf(r)->client_body_buffer_size));
}

void begin_pieces(IngestRequest& request) {
    const std::size_t bytes =
        std::max(kPieceBytesMin, core_conf(request.r)->client_body_buffer_size);
    request.stream = std::make_unique<BodyStream>(
        bytes, request.is_events() ? BodyDigests::of_event(request.sender, loop_time())
                                   : BodyDigests::of_batch());
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
                request.resume = Step::kPieceTaken;
                line_up(request, run_piece);
                put_buffers(r, pieces);
                break;
            case BodyPieces::Next::kWait:
                return pause(request);
            case BodyPieces::Next::kWhole:
                return whole(request);
            case BodyPieces::Next::kBroken:
                return drop_pieces(request, Step::kEnd);
        }
    }
}

Step piece_taken(IngestRequest& request) {
    request.stream->pieces().given_back();
    resume_body_deadline(request);
    return read_pieces(request);
}

Step break_off(IngestRequest& request) {
    end_reading(request);
    request.stream->pieces().broke();
    return read_pieces(request);
}

Step drop_pieces(IngestRequest& request, Step step) noexcept {
    if (request.stream == nullptr || !request.stream->has_file()) {
        return step;
    }
    line_up(request, run_drop);
    return park_until(request, step);
}

bool is_reading_paused(const IngestRequest& request) noexcept {
    return request.stream->pieces().next() == BodyPieces::Next::kWait;
}

}  // namespace sluice::ngx
