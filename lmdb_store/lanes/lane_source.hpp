// Lane source: a lane's file, read in larger steps than is asked for. Internal to this folder.
#pragma once

#include "lmdb_store/lanes/lane_buffers.hpp"

namespace sluice::store {

class LaneFileSource final : public LaneSource {
public:
    static constexpr std::uint64_t kReadAheadMax = 256U << 10;

    LaneFileSource(const LaneFile& file, LaneBuffers& buffers) noexcept
        : file_(file), buffers_(buffers) {}
    ~LaneFileSource() override { buffers_.give_back(std::move(buffer_)); }
    LaneFileSource(const LaneFileSource&) = delete;
    LaneFileSource& operator=(const LaneFileSource&) = delete;

    /// Nothing behind `end` is worth reading ahead.
    void expect_end(std::uint64_t end) noexcept { expected_end_ = end; }
    /// How much is, at a time. At most kReadAheadMax.
    void read_ahead(std::uint64_t bytes) noexcept { read_ahead_ = bytes; }
    [[nodiscard]] Result<std::string_view> read(std::uint64_t position,
                                                std::uint64_t bytes) override;

private:
    const LaneFile& file_;
    LaneBuffers& buffers_;
    AlignedBytes buffer_;
    std::uint64_t expected_end_ = 0;
    std::uint64_t read_ahead_ = kReadAheadMax;
    std::uint64_t from_ = 0, to_ = 0;  ///< What the buffer holds.
};

}  // namespace sluice::store
