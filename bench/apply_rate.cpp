// How fast the drain applies order events of five lines to the embedded ledger: every batch synced,
// the archive written, one core. For each size of the ledger that is asked for, new orders and then
// refunds of old orders, chosen at random, are timed: so the cost per event is seen as it grows.
//
//   apply_rate [--rules|--shopify|--keep] FOLDER [ORDERS...]   a store is made in
//                                                              FOLDER/apply_rate and removed
//   apply_rate --clicks FOLDER [CLICKS...]                     clicks of 1,000 links instead
//
// --rules: the program has 200 rules, tiers and a cap; else it pays 10 % of everything.
// --shopify: the new orders are translated webhooks of Shopify, also of five lines; no refunds.
// --keep: the store stays, for `sluice ledger rebuild` and `sluice doctor --replay`.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/apply_store.hpp"
#include "bench/click_inputs.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;

constexpr std::uint64_t kTimed = 100'000;   ///< Events of a row.
constexpr std::uint64_t kAtOnce = 500'000;  ///< In the queue, while the ledger grows.

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
    const Status drained = (*opened)->run_up_to(last, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
    const double wall = std::chrono::duration<double>(Clock::now() - began).count();
    const double cpu = cpu_seconds() - cpu_before;
    const auto fill = dynamic_cast<store::EmbeddedLedger&>((*opened)->ledger()).size();
    if (events != 0) {
        const auto count = static_cast<double>(events);
        std::printf(
            "%10llu  %-7s %9.0f/s  %6.2f us CPU  %6.2f us wall  %5.2f KB written  ledger %7.1f "
            "MB\n",
            static_cast<unsigned long long>(stored), what, count / wall, cpu / count * 1e6,
            wall / count * 1e6, static_cast<double>(bytes_written() - written_before) / count / 1e3,
            static_cast<double>(fill.bytes_to_last_page) / 1e6);
        std::fflush(stdout);
    }
}

/// All clicks up to each size are timed.
void apply_clicks(Bench& bench, const std::vector<std::uint64_t>& sizes) {
    const ClickTimes times{kReceived.plus_days(-1)};
    create_links(bench, times.links);
    drain(bench, "", 0, 0);
    std::printf("    clicks  events       rate\n");
    std::uint64_t stored = 0;
    for (const std::uint64_t size : sizes) {
        append_clicks(bench, stored, size, times);
        drain(bench, "click", size, size - std::min(stored, size));
        stored = std::max(stored, size);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view option = argc > 1 ? argv[1] : "";
    const bool has_rules = option == "--rules", is_shopify = option == "--shopify";
    const bool is_of_clicks = option == "--clicks", is_kept = option == "--keep";
    const int folder = has_rules || is_shopify || is_of_clicks || is_kept ? 2 : 1;
    if (argc <= folder) {
        std::fprintf(stderr,
                     "usage: apply_rate [--rules|--shopify|--clicks|--keep] FOLDER [ORDERS...]\n");
        return 2;
    }
    std::vector<std::uint64_t> sizes;
    for (int i = folder + 1; i < argc; ++i) {
        sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    }
    if (sizes.empty()) {
        sizes = {kTimed, 3 * kTimed};
    }
    Bench bench(argv[folder]);
    bench.is_kept = is_kept;
    bench.programs(has_rules ? rich_program() : plain_program());
    const auto create = [&](std::uint64_t first, std::uint64_t end) {
        is_shopify ? bench.create_of_shopify(first, end) : bench.create(first, end);
    };
    drain(bench, "", 0, 0);
    if (is_of_clicks) {
        apply_clicks(bench, sizes);
        return 0;
    }
    std::printf("    orders  events       rate\n");
    std::uint64_t stored = 0;
    for (const std::uint64_t size : sizes) {
        const std::uint64_t timed = std::min(kTimed, size - std::min(stored, size));
        while (stored + timed < size) {
            const std::uint64_t end = std::min(stored + kAtOnce, size - timed);
            create(stored, end);
            stored = end;
            drain(bench, "", 0, 0);
        }
        create(stored, size);
        stored = size;
        drain(bench, "create", stored, timed);
        if (!is_shopify) {
            bench.refund(kTimed, stored);
            drain(bench, "refund", stored, kTimed);
        }
    }
    return 0;
}
