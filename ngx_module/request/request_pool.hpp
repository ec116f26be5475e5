// RequestPool: the requests of one worker process. They are reused, and keep their buffers.
#pragma once

#include <memory>
#include <vector>

#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/request.hpp"
#include "ngx_module/request/tools.hpp"

namespace sluice::ngx {

/// Thread: the event loop.
class RequestPool {
public:
    /// @param tools  Outlives the pool.
    explicit RequestPool(RequestTools& tools) noexcept : tools_(tools) {}
    /// The process ends: requests of nginx that are still there do not come back.
    ~RequestPool();
    RequestPool(const RequestPool&) = delete;
    RequestPool& operator=(const RequestPool&) = delete;

    /// A reset request bound to `r`, given back when the memory pool of `r` is destroyed. Throws
    /// std::bad_alloc.
    [[nodiscard]] IngestRequest& acquire(ngx_http_request_t* r);

    /// The one that `r` has, also after a redirect took it elsewhere. nullptr: none. Any caller.
    [[nodiscard]] static IngestRequest* find(const ngx_http_request_t* r) noexcept;

    [[nodiscard]] RequestTools& tools() noexcept { return tools_; }

private:
    void give_back(IngestRequest& request) noexcept;
    static void on_cleanup(void* request) noexcept;

    RequestTools& tools_;
    std::vector<std::unique_ptr<IngestRequest>> requests_;
    IngestRequest* free_ = nullptr;
};

}  // namespace sluice::ngx
