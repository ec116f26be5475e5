// Body deadline: nginx's client_body_timeout is for the pause between two reads, so a sender of one
// byte now and then could hold a request for hours. Here the whole body has a deadline too.
#pragma once

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// A body may take client_body_timeout, and as long again as its bytes need at this rate.
inline constexpr off_t kBodyBytesPerSecondMin = 16 * 1024;

/// Event loop, when the body did not come with the head.
void start_body_deadline(IngestRequest& request) noexcept;
void stop_body_deadline(IngestRequest& request) noexcept;

}  // namespace sluice::ngx
