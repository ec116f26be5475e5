// Stages: the functions that move a request forward, in the order in which a request passes them.
// Each returns the next step, and handler.cpp performs it. An exception leads to Step::kFailed.
// Thread: the event loop, unless a comment says otherwise.
#pragma once

#include <optional>

#include "core/intake/intake.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

// -- open.cpp -------------------------------------------------------------------------------------

/// Checks that the whole request arrived, reads its head, and looks up the sender.
/// @return kReadBody, kAnswerEarly if the answer is known without the body, or kParked while the
/// store is opened.
[[nodiscard]] Step open(IngestRequest& request);
/// Looks up the sender after a wait, so that a sender that was revoked meanwhile is refused.
/// @return kCheck, or kDropPieces if that settles the request.
[[nodiscard]] Step look_up_again(IngestRequest& request);

/// Reads the headers that sluice uses, by the names that are configured for a location.
void scan_headers(const ngx_http_request_t* r, const ScanNames& scan, RequestHead& head) noexcept;
/// Marks a request that is about to end with 413. If an error page leads it to an ingest location,
/// open() distinguishes it from a body that another module streamed away.
void mark_refused_length(ngx_http_request_t* r) noexcept;

// -- read_body.cpp --------------------------------------------------------------------------------

/// Reads the body. nginx calls `on_read` when the body, or the first of its pieces, is there.
/// @return kBodyComing, or kEnd.
[[nodiscard]] Step read_body(IngestRequest& request, ngx_http_client_body_handler_pt on_read,
                             BodyDeadline::Handler overdue) noexcept;
/// Takes the whole body from nginx. @return kCheck, kLookUpAgain, or kAnswer if settled before.
[[nodiscard]] Step body_read(IngestRequest& request) noexcept;
/// Prepares for a body that comes in pieces. nginx calls `on_readable` for the rest of the body.
/// @return kReadPieces.
[[nodiscard]] Step begin_pieces(IngestRequest& request, ngx_http_event_handler_pt on_readable,
                                BodyDeadline::Handler overdue);
/// Reads on, and gives full pieces to the offload pool.
/// @return kBodyComing or kBodyHeld if more is to come, kLookUpAgain if the body is complete,
/// kParked or kEnd if it is broken.
[[nodiscard]] Step read_pieces(IngestRequest& request);
/// Takes a piece back from the thread and reads on.
[[nodiscard]] Step piece_taken(IngestRequest& request);
/// Ends the body with `ending`. @return kBodyHeld, kParked or kEnd.
[[nodiscard]] Step break_off(IngestRequest& request);
/// Has a thread remove what was written of the body. @return kParked, or kAnswer if nothing was
/// written.
[[nodiscard]] Step drop_pieces(IngestRequest& request) noexcept;
/// Returns true while nothing is read because the offload pool is busy. The sender is not to blame
/// if no byte arrives meanwhile.
[[nodiscard]] bool is_reading_paused(const IngestRequest& request) noexcept;

// -- check.cpp ------------------------------------------------------------------------------------

/// Checks signature, rate limit and content, and prepares the record, if that neither takes long
/// nor waits for a disk.
/// @return kAnswer, kCommit, kOffload, or kParked while the master key is read again.
[[nodiscard]] Step check(IngestRequest& request);
/// Has a thread check the request. @return kParked, or kDropPieces without memory or a thread.
[[nodiscard]] Step offload(IngestRequest& request);
/// Takes the request back from the thread. @return kAnswer, kCommit, or kEnd.
[[nodiscard]] Step offloaded(IngestRequest& request);

// -- settle.cpp -----------------------------------------------------------------------------------

/// Hands the record to the commit. @return kParked, or kAnswer if it cannot be stored now.
[[nodiscard]] Step commit(IngestRequest& request);
/// Turns the store's outcome into the answer. @return kAnswer, or kEnd if the client has left.
[[nodiscard]] Step committed(IngestRequest& request);
/// Continues a settled request after a wait. @return kAnswer, or kEnd if the client has left.
[[nodiscard]] Step answer_or_leave(IngestRequest& request) noexcept;
/// Sends the answer. Requires: the request is settled. @return kEnd.
[[nodiscard]] Step send_answer(IngestRequest& request) noexcept;
/// Discards a body that was not read, without inviting it by "100 Continue", and answers.
[[nodiscard]] Step send_early_answer(IngestRequest& request) noexcept;

// Each function below decides the answer, unless the request is settled. Event loop or offload
// thread.
void settle(IngestRequest& request, Answer answer) noexcept;
void settle_success(IngestRequest& request, bool replayed);
/// Answers 503 with the body of the endpoint.
void settle_unavailable(IngestRequest& request, Reason reason);
/// Reports a request that another part of the configuration leads here incomplete, and answers 503.
void settle_not_servable(IngestRequest& request);
/// Reports an error of the store and answers 503.
void settle_store_error(IngestRequest& request, const Error& error, Reason reason);
/// Answers 413: on the events endpoint with nginx's own page.
void settle_too_large(IngestRequest& request);
/// Answers with a status that nginx or another module has set.
/// @param reason  kBodyRefused, kLimitedBefore or kRefusedBefore.
void settle_refused(IngestRequest& request, ngx_uint_t status, Reason reason);
/// Answers 500.
void settle_internal_error(IngestRequest& request) noexcept;

/// Adds the headers of the settled answer. Returns false without memory.
[[nodiscard]] bool add_answer_headers(const IngestRequest& request) noexcept;
/// Returns $sluice_result, also for a request whose body was so slow that nginx closed the
/// connection without an answer. Returns nothing if the client left before there was an answer.
[[nodiscard]] std::optional<Outcome> outcome_of(const IngestRequest& request) noexcept;
/// Returns $sluice_reason as far as it is known at once, or kNone.
[[nodiscard]] Reason reason_of(const IngestRequest& request) noexcept;
/// Adds a finished request to the metrics; a second call does nothing.
void count_once(IngestRequest& request) noexcept;

// -- limit_failures.cpp ---------------------------------------------------------------------------

/// Counts a request that was not authenticated in the window of its address, and answers 429
/// instead if the window is used up. Ignores all other requests. Event loop.
void limit_failures(IngestRequest& request) noexcept;

// -- handler.cpp ----------------------------------------------------------------------------------

/// Continues a parked request with `step`, or lets it end if nginx terminated it meanwhile. The
/// request may be gone afterwards.
void wake(IngestRequest& request, Step step) noexcept;

}  // namespace sluice::ngx
