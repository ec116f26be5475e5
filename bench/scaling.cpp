// Measures the cost of one event as the store grows: the backlog of the queue, shops and accounts
// of the registry, the lines of an order. Processor time only, with syncs off; prints one table for
// each.
//
//   scaling NEW_FOLDER [BACKLOG_MAX] [SHOPS_MAX]
#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bench/need.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "micro/samples.hpp"

namespace {

using namespace sluice;
using bench::need;

constexpr Timestamp kNow{1'700'000'000, 0};
constexpr std::size_t kBatch = 64;

/// Returns the processor time of this thread, which excludes waiting for the disk.
double cpu_nanos() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double nanos_since(double start) {
    return cpu_nanos() - start;
}

/// Appends batches of one body again and again.
class Appender {
public:
    Appender(store::Queue& queue, std::size_t body_bytes)
        : queue_(queue), body_(body_bytes, 'b'), items_(kBatch) {
        RecordMeta meta;
        meta.account_id = "account-1";
        meta.shop_id = "shop-1";
        meta.received_at = kNow;
        envelope_.encode(meta, body_);
    }
    /// Nanoseconds of each record.
    double run(std::uint64_t records) {
        const double start = cpu_nanos();
        std::uint64_t done = 0;
        for (; done < records; done += kBatch) {
            for (store::AppendItem& item : items_) {
                item = {};
                item.prefix = envelope_.prefix();
                item.body = body_;
                item.received_at = kNow;
            }
            queue_.append(items_, kNow);
            if (items_.back().outcome != store::AppendOutcome::kStored) {
                std::fprintf(stderr, "scaling: the queue took no more\n");
                std::exit(1);
            }
        }
        return nanos_since(start) / static_cast<double>(done);
    }

private:
    store::Queue& queue_;
    std::string body_;
    RecordEnvelope envelope_;
    std::vector<store::AppendItem> items_;
};

/// Small records, so that ten million fit the disk; then 1.1 KB ones on top of each backlog.
void measure_backlog(const store::StorePaths& paths, std::uint64_t backlog_max) {
    auto queue = need(store::Queue::open(paths, {.map_bytes = 64ULL << 30, .sync = false}));
    Appender small(*queue, 64);
    Appender order(*queue, 1100);
    std::printf("backlog\tns to append one of 64 (1.1 KB)\n");
    std::uint64_t stored = 0;
    for (std::uint64_t backlog = 1000; backlog <= backlog_max; backlog *= 10) {
        small.run(backlog - stored);
        stored = backlog;
        // Else the kernel makes the next writer pay for the backlog's dirty pages.
        const int fd = ::open((paths.queue / "data.mdb").c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || ::fdatasync(fd) != 0 || ::close(fd) != 0) {
            std::exit(1);
        }
        // The least of ten: whatever else runs can only make it look dearer.
        double least = order.run(20 * kBatch);
        for (int again = 1; again < 10; ++again) {
            least = std::min(least, order.run(20 * kBatch));
        }
        std::printf("%lu\t%.0f\n", static_cast<unsigned long>(backlog), least);
    }
}

std::string shop_name(std::uint64_t number) {
    return "shop-" + std::to_string(number);
}

/// Ten shops for each account: a million shops are a hundred thousand accounts.
void measure_shops(const store::StorePaths& paths, std::uint64_t shops_max) {
    auto registry = need(store::Registry::open(paths, store::Registry::Mode::kReadWrite));
    auto environment = need(store::Environment::open({paths.registry, 0, 16, false, true}));
    mdb_env_set_flags(environment->get(), MDB_NOSYNC, 1);
    const store::MasterKey key = need(store::MasterKey::load(paths.master_key));
    std::printf("shops\taccounts\tns to find a shop: the same\tone of 1000\tany\n");
    std::uint64_t made = 0;
    std::mt19937_64 random(1);
    for (std::uint64_t shops = 1000; shops <= shops_max; shops *= 10) {
        for (; made < shops; ++made) {
            const AccountId account("account-" + std::to_string(made / 10));
            if (made % 10 == 0) {
                need(registry->create_account(account, std::nullopt, kNow));
                need(registry->create_token({account, kWriteOrders, std::nullopt, {}}, key, kNow));
            }
            need(registry->create_shop(ShopId(shop_name(made)), account, kNow));
        }
        auto reader = need(store::RegistryReader::open(paths, key));
        std::printf("%lu\t%lu", static_cast<unsigned long>(shops),
                    static_cast<unsigned long>(shops / 10));
        for (const std::uint64_t among : {std::uint64_t{1}, std::uint64_t{1000}, shops}) {
            constexpr std::size_t kFinds = 20'000;
            std::vector<std::string> names;
            for (std::size_t at = 0; at < kFinds; ++at) {
                names.push_back(shop_name(random() % among));
            }
            for (const std::string& name : names) {
                static_cast<void>(reader->find_shop(name));
            }
            const double start = cpu_nanos();
            for (const std::string& name : names) {
                if (reader->find_shop(name) == nullptr) {
                    std::exit(1);
                }
            }
            std::printf("\t%.0f", nanos_since(start) / kFinds);
        }
        std::printf("\n");
    }
}

void measure_lines() {
    const SigningKey key("0123456789abcdef0123456789abcdef");
    OrderEventParser parser;
    std::printf("lines\tbytes\tns to check the signature\tns to validate\n");
    for (const int lines : {1, 5, 20, 100, 400}) {
        const std::string body = bench::order(lines);
        const Digest256 signature = key.sign(body);
        constexpr int kRounds = 2000;
        double start = cpu_nanos();
        for (int round = 0; round < kRounds; ++round) {
            if (!key.verify(body, signature)) {
                std::exit(1);
            }
        }
        const double signing = nanos_since(start) / kRounds;
        start = cpu_nanos();
        for (int round = 0; round < kRounds; ++round) {
            if (parser.parse(body, Topic::kOrderCreate, "svc_anon_id") == nullptr) {
                std::exit(1);
            }
        }
        std::printf("%d\t%zu\t%.0f\t%.0f\n", lines, body.size(), signing,
                    nanos_since(start) / kRounds);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: scaling NEW_FOLDER [BACKLOG_MAX] [SHOPS_MAX]\n");
        return 2;
    }
    const store::StorePaths paths{std::filesystem::path(argv[1])};
    need(store::init_store(paths, {.group = std::nullopt, .max_accounts = 200'000}));
    measure_lines();
    measure_backlog(paths, argc > 2 ? std::stoull(argv[2]) : 10'000'000);
    measure_shops(paths, argc > 3 ? std::stoull(argv[3]) : 1'000'000);
    return 0;
}
