// Lane reader: reads a lane's file in large steps, into buffers that are kept for the next move.
// Internal to this folder.
#pragma once

#include <mutex>
#include <vector>

#include "lmdb_store/lanes/lane_file.hpp"

namespace sluice::store {

/// Buffers that lanes are read into, kept between moves. Allocating a megabyte for each lane of
/// each transaction cost a mover of eight lanes two fifths of its time, in page faults. Threads:
/// any.
class LaneBuffers {
public:
    /// Returns kLaneBatchBytesMax bytes, or nullptr if memory is exhausted.
    [[nodiscard]] AlignedBytes take() noexcept;
    void give_back(AlignedBytes buffer) noexcept;

private:
    std::mutex mutex_;
    std::vector<AlignedBytes> free_;
};

/// Reads one lane. Borrows file and buffers. Threads: one at a time.
class LaneFileSource final : public LaneSource {
public:
    static constexpr std::uint64_t kReadAheadMax = 256U << 10;

    LaneFileSource(const LaneFile& file, LaneBuffers& buffers) noexcept
        : file_(file), buffers_(buffers) {}
    ~LaneFileSource() override { buffers_.give_back(std::move(buffer_)); }
    LaneFileSource(const LaneFileSource&) = delete;
    LaneFileSource& operator=(const LaneFileSource&) = delete;

    /// Limits reading ahead to offsets below `end`. Bytes below it do not change any more.
    void expect_end(std::uint64_t end) noexcept { expected_end_ = end; }
    /// Forgets what was read ahead, because a writer may have changed it.
    void forget() noexcept { from_ = to_ = 0; }
    /// Sets the bytes of one step, at most kReadAheadMax.
    void read_ahead(std::uint64_t bytes) noexcept { read_ahead_ = bytes; }
    [[nodiscard]] Result<std::string_view> read(std::uint64_t offset, std::uint64_t bytes) override;
    [[nodiscard]] Status sync() override;

private:
    const LaneFile& file_;
    LaneBuffers& buffers_;
    AlignedBytes buffer_;
    std::uint64_t expected_end_ = 0;
    std::uint64_t read_ahead_ = kReadAheadMax;
    std::uint64_t from_ = 0, to_ = 0;  ///< Offsets that the buffer holds.
};

}  // namespace sluice::store
