// How long a payout close of many positions takes: orders of one line, each with its position, are
// applied first, then one close takes them all. Time, memory and, with PostgreSQL, round trips.
//
//   payout_close FOLDER ORDERS [URL]   URL: an empty database; without it, the embedded ledger
#include <chrono>
#include <fstream>
#include <thread>

#include "bench/apply_store.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kCreators = 1000;
constexpr std::uint64_t kAtOnce = 200'000;  ///< Orders in the queue.

std::string small_body(std::uint64_t order) {
    const std::string id = std::to_string(1'000'000'000 + order);
    const std::string at =
        Timestamp{kFirstOrdered + static_cast<std::int64_t>(order / 100), 0}.to_string();
    return R"({"platform_order_id":"order-)" + id + R"(","platform_ordered_at":")" + at +
           R"(","platform_updated_at":")" + at +
           R"(","amount":"50.00","tax":"0.00","shipping":"0.00","currency_code":"USD",)"
           R"("discounts":[{"code":"CODE)" +
           std::to_string(order % kCreators) +
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

/// @return seconds
double drain(Bench& bench, const worker::LedgerOpener& opener) {
    worker::DrainOptions options;
    options.archive.reset();
    auto opened = worker::Drain::open(bench.paths, *bench.queue, opener, options, {});
    check(opened.ok(), opened ? "" : opened.error().message);
    const Clock::time_point began = Clock::now();
    const Status drained = (*opened)->run_up_to(bench.queue->fill()->last_seq, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
    return std::chrono::duration<double>(Clock::now() - began).count();
}

void fill(Bench& bench, const worker::LedgerOpener& opener, std::uint64_t orders) {
    Program program;
    program.id = ProgramId("spring");
    program.account_id = AccountId("acme");
    program.account = {1};
    program.late_days = kProgramDaysMax;
    program.default_rate = *parse_rate("10%");
    bench.append(Topic::kProgramApply, {encode_request({{}, {}, ProgramApply{{program}}})});
    CreatorImport creators;
    for (std::uint32_t i = 0; i < kCreators; ++i) {
        creators.rows.push_back({i + 2, CreatorId("creator-" + std::to_string(i)), program.id,
                                 "CODE" + std::to_string(i)});
    }
    bench.append(Topic::kCreatorImport, {encode_request({{}, {}, creators})});
    for (std::uint64_t first = 0; first < orders; first += kAtOnce) {
        for (std::uint64_t at = first; at < std::min(first + kAtOnce, orders); at += kAppendBatch) {
            std::vector<std::string> bodies;
            for (std::uint64_t i = at; i < std::min(at + kAppendBatch, orders); ++i) {
                bodies.push_back(small_body(i));
            }
            bench.append(Topic::kOrderCreate, bodies);
        }
        drain(bench, opener);
    }
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

void print_result(Bench& bench, const worker::LedgerOpener& opener) {
    const auto ledger = opener();
    check(ledger.ok(), ledger ? "" : ledger.error().message);
    (*ledger)->snapshot(bench.queue->uuid())->scan_commands([](const CommandRow& row) {
        if (row.topic == Topic::kPayoutClose) {
            std::printf("%s\n", row.result.c_str());
        }
        return true;
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: payout_close FOLDER ORDERS [URL]\n");
        return 2;
    }
    try {
        Bench bench(argv[1]);
        const worker::LedgerOpener opener = opener_of(bench, argc > 3 ? argv[3] : nullptr);
        fill(bench, opener, std::strtoull(argv[2], nullptr, 10));
        bench.append(Topic::kPayoutClose, {encode_request({{}, {}, PayoutClose{kReceived}})});
        const std::uint64_t trips = pg::Connection::round_trips();
        const double before = anonymous_mb();
        const Watch watch;
        const double took = drain(bench, opener);
        std::printf("close %.1f s, %llu round trips, memory %.0f MB and at most %.0f MB more\n",
                    took, static_cast<unsigned long long>(pg::Connection::round_trips() - trips),
                    before, watch.most() - before);
        print_result(bench, opener);
    } catch (const LedgerFailure& failure) {
        check(false, failure.error().message);
    }
    return 0;
}
