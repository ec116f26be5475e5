// Settling a request: its answer is decided once, then sent exactly as core/intake/intake made it.
#pragma once

#include <optional>

#include "core/intake/intake.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// Decides the answer; the first call wins. Event loop or offload thread.
void settle(IngestRequest& request, Answer answer) noexcept;
void settle_success(IngestRequest& request, bool replayed);
/// What the store said becomes the answer.
void settle_commit(IngestRequest& request);
/// 503, with the endpoint's own body.
void settle_unavailable(IngestRequest& request, Reason reason);
/// 413; nginx's own page on the events endpoint.
void settle_too_large(IngestRequest& request);
/// 500.
void settle_internal_error(IngestRequest& request) noexcept;

/// Requires: the request is settled. Event loop.
/// @return for ngx_http_finalize_request().
[[nodiscard]] ngx_int_t send_answer(IngestRequest& request) noexcept;
/// Before the body was read: discards it, and does not invite it with 100 Continue.
[[nodiscard]] ngx_int_t send_early_answer(IngestRequest& request) noexcept;
/// After a wait: kAnswer, or kEnd if the client has gone away meanwhile.
[[nodiscard]] Step answer_or_leave(IngestRequest& request) noexcept;

/// $sluice_result; also for a request that nginx itself refused while it read the body. Nothing:
/// the client went away before there was an answer.
[[nodiscard]] std::optional<Outcome> outcome_of(const IngestRequest& request) noexcept;
/// Counts a finished request once, in the shared zone. Event loop.
void count_once(IngestRequest& request) noexcept;

}  // namespace sluice::ngx
