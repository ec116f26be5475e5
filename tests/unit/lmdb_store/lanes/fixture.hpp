// A queue whose lanes a test writes to, as a worker of nginx would.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "lmdb_store/lanes/lane_file.hpp"
#include "lmdb_store/lanes/lane_writer.hpp"
#include "os/clock/clock.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {

/// One process's lane, driven by hand.
class Lane {
public:
    explicit Lane(Queue& queue) {
        auto taken = queue.take_lane();
        EXPECT_TRUE(taken.ok());
        lane_ = taken.ok() ? std::move(*taken) : nullptr;
        if (lane_ != nullptr) {
            end_ = lane_->end();
            boot_ = lane_->boot();
        }
    }
    /// Later batches are of another boot of the machine.
    void write_in_boot(const Uuid& boot) { boot_ = boot; }
    [[nodiscard]] LaneWriter& writer() { return *lane_; }
    [[nodiscard]] bool ok() const { return lane_ != nullptr; }
    void give_back() { lane_.reset(); }

    /// A batch, durable. Its stamp.
    std::uint64_t write(const std::vector<std::string>& bodies, bool published = true) {
        TestBatch batch(bodies);
        std::uint64_t bytes = 0;
        for (const AppendItem& item : batch.items()) {
            bytes += item.prefix.size() + item.body.size();
        }
        LaneBatchHead head;
        head.offset = end_;
        head.stamp_ns = monotonic_ns();
        head.answered = answered_;
        head.boot = boot_;
        head.in_flight = 1;
        const std::uint64_t size = lane_batch_bytes(bytes, bodies.size());
        const AlignedBytes buffer = allocate_aligned(size);
        LaneBatchWriter writer({buffer.get(), size});
        for (const AppendItem& item : batch.items()) {
            writer.add(item.prefix, item.body);
        }
        const std::string_view sealed = writer.finish(lane_->identity(), head);
        EXPECT_EQ(lane_->write(head.offset, sealed), 0);
        last_ = end_;
        end_ = head.end();
        if (published) {
            lane_->publish(end_);
            answered_ = end_;
        }
        return head.stamp_ns;
    }
    [[nodiscard]] std::uint64_t last_position() const { return last_; }

private:
    std::unique_ptr<LaneWriter> lane_;
    Uuid boot_{};
    std::uint64_t end_ = 0, answered_ = 0, last_ = 0;
};

class LanesTest : public QueueTest {
protected:
    std::filesystem::path file_of(std::uint32_t number) {
        return paths_.lanes / (std::to_string(number) + ".lane");
    }
    /// As another worker of nginx would open it.
    Result<std::unique_ptr<Queue>> open_again() {
        queue_.reset();
        return Queue::open(paths_, {});
    }
    std::string refused_to_take() {
        auto lane = queue_->take_lane();
        EXPECT_FALSE(lane.ok());
        return lane.ok() ? "" : lane.error().message;
    }
    static void flip(const std::filesystem::path& path, std::uint64_t offset) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(offset));
        const int byte = file.get();
        file.seekp(static_cast<std::streamoff>(offset));
        file.put(static_cast<char>(byte ^ 1));
    }
};

}  // namespace sluice::store
