// Body deadline: nginx's client_body_timeout is for the pause between two reads, so a sender of one
// byte now and then could hold a request for hours. Here the whole body has a deadline too.
#pragma once

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// A body may take client_body_timeout, and as long again as its bytes need at this rate.
inline constexpr off_t kBodyBytesPerSecondMin = 16 * 1024;

// Event loop.

/// When the body did not come with the head. `overdue` is called when the time is over.
void start_body_deadline(IngestRequest& request, void (*overdue)(IngestRequest&) noexcept) noexcept;
/// The sender waits for us now: the clock stands until resume_body_deadline().
void pause_body_deadline(IngestRequest& request) noexcept;
void resume_body_deadline(IngestRequest& request) noexcept;
void stop_body_deadline(IngestRequest& request) noexcept;

}  // namespace sluice::ngx
