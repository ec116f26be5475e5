// Appends batches to a queue and its lanes and writes down what was acknowledged, for
// test_power_cut.py.
//
// Lines of `<root>/acks`: `stored SEQ SHA256` after append() reported it, or after it was read in
// the queue; `lane SHA256` after a lane's write returned; `applied SEQ` before the checkpoint is
// published to the queue.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/commit/lane_format.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "lmdb_store/lanes/lane_writer.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"

namespace {

using namespace sluice;

std::string random_body(std::mt19937_64& random) {
    std::string body(std::uniform_int_distribution<std::size_t>(200, 6000)(random), '\0');
    for (char& byte : body) {
        byte = static_cast<char>('a' + random() % 26);
    }
    return body;
}

void write_line(int fd, const std::string& line) {
    if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        std::perror("acks");
        std::exit(1);
    }
}

/// Every tenth body is a bulk file, as large ones are. Kept, because another test covers files
/// without a record.
std::string_view beside_the_queue(const store::StorePaths& paths, std::string_view body,
                                  RecordMeta& meta, std::optional<store::BulkFile>& file) {
    auto written = store::BulkFile::write(paths, body, sha256(body));
    if (!written.ok()) {
        std::fprintf(stderr, "%s\n", written.error().message.c_str());
        std::exit(1);
    }
    file.emplace(std::move(*written));
    meta.bulk = file->ref();
    return {};
}

RecordMeta meta_of_all() {
    RecordMeta meta;
    meta.account_number.value = 1;
    meta.shop_number.value = 1;
    meta.account_id = "account";
    meta.shop_id = "shop";
    meta.received_at = {1'700'000'000, 0};
    return meta;
}

/// One batch, acknowledged line by line. Returns the last number that was stored.
std::uint64_t append_batch(store::Queue& queue, const store::StorePaths& paths,
                           std::mt19937_64& random, int acks) {
    const std::size_t count = 1 + random() % 16;
    std::vector<std::string> bodies;
    std::vector<RecordEnvelope> envelopes(count);
    std::vector<store::AppendItem> items(count);
    std::vector<std::optional<store::BulkFile>> files(count);
    for (std::size_t at = 0; at < count; ++at) {
        bodies.push_back(random_body(random));
        RecordMeta meta = meta_of_all();
        const bool beside = random() % 10 == 0;
        const std::string_view inside =
            beside ? beside_the_queue(paths, bodies[at], meta, files[at]) : bodies[at];
        envelopes[at].encode(meta, inside);
        items[at].prefix = envelopes[at].prefix();
        items[at].body = inside;
        items[at].received_at = {1'700'000'000, 0};
    }
    queue.append(items, {1'700'000'000, 0});
    std::uint64_t last = 0;
    for (std::size_t at = 0; at < count; ++at) {
        if (files[at]) {
            files[at]->keep();
        }
        if (items[at].outcome == store::AppendOutcome::kStored) {
            last = items[at].seq.value;
            write_line(acks,
                       "stored " + std::to_string(last) + " " + to_hex(sha256(bodies[at])) + "\n");
        }
    }
    return last;
}

/// A lane as a worker of nginx uses it: up to two batches are under way at a time, and one that is
/// durable before the one in front of it waits for it.
class Lane {
public:
    explicit Lane(store::Queue& queue) : queue_(queue) { take(); }

    void take() {
        writer_.reset();
        auto taken = queue_.take_lane();
        if (!taken.ok() || *taken == nullptr) {
            std::fprintf(stderr, "no lane: %s\n",
                         taken.ok() ? "no room" : taken.error().message.c_str());
            std::exit(1);
        }
        writer_ = std::move(*taken);
        end_ = answered_ = writer_->end();
    }
    /// Half of them: the second batch is written first.
    void write_some(std::mt19937_64& random, int acks) {
        std::vector<std::string> digests;
        std::vector<Sealed> batches;
        batches.push_back(seal(random, digests));
        if (random() % 2 == 0) {
            batches.push_back(seal(random, digests));
        }
        for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
            if (writer_->write(batch->position, {batch->bytes.get(), batch->size}) != 0) {
                std::perror("lane");
                std::exit(1);
            }
        }
        writer_->publish(end_);
        answered_ = end_;
        for (const std::string& digest : digests) {
            write_line(acks, "lane " + digest + "\n");
        }
    }
    [[nodiscard]] bool is_half_full() const { return end_ - moved() > writer_->bytes() / 2; }

private:
    struct Free {
        void operator()(char* bytes) const { std::free(bytes); }
    };
    struct Sealed {
        std::unique_ptr<char, Free> bytes;
        std::uint64_t position = 0, size = 0;
    };

    [[nodiscard]] std::uint64_t moved() const {
        const auto room = writer_->room();
        return room ? room->moved : writer_->end();
    }
    Sealed seal(std::mt19937_64& random, std::vector<std::string>& digests) {
        const std::size_t count = 1 + random() % 6;
        std::vector<std::string> bodies;
        std::vector<RecordEnvelope> envelopes(count);
        std::uint64_t bytes = 0;
        for (std::size_t at = 0; at < count; ++at) {
            bodies.push_back(random_body(random));
            digests.push_back(to_hex(sha256(bodies[at])));
            RecordMeta meta = meta_of_all();
            envelopes[at].encode(meta, bodies[at]);
            bytes += envelopes[at].prefix().size() + bodies[at].size();
        }
        Sealed sealed;
        sealed.size = lane_batch_bytes(bytes, count);
        sealed.bytes.reset(static_cast<char*>(std::aligned_alloc(kLaneBlockBytes, sealed.size)));
        LaneBatchWriter batch({sealed.bytes.get(), sealed.size});
        for (std::size_t at = 0; at < count; ++at) {
            batch.add(envelopes[at].prefix(), bodies[at]);
        }
        LaneBatchHead head;
        head.offset = sealed.position = end_;
        head.stamp_ns = monotonic_ns();
        head.answered = answered_;
        head.boot = writer_->boot();
        head.in_flight = 1;
        (void)batch.finish(writer_->identity(), head);
        end_ = head.end();
        return sealed;
    }

    store::Queue& queue_;
    std::unique_ptr<store::LaneWriter> writer_;
    std::uint64_t end_ = 0, answered_ = 0;
};

/// Writes the numbers of records from lanes, once they are in the queue.
void write_numbers(store::Queue& queue, std::uint64_t& last, int acks) {
    const auto records = queue.read({last + 1}, 10'000, 16U << 20);
    if (!records.ok()) {
        std::fprintf(stderr, "%s\n", records.error().message.c_str());
        std::exit(1);
    }
    for (const auto& record : *records) {
        const auto view = decode_record(record.bytes);
        last = record.seq.value;
        if (view.ok() && view->receipt) {
            write_line(acks,
                       "stored " + std::to_string(last) + " " + to_hex(sha256(view->body)) + "\n");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[2]) == "init") {
        return store::init_store(store::StorePaths(std::string(argv[1]) + "/store"), {}).ok() ? 0
                                                                                              : 1;
    }
    if (argc != 5) {
        std::fprintf(stderr, "usage: power_cut_writer ROOT init | BATCHES SEED on|off\n");
        return 2;
    }
    const std::string root = argv[1];
    std::mt19937_64 random(std::stoull(argv[3]));
    const store::StorePaths paths(root + "/store");
    auto queue = store::Queue::open(
        paths, {.map_bytes = 64u << 20, .sync = std::string_view(argv[4]) == "on"});
    if (!queue.ok()) {
        std::fprintf(stderr, "%s\n", queue.error().message.c_str());
        return 1;
    }
    const int acks = open((root + "/acks").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    std::vector<std::unique_ptr<Lane>> lanes;
    for (int count = 0; count < 2; ++count) {
        lanes.push_back(std::make_unique<Lane>(**queue));
    }
    std::uint64_t last = 0;
    std::uint64_t applied = 0;  // never goes back, as the sluice worker's does not
    for (int batch = 0; batch < std::atoi(argv[2]); ++batch) {
        Lane& lane = *lanes[random() % lanes.size()];
        const auto what = random() % 10;
        if (what < 6) {
            lane.write_some(random, acks);
        } else if (what < 8) {
            (void)append_batch(**queue, paths, random, acks);
        } else if (what < 9) {
            lane.take();  // as after a reload
        }
        if (what >= 8 || lane.is_half_full()) {
            if (!(*queue)->move_lanes().ok()) {
                return 1;
            }
        }
        write_numbers(**queue, last, acks);
        if (last > 20 && random() % 3 == 0) {
            applied = std::max(applied, last - random() % 20);
            write_line(acks, "applied " + std::to_string(applied) + "\n");
            (*queue)->control().publish_applied({applied});
        }
    }
    close(acks);
    return 0;
}
