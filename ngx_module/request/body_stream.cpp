#include "ngx_module/request/body_stream.hpp"

#include <new>
#include <utility>

#include "ngx_module/store/refusal.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

Error no_memory() noexcept {
    return {ErrorCode::kInternal, {}};  // a message would need some
}

}  // namespace

BodyStream::BodyStream(std::size_t piece_bytes, BodyDigests digests)
    : pieces_(piece_bytes), digests_(std::move(digests)) {}

void BodyStream::take(std::string_view piece, const store::StorePaths& paths) noexcept {
    const std::uint64_t started_us = monotonic_us();
    digests_.add(piece);
    hash_us_ += monotonic_us() - started_us;
    if (error_) {
        return;
    }
    try {
        if (Status written = write(piece, paths); !written) {
            fail(written.error());
        }
    } catch (const std::bad_alloc&) {
        fail(no_memory());
    }
}

Status BodyStream::write(std::string_view piece, const store::StorePaths& paths) {
    if (!file_) {
        Result<store::BulkFile> made = store::BulkFile::create(paths);
        if (!made) {
            return made.error();
        }
        file_.emplace(std::move(*made));
    }
    return file_->add(piece);
}

/// What is left of the file goes at once: it is in the way of others, if the disk is full.
void BodyStream::fail(Error error) noexcept {
    error_ = std::move(error);
    file_.reset();
}

bool BodyStream::read_into(RequestBody& body) {
    if (error_) {
        return false;
    }
    if (Status read = file_->read_back(body.make_room()); !read) {
        body.release();  // what lies there is not the body
        fail(read.error());
        return false;
    }
    return true;
}

std::optional<store::BulkFile> BodyStream::seal() noexcept {
    try {
        if (Status sealed = file_->seal(digests_.sha256()); !sealed) {
            fail(sealed.error());
        }
    } catch (const std::bad_alloc&) {
        fail(no_memory());
    }
    return std::exchange(file_, std::nullopt);
}

std::optional<bool> StreamedBody::is_signed_by(const SigningKey& key, const Digest256& signature) {
    if (const std::optional<bool> known = stream_.digests().is_signed_by(key, signature)) {
        return known;
    }
    // A token that was made, or became readable, while the body came.
    std::string_view text;
    return read(text) == Reason::kNone ? std::optional(key.verify(text, signature)) : std::nullopt;
}

Reason StreamedBody::read(std::string_view& text) {
    if (body_.view().empty() && !stream_.read_into(body_)) {
        return reason_of(stream_.error()->code);
    }
    text = body_.view();
    return Reason::kNone;
}

}  // namespace sluice::ngx
