#include "ngx_module/request/body.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ngx_module/nginx/convert.hpp"

namespace sluice::ngx {
namespace {

/// The JSON parser reads a little beyond the end; with this it need not copy the body again.
constexpr std::size_t kSpareBytes = 64;

std::uint64_t bytes_of(const ngx_buf_t* buffer) noexcept {
    return static_cast<std::uint64_t>(ngx_buf_size(buffer));
}

bool read_file(int fd, off_t offset, char* to, std::size_t bytes) noexcept {
    while (bytes > 0) {
        const ssize_t got = pread(fd, to, bytes, offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        to += got;
        offset += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

bool copy_buffer(const ngx_buf_t* buffer, char* to) noexcept {
    const std::size_t bytes = bytes_of(buffer);
    if (ngx_buf_in_memory(buffer)) {
        std::memcpy(to, buffer->pos, bytes);
        return true;
    }
    return !buffer->in_file || read_file(buffer->file->fd, buffer->file_pos, to, bytes);
}

}  // namespace

void RequestBody::take(const ngx_http_request_t* r) noexcept {
    chain_ = nullptr;
    view_ = {};
    bytes_ = 0;
    spooled_ = false;
    const ngx_chain_t* first = r->request_body != nullptr ? r->request_body->bufs : nullptr;
    bool one_piece = true;
    for (const ngx_chain_t* link = first; link != nullptr; link = link->next) {
        const ngx_buf_t* buffer = link->buf;
        const std::uint64_t bytes = bytes_of(buffer);
        if (bytes == 0) {
            continue;
        }
        bytes_ += bytes;
        if (!ngx_buf_in_memory(buffer)) {
            spooled_ = true;
            one_piece = false;
            continue;
        }
        // What was read with the head and the rest often lie side by side in one buffer.
        const std::string_view piece = to_view(buffer->pos, buffer->last);
        if (view_.empty()) {
            view_ = piece;
        } else if (view_.data() + view_.size() == piece.data()) {
            view_ = {view_.data(), view_.size() + piece.size()};
        } else {
            one_piece = false;
        }
    }
    if (!one_piece) {
        view_ = {};
        chain_ = first;
    }
}

bool RequestBody::gather() {
    if (chain_ == nullptr) {
        return true;
    }
    char* to = make_room();
    for (const ngx_chain_t* link = chain_; link != nullptr; link = link->next) {
        if (!copy_buffer(link->buf, to)) {
            view_ = {};
            return false;
        }
        to += bytes_of(link->buf);
    }
    chain_ = nullptr;
    return true;
}

void RequestBody::take_piece(std::string_view text) noexcept {
    chain_ = nullptr;
    view_ = text;
    bytes_ = text.size();
    spooled_ = false;
}

void RequestBody::take_pieces(std::uint64_t bytes) noexcept {
    take_piece({});
    bytes_ = bytes;
    spooled_ = true;
}

char* RequestBody::make_room() {
    copy_.reset(new char[bytes_ + kSpareBytes]);
    view_ = {copy_.get(), bytes_};
    return copy_.get();
}

void RequestBody::release() noexcept {
    copy_.reset();
    chain_ = nullptr;
    view_ = {};
}

}  // namespace sluice::ngx
