// Opens a request: its head, and who claims to send it. Before the body is there.
#pragma once

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// The headers that sluice reads, with the names of a location. Event loop.
void scan_headers(const ngx_http_request_t* r, const ScanNames& scan, RequestHead& head) noexcept;

/// @return kReadBody, or kAnswerEarly: what can be told without the body. Event loop.
[[nodiscard]] Step open(IngestRequest& request) noexcept;

/// Looks shop and token up in the registry as it is now: fills in the sender, or settles the
/// request (also when memory is short). Event loop.
void look_up_sender(IngestRequest& request) noexcept;

}  // namespace sluice::ngx
