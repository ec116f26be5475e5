#include "ngx_module/request/request_pool.hpp"

#include <new>

#include "ngx_module/request/body_deadline.hpp"
#include "ngx_module/request/settle.hpp"

namespace sluice::ngx {

RequestPool::~RequestPool() {
    for (const std::unique_ptr<IngestRequest>& request : requests_) {
        if (request->cleanup != nullptr) {
            request->cleanup->handler = nullptr;
        }
    }
}

IngestRequest& RequestPool::acquire(ngx_http_request_t* r) {
    if (free_ == nullptr) {
        requests_.push_back(std::make_unique<IngestRequest>());
        free_ = requests_.back().get();
        free_->pool = this;
    }
    ngx_pool_cleanup_t* cleanup = ngx_pool_cleanup_add(r->pool, 0);
    if (cleanup == nullptr) {
        throw std::bad_alloc();
    }
    IngestRequest& request = *free_;
    free_ = request.next_free;
    request.next_free = nullptr;
    request.r = r;
    request.tools = &tools_;
    request.conf = loc_conf(r);
    request.cleanup = cleanup;
    cleanup->data = &request;
    cleanup->handler = &RequestPool::on_cleanup;
    ngx_http_set_ctx(r, &request, ngx_http_sluice_module);
    return request;
}

IngestRequest* RequestPool::find(const ngx_http_request_t* r) noexcept {
    IngestRequest* request = request_of(r);
    if (request != nullptr || !r->internal) {
        return request;
    }
    // A redirect wipes what modules keep of a request, but not its cleanups.
    for (ngx_pool_cleanup_t* cleanup = r->pool->cleanup; cleanup != nullptr;
         cleanup = cleanup->next) {
        if (cleanup->handler == &RequestPool::on_cleanup) {
            return static_cast<IngestRequest*>(cleanup->data);
        }
    }
    return nullptr;
}

void RequestPool::on_cleanup(void* data) noexcept {
    auto& request = *static_cast<IngestRequest*>(data);
    request.pool->give_back(request);
}

void RequestPool::give_back(IngestRequest& request) noexcept {
    count_once(request);
    stop_body_deadline(request);
    tools_.offload.release_memory(request.offload_job);
    request.reset();
    request.cleanup = nullptr;
    request.next_free = free_;
    free_ = &request;
}

}  // namespace sluice::ngx
