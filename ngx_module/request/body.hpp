// RequestBody: where the raw body lies: in one stretch of memory, in several, in a temporary file
// of nginx, or (what came in pieces) in a file of ours.
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

    /// It came in pieces, and fitted into one: `text` stays where it is until release().
    void take_piece(std::string_view text) noexcept;
    /// It came in pieces, of `bytes` together, into a file: view() is empty until they are read
    /// into make_room().
    void take_pieces(std::uint64_t bytes) noexcept;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// A part of it lies in a file: to gather or to read it will block for the disk.
    [[nodiscard]] bool spooled() const noexcept { return spooled_; }

    /// Makes view() the whole body; copies only what does not lie in one piece. Any thread, while
    /// the request is parked. Throws std::bad_alloc.
    /// @return false: the temporary file could not be read.
    [[nodiscard]] bool gather();
    /// Memory for bytes(), which view() is from now on; the caller fills it. Throws std::bad_alloc.
    [[nodiscard]] char* make_room();
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
