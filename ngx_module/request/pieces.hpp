// Stages of a body that comes in pieces: more of it is there, a thread has taken a piece, it will
// never be whole. What happens next is core/intake/body_pieces.hpp's to say.
#pragma once

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

// Event loop.

/// Is nginx to give the body piece by piece, because it is longer than the memory that is set aside
/// for it (client_body_buffer_size), or may be?
[[nodiscard]] bool comes_in_pieces(const ngx_http_request_t* r) noexcept;

/// nginx has read the first of it, and more is to come. Throws std::bad_alloc.
void begin_pieces(IngestRequest& request);
/// Reads on. @return kBodyComing, kBodyHeld; kCheck or kAnswer: it is whole; kEnd: it is broken; or
/// kParked, before one of the last two: what was written is removed first.
[[nodiscard]] Step read_pieces(IngestRequest& request);
[[nodiscard]] Step piece_taken(IngestRequest& request);
/// It ends with `ending`. @return kBodyHeld, kParked or kEnd.
[[nodiscard]] Step break_off(IngestRequest& request);

/// Goes on at `step` once what was written of the body is removed, by a thread. @return kParked; or
/// `step`: nothing was.
[[nodiscard]] Step drop_pieces(IngestRequest& request, Step step) noexcept;

/// The pool waits: the sender is not to blame if nothing comes.
[[nodiscard]] bool is_reading_paused(const IngestRequest& request) noexcept;

}  // namespace sluice::ngx
