// Measures a payout of many positions, from its preview to its return: orders of one line, each
// with its position, are applied first; then one command after the other changes the state of all
// payouts. Time, processor, memory and, with PostgreSQL, round trips.
//
//   payout_close FOLDER ORDERS CREATORS [URL]   URL: an empty database; without it, the embedded
//                                               ledger
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "bench/apply_store.hpp"
#include "core/payouts/plan.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;
using Clock = std::chrono::steady_clock;

/// The first command's receipt, after the orders', because a close takes what was posted before it
/// (K7). Each later command comes a second later, because rows of commands are sorted by time.
constexpr Timestamp kClosed{kReceived.seconds + 1, 0};
constexpr std::uint64_t kAtOnce = 200'000;       ///< Orders in the queue.
constexpr std::uint64_t kCreatorsAtOnce = 1000;  ///< In one import.

std::string small_body(std::uint64_t order, std::uint64_t creators) {
    const std::string id = std::to_string(1'000'000'000 + order);
    const std::string at =
        Timestamp{kFirstOrdered + static_cast<std::int64_t>(order / 100), 0}.to_string();
    return R"({"platform_order_id":"order-)" + id + R"(","platform_ordered_at":")" + at +
           R"(","platform_updated_at":")" + at +
           R"(","amount":"50.00","tax":"0.00","shipping":"0.00","currency_code":"USD",)"
           R"("discounts":[{"code":"CODE)" +
           std::to_string(order % creators) +
           R"(","type":"DISCOUNT_CODE","value_type":"PERCENTAGE","value":"10"}],)"
           R"("line_items":[{"line_item_id":"l1","sku":"s","amount":"50.00","tax":"0.00",)"
           R"("quantity":"1"}]})";
}

/// Anonymous memory of this process: mapped pages of the ledger are the system's.
double anonymous_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "RssAnon:") {
            double kb = 0;
            status >> kb;
            return kb / 1024;
        }
    }
    return 0;
}

class Watch {
public:
    Watch()
        : thread_([this] {
              while (!done_) {
                  most_ = std::max(most_.load(), anonymous_mb());
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }
          }) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
        done_ = true;
        thread_.join();
    }
    [[nodiscard]] double most() const { return most_; }

private:
    std::atomic<bool> done_ = false;
    std::atomic<double> most_ = 0;
    std::thread thread_;
};

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double processor_s() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

worker::LedgerOpener opener_of(const Bench& bench, const char* url_text) {
    if (url_text == nullptr) {
        return worker::embedded_ledger(bench.paths);
    }
    const auto url = pg::Url::parse(url_text);
    check(url.ok(), url.ok() ? "" : url.error().message);
    const auto migrated = pg::migrate(*url);
    check(migrated.ok(), migrated ? "" : migrated.error().message);
    return [url = *url]() -> Result<std::unique_ptr<Ledger>> {
        auto opened = pg::PostgresLedger::open(url, pg::PostgresLedger::Mode::kReadWrite, {});
        if (!opened) {
            return opened.error();
        }
        return std::unique_ptr<Ledger>(std::move(*opened));
    };
}

void drain(Bench& bench, const worker::LedgerOpener& opener) {
    worker::DrainOptions options;
    options.archive.reset();
    auto opened = worker::Drain::open(bench.paths, *bench.queue, opener, options, {});
    check(opened.ok(), opened ? "" : opened.error().message);
    const Status drained = (*opened)->run_up_to(bench.queue->fill()->last_seq, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
}

void fill(Bench& bench, const worker::LedgerOpener& opener, std::uint64_t orders,
          std::uint64_t creators) {
    Program program = plain_program();
    bench.append(Topic::kProgramApply, {encode_request({{}, {}, ProgramApply{{program}}})});
    for (std::uint64_t first = 0; first < creators; first += kCreatorsAtOnce) {
        CreatorImport import;
        for (std::uint64_t i = first; i < std::min(first + kCreatorsAtOnce, creators); ++i) {
            import.rows.push_back({static_cast<std::uint32_t>(i - first + 2),
                                   CreatorId("creator-" + std::to_string(i)), program.id,
                                   "CODE" + std::to_string(i)});
        }
        bench.append(Topic::kCreatorImport, {encode_request({{}, {}, import})});
    }
    for (std::uint64_t first = 0; first < orders; first += kAtOnce) {
        for (std::uint64_t at = first; at < std::min(first + kAtOnce, orders); at += kAppendBatch) {
            std::vector<std::string> bodies;
            for (std::uint64_t i = at; i < std::min(at + kAppendBatch, orders); ++i) {
                bodies.push_back(small_body(i, creators));
            }
            bench.append(Topic::kOrderCreate, bodies);
        }
        drain(bench, opener);
    }
}

/// Returns the text and the id of the last command.
CommandRow last_command(Bench& bench, const worker::LedgerOpener& opener) {
    const auto ledger = opener();
    check(ledger.ok(), ledger ? "" : ledger.error().message);
    CommandRow last;
    (*ledger)->snapshot(bench.queue->uuid())->scan_commands([&last](const CommandRow& row) {
        last = row;
        return true;
    });
    return last;
}

template <class Step>
void measure(const char* name, Step step) {
    const std::uint64_t trips = pg::Connection::round_trips();
    const double before = anonymous_mb();
    const double processor = processor_s();
    const Clock::time_point began = Clock::now();
    const Watch watch;
    step();
    const double took = std::chrono::duration<double>(Clock::now() - began).count();
    std::printf("%-9s %7.1f s, processor %6.1f s, %7llu round trips, memory %5.0f MB more\n", name,
                took, processor_s() - processor,
                static_cast<unsigned long long>(pg::Connection::round_trips() - trips),
                watch.most() - before);
    std::fflush(stdout);
}

void preview(Bench& bench, const worker::LedgerOpener& opener) {
    const auto ledger = opener();
    check(ledger.ok(), ledger ? "" : ledger.error().message);
    const std::unique_ptr<LedgerReader> reader = (*ledger)->snapshot(bench.queue->uuid());
    const PayoutClose close{kClosed};
    const AccountSettings settings = account_settings(*reader, {1});
    const PlanRequest request{{1}, AccountId("acme"), close, kClosed, {}};
    PayoutPlan plan(request, settings, *reader);
    const Status possible = plan.add_up();
    check(possible.ok(), possible ? "" : possible.error().message);
    std::uint64_t payouts = 0;
    plan.visit([&payouts](const PlannedPayout&) { ++payouts; });
    std::printf("%llu payouts, ", static_cast<unsigned long long>(payouts));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: payout_close FOLDER ORDERS CREATORS [URL]\n");
        return 2;
    }
    try {
        Bench bench(argv[1]);
        const worker::LedgerOpener opener = opener_of(bench, argc > 4 ? argv[4] : nullptr);
        measure("fill", [&] {
            fill(bench, opener, std::strtoull(argv[2], nullptr, 10),
                 std::strtoull(argv[3], nullptr, 10));
        });
        bench.received = kClosed;
        measure("preview", [&] { preview(bench, opener); });
        std::string run;
        const auto close = [&] {
            ++bench.received.seconds;
            bench.append(Topic::kPayoutClose,
                         {encode_request({{}, {}, PayoutClose{bench.received}})});
            measure("close", [&] { drain(bench, opener); });
            const CommandRow row = last_command(bench, opener);
            std::printf("%s\n", row.result.c_str());
            run = row.command_id;
        };
        const auto move = [&](const char* name, PayoutVerb verb) {
            ++bench.received.seconds;
            bench.append(Topic::kPayoutMove,
                         {encode_request({{}, "bench", PayoutMove{verb, {run}}})});
            measure(name, [&] { drain(bench, opener); });
            std::printf("%s\n", last_command(bench, opener).result.c_str());
        };
        close();
        move("void", PayoutVerb::kVoid);
        close();
        move("sent", PayoutVerb::kSent);
        move("failed", PayoutVerb::kFailed);
        close();
        move("settle", PayoutVerb::kSettle);
        move("returned", PayoutVerb::kReturned);
    } catch (const LedgerFailure& failure) {
        check(false, failure.error().message);
    }
    return 0;
}
