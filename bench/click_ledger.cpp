// Fills a store that exists with clicks of thirty days, for bench/clicks.py: an account `acme`
// (number 1), forty creators of its program `spring`, and links that share the clicks evenly.
//
//   click_ledger STORE CLICKS LINKS FROM     FROM: seconds since 1970, the first click
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/click_inputs.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;

constexpr std::uint64_t kAtOnce = 450'000;  ///< Clicks in the queue.
constexpr std::uint64_t kMilliseconds = std::uint64_t{30} * 86'400 * 1000;

void drain(Bench& bench) {
    auto opened = worker::Drain::open(bench.paths, *bench.queue,
                                      worker::embedded_ledger(bench.paths), {}, {});
    check(opened.ok(), opened ? "" : opened.error().message);
    const Status drained = (*opened)->run_up_to(bench.queue->fill()->last_seq, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: click_ledger STORE CLICKS LINKS FROM\n");
        return 2;
    }
    const std::uint64_t clicks = std::strtoull(argv[2], nullptr, 10);
    ClickTimes times;
    times.links = std::strtoull(argv[3], nullptr, 10);
    times.from = {std::strtoll(argv[4], nullptr, 10), 0};
    check(clicks != 0 && times.links != 0, "expected clicks and links");
    times.milliseconds = std::max<std::uint64_t>(kMilliseconds / clicks, 1);
    Bench bench(store::StorePaths(argv[1]), times.from.plus_days(31));
    bench.programs();
    create_links(bench, times.links);
    for (std::uint64_t done = 0; done < clicks;) {
        const std::uint64_t end = std::min(done + kAtOnce, clicks);
        append_clicks(bench, done, end, times);
        drain(bench);
        done = end;
    }
    return 0;
}
