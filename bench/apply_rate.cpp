// How fast the drain applies order events of five lines to the embedded ledger: every batch synced,
// the archive written, one core. For each size of the ledger that is asked for, new orders and then
// refunds of old orders, chosen at random, are timed: so the cost per event is seen as it grows.
//
//   apply_rate FOLDER [ORDERS...]   a store is made in FOLDER/apply_rate and removed
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/commands.hpp"
#include "core/record.hpp"
#include "lmdb_store/ledger.hpp"
#include "lmdb_store/queue.hpp"
#include "worker/drain.hpp"

namespace {

using namespace sluice;

constexpr Timestamp kReceived{1'767'225'600, 0};
constexpr std::int64_t kFirstOrdered = kReceived.seconds - 30 * 86'400;
constexpr std::size_t kAppendBatch = 2000;
constexpr std::uint64_t kTimed = 100'000;   ///< Events of a row.
constexpr std::uint64_t kAtOnce = 500'000;  ///< In the queue, while the ledger grows.

void check(bool ok, const std::string& what) {
    if (!ok) {
        std::fprintf(stderr, "apply_rate: %s\n", what.c_str());
        std::exit(1);
    }
}

std::string line_of(std::uint64_t order, int line) {
    const std::string number = std::to_string(line);
    return R"({"line_item_id":"li-)" + std::to_string(order) + "-" + number + R"(","sku":"SKU-)" +
           std::to_string((order * 7 + static_cast<unsigned>(line)) % 5000) +
           R"(","variant_sku":"VAR-)" + number + R"(-BLUE","amount":")" + number +
           R"(9.90","tax":")" + number + R"(.58","quantity":"1"})";
}

/// About 1.1 KB, as a shop sends it. `update` 0: a new order; else one of its refunds, each with a
/// version and an amount of its own.
std::string order_body(std::uint64_t order, std::uint32_t update) {
    const std::int64_t ordered = kFirstOrdered + static_cast<std::int64_t>(order / 100);
    std::string body = R"({"platform_order_id":"order-)" + std::to_string(1'000'000'000 + order) +
                       R"(","platform_customer_id":"customer-)" + std::to_string(order % 100'000) +
                       R"(","email":"someone@example.com","platform_ordered_at":")" +
                       Timestamp{ordered, 0}.to_string() + R"(","platform_updated_at":")" +
                       Timestamp{ordered + 1, update}.to_string() +
                       R"(","amount":"199.50","tax":"17.90","shipping":"4.90",)"
                       R"("currency_code":"USD","discounts":[{"code":"SPRING)" +
                       std::to_string(order % 50) +
                       R"(","type":"DISCOUNT_CODE","value_type":"PERCENTAGE","value":"10"}],)"
                       R"("line_items":[)";
    for (int line = 1; line <= 5; ++line) {
        body += (line == 1 ? "" : ",") + line_of(order, line);
    }
    body += "]";
    if (update != 0) {
        body += R"(,"refund_line_items":[{"refund_line_item_id":"r-)" + std::to_string(order) +
                R"(","line_item_id":"li-)" + std::to_string(order) +
                R"(-1","platform_refunded_at":"2026-03-01T00:00:00Z","sku":"S","amount":")" +
                std::to_string(1 + update % 19) + R"(.00","tax":"0.00","quantity":"1"}])";
    }
    return body + "}";
}

struct Bench {
    explicit Bench(const std::filesystem::path& folder) : paths(folder / "apply_rate") {
        std::filesystem::remove_all(paths.root);
        const Status made = store::init_store(paths, {});
        check(made.ok(), made ? "" : made.error().message);
        auto opened = store::Queue::open(paths, {});
        check(opened.ok(), opened ? "" : opened.error().message);
        queue = std::move(*opened);
    }
    ~Bench() {
        queue.reset();
        std::filesystem::remove_all(paths.root);
    }

    void append(Topic topic, const std::vector<std::string>& bodies) {
        RecordMeta meta;
        meta.topic = topic;
        meta.account_number = {1};
        meta.shop_number = {1};
        meta.account_id = "acme";
        meta.shop_id = "shop-1";
        meta.received_at = kReceived;
        std::vector<std::string> prefixes;
        std::vector<store::AppendItem> items(bodies.size());
        RecordEnvelope envelope;
        for (const std::string& body : bodies) {
            envelope.encode(meta, body);
            prefixes.emplace_back(envelope.prefix());
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].prefix = prefixes[i];
            items[i].body = bodies[i];
            items[i].received_at = kReceived;
        }
        queue->append(items, kReceived);
        check(items.back().outcome == store::AppendOutcome::kStored, "the queue is full");
    }

    void programs() {
        Program program;
        program.id = ProgramId("spring");
        program.account_id = AccountId("acme");
        program.account = {1};
        program.default_rate = *parse_rate("10%");
        append(Topic::kProgramApply, {encode_command(ProgramApply{{program}})});
        CreatorImport creators;
        for (std::uint32_t i = 0; i < 40; ++i) {  // one order in five stays without a creator
            creators.rows.push_back({i + 2, CreatorId("creator-" + std::to_string(i)), program.id,
                                     "SPRING" + std::to_string(i)});
        }
        append(Topic::kCreatorImport, {encode_command(creators)});
    }

    void create(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t order = first; order < end;) {
            std::vector<std::string> bodies;
            for (; bodies.size() < kAppendBatch && order < end; ++order) {
                bodies.push_back(order_body(order, 0));
            }
            append(Topic::kOrderCreate, bodies);
        }
    }

    /// Of orders of all ages, at random: what is touched is nowhere near each other.
    void refund(std::uint64_t count, std::uint64_t orders) {
        for (std::uint64_t done = 0; done < count;) {
            std::vector<std::string> bodies;
            for (; bodies.size() < kAppendBatch && done < count; ++done) {
                bodies.push_back(order_body(random() % orders, ++updates));
            }
            append(Topic::kOrderUpdate, bodies);
        }
    }

    store::StorePaths paths;
    std::unique_ptr<store::Queue> queue;
    std::atomic<bool> stop = false;
    std::mt19937_64 random{1};
    std::uint32_t updates = 0;
};

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Pages of the ledger, segments of the archive: what the process gave to write() so far.
std::uint64_t bytes_written() {
    std::ifstream io("/proc/self/io");
    for (std::string name; io >> name;) {
        std::uint64_t value = 0;
        io >> value;
        if (name == "wchar:") {
            return value;
        }
    }
    return 0;
}

/// Applying and archiving are timed, trimming is not: nginx does it.
void drain(Bench& bench, const char* what, std::uint64_t stored, std::uint64_t events) {
    using Clock = std::chrono::steady_clock;
    auto opened = worker::Drain::open(bench.paths, *bench.queue,
                                      worker::embedded_ledger(bench.paths), {}, {});
    check(opened.ok(), opened ? "" : opened.error().message);
    const double cpu_before = cpu_seconds();
    const std::uint64_t written_before = bytes_written();
    const Clock::time_point began = Clock::now();
    const SequenceNumber last = bench.queue->fill()->last_seq;
    const Status drained = (*opened)->run_up_to(last, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
    const double wall = std::chrono::duration<double>(Clock::now() - began).count();
    const double cpu = cpu_seconds() - cpu_before;
    const auto fill = dynamic_cast<store::EmbeddedLedger&>((*opened)->ledger()).fill();
    if (events != 0) {
        const auto count = static_cast<double>(events);
        std::printf(
            "%10llu  %-7s %9.0f/s  %6.2f us CPU  %6.2f us wall  %5.2f KB written  ledger %7.1f "
            "MB\n",
            static_cast<unsigned long long>(stored), what, count / wall, cpu / count * 1e6,
            wall / count * 1e6, static_cast<double>(bytes_written() - written_before) / count / 1e3,
            static_cast<double>(fill.bytes_used) / 1e6);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: apply_rate FOLDER [ORDERS...]\n");
        return 2;
    }
    std::vector<std::uint64_t> sizes;
    for (int i = 2; i < argc; ++i) {
        sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    }
    if (sizes.empty()) {
        sizes = {kTimed, 3 * kTimed};
    }
    Bench bench(argv[1]);
    bench.programs();
    drain(bench, "", 0, 0);
    std::printf("    orders  events       rate\n");
    std::uint64_t stored = 0;
    for (const std::uint64_t size : sizes) {
        const std::uint64_t timed = std::min(kTimed, size - std::min(stored, size));
        while (stored + timed < size) {
            const std::uint64_t end = std::min(stored + kAtOnce, size - timed);
            bench.create(stored, end);
            stored = end;
            drain(bench, "", 0, 0);
        }
        bench.create(stored, size);
        stored = size;
        drain(bench, "create", stored, timed);
        bench.refund(kTimed, stored);
        drain(bench, "refund", stored, kTimed);
    }
    return 0;
}
