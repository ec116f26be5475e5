// Prints `SEQ SHA256` for every record of a queue, once its lanes were recovered; fails if it
// cannot be opened or read whole.
#include <cstdio>

#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"

int main(int argc, char** argv) {
    using namespace sluice;
    if (argc != 2) {
        std::fprintf(stderr, "usage: power_cut_check STORE\n");
        return 2;
    }
    const store::StorePaths paths(argv[1]);
    auto queue = store::Queue::open(paths, {.map_bytes = 64u << 20});
    if (!queue.ok()) {
        std::fprintf(stderr, "%s\n", queue.error().message.c_str());
        return 1;
    }
    if (const Status recovered = (*queue)->recover_lanes(); !recovered.ok()) {
        std::fprintf(stderr, "%s\n", recovered.error().message.c_str());
        return 1;
    }
    SequenceNumber from{1};
    while (true) {
        auto records = (*queue)->read(from, 1000, 16u << 20);
        if (!records.ok()) {
            std::fprintf(stderr, "%s\n", records.error().message.c_str());
            return 1;
        }
        if (records->empty()) {
            return 0;
        }
        for (const auto& record : *records) {
            const auto view = decode_record(record.bytes);
            if (!view.ok()) {
                std::fprintf(stderr, "record %llu: %s\n",
                             static_cast<unsigned long long>(record.seq.value),
                             view.error().message.c_str());
                return 1;
            }
            std::string body(view->body);
            if (view->meta.bulk) {
                auto beside = store::read_bulk(paths, *view->meta.bulk);
                if (!beside.ok()) {
                    std::fprintf(stderr, "record %llu: %s\n",
                                 static_cast<unsigned long long>(record.seq.value),
                                 beside.error().message.c_str());
                    return 1;
                }
                body = std::move(*beside);
            }
            std::printf("%llu %s\n", static_cast<unsigned long long>(record.seq.value),
                        to_hex(sha256(body)).c_str());
            from.value = record.seq.value + 1;
        }
    }
}
