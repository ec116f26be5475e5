// Fills a store that exists with orders of the last ninety days, for bench/reading.py: an account
// `acme` (number 1) with shops `shop-1`, `shop-2` ... (numbers 1, 2 ...), and creators that share
// the orders evenly. One order in five has no creator.
//
//   reading_ledger STORE ORDERS CREATORS SHOPS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/apply_store.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;

constexpr std::uint64_t kAtOnce = 200'000;  ///< Orders in the queue.
constexpr std::int64_t kDays = 90, kDaySeconds = 86'400;

void drain(Bench& bench) {
    auto opened = worker::Drain::open(bench.paths, *bench.queue,
                                      worker::embedded_ledger(bench.paths), {}, {});
    check(opened.ok(), opened ? "" : opened.error().message);
    const Status drained = (*opened)->run_up_to(bench.queue->fill()->last_seq, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
}

void creators(Bench& bench, std::uint64_t count) {
    Program program = plain_program();
    program.clearing_days = 30;
    bench.append(Topic::kProgramApply, {encode_request({{}, {}, ProgramApply{{program}}})});
    for (std::uint64_t first = 0; first < count; first += 1000) {
        CreatorImport import;
        for (std::uint64_t i = first; i < std::min(first + 1000, count); ++i) {
            const std::string number = std::to_string(i);
            import.rows.push_back({static_cast<std::uint32_t>(i - first + 2),
                                   CreatorId("creator-" + number), ProgramId("spring"),
                                   "CODE" + number});
        }
        bench.append(Topic::kCreatorImport, {encode_request({{}, {}, import})});
    }
}

std::string body_of(std::uint64_t order, std::uint64_t orders, std::uint64_t creators,
                    Timestamp now) {
    const auto age = static_cast<std::int64_t>(
        (orders - order) * static_cast<std::uint64_t>(kDays * kDaySeconds) / (orders + 1));
    const std::string at = Timestamp{now.seconds - age, 0}.to_string();
    const std::string code =
        order % 5 == 0 ? ""
                       : R"({"code":"CODE)" + std::to_string(order % creators) +
                             R"(","type":"DISCOUNT_CODE","value_type":"PERCENTAGE","value":"10"})";
    return R"({"platform_order_id":"order-)" + std::to_string(1'000'000'000 + order) +
           R"(","platform_ordered_at":")" + at + R"(","platform_updated_at":")" + at +
           R"(","amount":"49.90","tax":"4.58","shipping":"0.00","currency_code":"EUR","discounts":[)" +
           code + R"(],"line_items":[)" + line_of(order, 4) + "]}";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: reading_ledger STORE ORDERS CREATORS SHOPS\n");
        return 2;
    }
    const std::uint64_t orders = std::strtoull(argv[2], nullptr, 10);
    const std::uint64_t creators_count = std::strtoull(argv[3], nullptr, 10);
    const auto shops = static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 10));
    const auto clock = std::chrono::system_clock::now().time_since_epoch();
    const Timestamp now{std::chrono::duration_cast<std::chrono::seconds>(clock).count(), 0};
    Bench bench(store::StorePaths(argv[1]), now);
    creators(bench, creators_count);
    for (std::uint64_t order = 0; order < orders;) {
        const std::uint64_t end = std::min(order + kAtOnce, orders);
        while (order < end) {
            std::vector<std::string> bodies;
            const auto shop = static_cast<std::uint32_t>(order / kAppendBatch % shops + 1);
            for (; bodies.size() < kAppendBatch && order < end; ++order) {
                bodies.push_back(body_of(order, orders, creators_count, now));
            }
            bench.append(Topic::kOrderCreate, bodies, shop);
        }
        drain(bench);
    }
    return 0;
}
