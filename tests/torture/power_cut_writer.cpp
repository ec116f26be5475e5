// Appends batches to a queue and writes down what was acknowledged, for power_cut.py.
//
// Lines of `<root>/acks`: `stored SEQ SHA256` once append() said so; `applied SEQ` before the queue
// is told that it may trim up to there.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"

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

/// Every tenth body lies beside the queue, as large ones do. Kept: what becomes of files that no
/// record names is another test's.
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
        RecordMeta meta;
        meta.account_number.value = 1;
        meta.shop_number.value = 1;
        meta.account_id = "account";
        meta.shop_id = "shop";
        meta.received_at = {1'700'000'000, 0};
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
    std::uint64_t applied = 0;  // never goes back, as the sluice worker's does not
    for (int batch = 0; batch < std::atoi(argv[2]); ++batch) {
        const std::uint64_t last = append_batch(**queue, paths, random, acks);
        if (last > 20 && random() % 3 == 0) {
            applied = std::max(applied, last - random() % 20);
            write_line(acks, "applied " + std::to_string(applied) + "\n");
            (*queue)->control().publish_applied({applied});
        }
    }
    close(acks);
    return 0;
}
