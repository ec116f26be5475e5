#include "core/intake/body_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/values/assert.hpp"

namespace sluice {
namespace {

/// The JSON parser reads a little beyond the end; with this it need not copy a body of one piece.
constexpr std::size_t kSpareBytes = 64;

}  // namespace

BodyPieces::BodyPieces(std::size_t piece_bytes) : piece_bytes_(piece_bytes) {
    SLUICE_ASSERT(piece_bytes > 0);
    filling_ = make();
}

/// Not initialised: the system gives the pages of a large piece as they are written.
std::unique_ptr<char[]> BodyPieces::make() const {
    return std::unique_ptr<char[]>(new char[piece_bytes_ + kSpareBytes]);
}

std::size_t BodyPieces::put(std::string_view bytes) noexcept {
    SLUICE_ASSERT(!is_ended_);
    const std::size_t taken = std::min(bytes.size(), piece_bytes_ - filled_);
    if (taken > 0) {
        std::memcpy(filling_.get() + filled_, bytes.data(), taken);
    }
    filled_ += taken;
    bytes_ += taken;
    is_short_ = taken < bytes.size();
    return taken;
}

BodyPieces::Next BodyPieces::next() const noexcept {
    if (is_broken_) {
        return is_given_ ? Next::kWait : Next::kBroken;
    }
    if (is_short_) {
        return is_given_ ? Next::kWait : Next::kGive;
    }
    if (is_ended_) {
        return is_given_ ? Next::kWait : Next::kWhole;
    }
    return Next::kRead;
}

std::string_view BodyPieces::give() {
    SLUICE_ASSERT(next() == Next::kGive);
    if (other_ == nullptr) {
        other_ = make();
    }
    std::swap(filling_, other_);
    is_given_ = true;
    was_given_ = true;
    is_short_ = false;
    return {other_.get(), std::exchange(filled_, 0)};
}

void BodyPieces::given_back() noexcept {
    SLUICE_ASSERT(is_given_);
    is_given_ = false;
}

void BodyPieces::release() noexcept {
    SLUICE_ASSERT(!is_given_);
    filling_.reset();
    other_.reset();
    filled_ = 0;
}

}  // namespace sluice
