// Measures the recovery of full lanes: how fast it moves them to the queue, how many bytes it
// reads, and how fast this disk reads and writes as many bytes.
//
//   lane_recovery NEW_FOLDER [LANES [BYTES_OF_A_RECORD]]
//
// 64 lanes of 8 MB take 1.5 GB there. Each is filled, by batches of 64 KB in turn, and then has no
// owner, as after a kill of all nginx workers; in the second round also no cell, as after a power
// cut. Prints one line for each round.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench/need.hpp"
#include "core/commit/lane_format.hpp"
#include "core/protocol/record.hpp"
#include "lmdb_store/lanes/cells.hpp"
#include "lmdb_store/lanes/lane_file.hpp"
#include "lmdb_store/lanes/lane_writer.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/clock/clock.hpp"

namespace {

using namespace sluice;
using bench::need;

constexpr std::uint64_t kBatchBytes = 64U << 10;
constexpr double kMega = 1e6;

double seconds() {
    return static_cast<double>(monotonic_ns()) / 1e9;
}

/// Returns the bytes that this process has read by system calls.
std::uint64_t bytes_read() {
    std::ifstream file("/proc/self/io");
    std::string name;
    std::uint64_t value = 0;
    file >> name >> value;
    return value;
}

/// Writes to a lane until it is full.
class Filler {
public:
    Filler(std::unique_ptr<store::LaneWriter> lane, std::string_view prefix, std::string_view body)
        : lane_(std::move(lane)), prefix_(prefix), body_(body), end_(lane_->end()) {}

    /// Writes one batch. Returns false if the lane has no room for it.
    bool write() {
        const std::uint64_t record = prefix_.size() + body_.size();
        const std::uint64_t count = kBatchBytes / (record + kLaneRecordHeadBytes);
        const std::uint64_t size = lane_batch_bytes(count * record, count);
        if (end_ + size > lane_->floor() + lane_->bytes()) {
            return false;
        }
        LaneBatchHead head;
        head.offset = head.answered = end_;
        head.stamp_ns = monotonic_ns();
        head.boot = lane_->boot();
        head.in_flight = 1;
        const store::AlignedBytes buffer = store::allocate_aligned(size);
        LaneBatchWriter writer({buffer.get(), size});
        for (std::uint64_t i = 0; i < count; ++i) {
            writer.add(prefix_, body_);
        }
        if (lane_->write(end_, writer.finish(lane_->identity(), head)) != 0) {
            std::perror("lane_recovery: write");
            std::exit(1);
        }
        end_ = head.end();
        lane_->publish(end_);
        return true;
    }

private:
    std::unique_ptr<store::LaneWriter> lane_;
    std::string_view prefix_, body_;
    std::uint64_t end_;
};

void fill(const store::StorePaths& paths, std::size_t lanes, std::size_t record_bytes) {
    const auto queue = need(store::Queue::open(paths, {}));
    const std::string body(record_bytes, 'b');
    RecordEnvelope envelope;
    RecordMeta meta;
    meta.account_id = "account-1";
    meta.shop_id = "shop-1";
    meta.received_at = {1'700'000'000, 0};
    envelope.encode(meta, body);
    std::vector<Filler> fillers;
    for (std::size_t i = 0; i < lanes; ++i) {
        fillers.emplace_back(need(queue->take_lane()), envelope.prefix(), body);
    }
    for (bool wrote = true; wrote;) {
        wrote = false;
        for (Filler& filler : fillers) {
            wrote = filler.write() || wrote;
        }
    }
}

/// Reads all lanes as recovery does, one after the other. Returns MB/s.
double read_speed(const store::StorePaths& paths, std::uint64_t& bytes) {
    constexpr std::uint64_t kPiece = 1U << 20;
    const store::AlignedBytes buffer = store::allocate_aligned(kPiece);
    bytes = 0;
    const double began = seconds();
    for (const auto& each : std::filesystem::directory_iterator(paths.lanes)) {
        if (each.path().extension() != ".lane") {
            continue;
        }
        const store::LaneFile file = need(store::LaneFile::open(each.path(), true));
        for (std::uint64_t at = 0; at < file.head().bytes; at += kPiece) {
            if (file.read(at, buffer.get(), std::min(kPiece, file.head().bytes - at)) != 0) {
                std::exit(1);
            }
        }
        bytes += file.head().bytes;
    }
    return static_cast<double>(bytes) / kMega / (seconds() - began);
}

/// Writes as many bytes to a file and syncs each 4 MB, as a move does at least. Returns MB/s.
double write_speed(const std::filesystem::path& folder, std::uint64_t bytes) {
    constexpr std::uint64_t kPiece = 4U << 20;
    const std::string piece(kPiece, 'w');
    const auto path = folder / "written";
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    const double began = seconds();
    for (std::uint64_t done = 0; done < bytes; done += kPiece) {
        if (::write(fd, piece.data(), kPiece) != static_cast<ssize_t>(kPiece) ||
            ::fdatasync(fd) != 0) {
            std::exit(1);
        }
    }
    const double took = seconds() - began;
    ::close(fd);
    std::filesystem::remove(path);
    return static_cast<double>(bytes) / kMega / took;
}

void measure(const store::StorePaths& paths, const char* after) {
    std::uint64_t bytes = 0;
    const double reading = read_speed(paths, bytes);
    const double writing = write_speed(paths.root, bytes);
    const auto queue = need(store::Queue::open(paths, {}));
    const std::uint64_t records = need(queue->fill()).last_seq.value;
    const std::uint64_t read_before = bytes_read();
    const double began = seconds();
    need(queue->recover_lanes());
    const double took = seconds() - began;
    const std::uint64_t moved = need(queue->fill()).last_seq.value - records;
    std::printf(
        "after a %s: %.0f MB of lanes, %lu records, moved in %.2f s, %.0f MB/s, each byte "
        "read %.2f times; the disk reads %.0f MB/s, and writes %.0f MB/s\n",
        after, static_cast<double>(bytes) / kMega, static_cast<unsigned long>(moved), took,
        static_cast<double>(bytes) / kMega / took,
        static_cast<double>(bytes_read() - read_before) / static_cast<double>(bytes), reading,
        writing);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: lane_recovery NEW_FOLDER [LANES [BYTES_OF_A_RECORD]]\n");
        return 2;
    }
    const store::StorePaths paths(std::filesystem::path{argv[1]});
    const std::size_t lanes = argc > 2 ? std::stoull(argv[2]) : 64;
    const std::size_t record_bytes = argc > 3 ? std::stoull(argv[3]) : 1100;
    need(store::init_store(paths, {}));
    fill(paths, lanes, record_bytes);
    measure(paths, "kill");
    fill(paths, lanes, record_bytes);
    std::ofstream(paths.lane_cells, std::ios::binary | std::ios::in | std::ios::out)
        .write(std::string(store::LaneCells::kFileBytes, '\0').data(),
               store::LaneCells::kFileBytes);
    measure(paths, "power cut");
    return 0;
}
