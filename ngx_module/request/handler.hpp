// The interface of this folder for nginx and the process: the content handler of `sluice_ingest`,
// the filters, the variables, and the requests of one worker process.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// The requests of one worker process. Thread: the event loop.
class RequestPool {
public:
    /// @param tools  Outlives the pool.
    explicit RequestPool(RequestTools& tools) noexcept : tools_(tools) {}
    /// Destroys all requests when the process ends; nginx no longer returns them.
    ~RequestPool();
    RequestPool(const RequestPool&) = delete;
    RequestPool& operator=(const RequestPool&) = delete;

    /// Constructs a request that lives until the memory pool of `r` is destroyed. Throws
    /// std::bad_alloc.
    [[nodiscard]] IngestRequest& acquire(ngx_http_request_t* r);

    /// Returns the request of `r`, even after a redirect took it to another module, or nullptr.
    [[nodiscard]] static IngestRequest* find(const ngx_http_request_t* r) noexcept;

    [[nodiscard]] RequestTools& tools() noexcept { return tools_; }
    /// Returns true while nginx holds a request of the module.
    [[nodiscard]] bool is_in_use() const noexcept { return in_use_ > 0; }

private:
    /// Memory for successive requests. Each request is a newly constructed object, so that it never
    /// contains values of the previous one.
    struct Slot {
        RequestPool* pool = nullptr;
        Slot* next_free = nullptr;
        ngx_pool_cleanup_t* cleanup = nullptr;  ///< Set while nginx holds the request.
        RecordEnvelope envelope;                ///< Keeps its buffer from request to request.
        std::optional<IngestRequest> request;
    };

    static void on_cleanup(void* slot) noexcept;

    RequestTools& tools_;
    std::vector<std::unique_ptr<Slot>> slots_;
    Slot* free_ = nullptr;
    std::size_t in_use_ = 0;
};

/// Adds the variables. Called in preconfiguration.
[[nodiscard]] ngx_int_t add_variables(ngx_conf_t* cf) noexcept;

// In postconfiguration.

/// Installs the filter that every answer passes first.
void install_refusal_filter() noexcept;
/// Installs filters below all that rewrite bodies and above those that compress and frame them. The
/// position follows from the module whose postconfiguration calls this.
void install_guard_filters() noexcept;

}  // namespace sluice::ngx

extern "C" {
ngx_int_t ngx_http_sluice_handler(ngx_http_request_t* r) noexcept;
}
