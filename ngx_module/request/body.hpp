// RequestBody: the raw body as nginx left it: one stretch of memory, several, or a temporary file.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class RequestBody {
public:
    /// Event loop, once the body is read. Copies nothing: the request's buffers are referenced.
    void take(const ngx_http_request_t* r) noexcept;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// A part of it lies in a temporary file: gather() will block for the disk.
    [[nodiscard]] bool spooled() const noexcept { return spooled_; }

    /// Makes view() the whole body; copies only what does not lie in one piece. Any thread, while
    /// the request is parked. Throws std::bad_alloc.
    /// @return false: the temporary file could not be read.
    [[nodiscard]] bool gather();
    [[nodiscard]] std::string_view view() const noexcept { return view_; }

    /// Frees the copy, if there is one.
    void release() noexcept;

private:
    const ngx_chain_t* chain_ = nullptr;  ///< Not in one piece: gather() copies it.
    std::string_view view_;
    std::unique_ptr<char[]> copy_;
    std::uint64_t bytes_ = 0;
    bool spooled_ = false;
};

}  // namespace sluice::ngx
