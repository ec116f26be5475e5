#include "lmdb_store/lanes/lane_source.hpp"

#include <algorithm>

namespace sluice::store {

Result<std::string_view> LaneFileSource::read(std::uint64_t position, std::uint64_t bytes) {
    if (buffer_ == nullptr) {
        buffer_ = buffers_.take();
        if (buffer_ == nullptr) {
            return Error{ErrorCode::kBusy, "not enough memory to read a lane"};
        }
    }
    if (position < from_ || position + bytes > to_) {
        const std::uint64_t known =
            expected_end_ > position ? std::min(read_ahead_, expected_end_ - position) : 0;
        const std::uint64_t wanted = std::max(bytes, known);
        from_ = to_ = 0;
        if (const int error = file_.read(position, buffer_.get(), wanted); error != 0) {
            return system_error(error, "read", file_.path());
        }
        from_ = position;
        to_ = position + wanted;
    }
    return std::string_view(buffer_.get() + (position - from_), bytes);
}

}  // namespace sluice::store
