// Measures the statement of one creator in a large ledger. Orders of five lines are spread evenly
// over the creators, all in one month; then one creator's month is read. Its cost must not depend
// on the earnings of the others.
//
//   statement_cost FOLDER [CREATORS] [ENTRIES]   10,000 and 10,000,000; a store is made in
//                                                FOLDER/apply_rate and removed
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/apply_store.hpp"
#include "core/statements/statements.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;

constexpr std::uint64_t kEntriesOfOrder = 6;  ///< A memo entry for the attribution, and five lines.
constexpr std::uint64_t kAtOnce = 200'000;    ///< Orders in the queue.
constexpr int kReads = 5;

double cpu_ms() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
}

void creators(Bench& bench, std::uint64_t count) {
    bench.append(Topic::kProgramApply, {encode_request({{}, {}, ProgramApply{{plain_program()}}})});
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

std::string body_of(std::uint64_t order, std::uint64_t creator) {
    std::string body = order_body(order, 0);
    const std::size_t at = body.find("SPRING");
    return body.replace(at, body.find('"', at) - at, "CODE" + std::to_string(creator));
}

void drain(Bench& bench) {
    auto opened = worker::Drain::open(bench.paths, *bench.queue,
                                      worker::embedded_ledger(bench.paths), {}, {});
    check(opened.ok(), opened ? "" : opened.error().message);
    const Status drained = (*opened)->run_up_to(bench.queue->fill()->last_seq, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
}

void read(Bench& bench, std::uint64_t creators_count) {
    auto ledger =
        store::EmbeddedLedger::open(bench.paths.ledger, store::EmbeddedLedger::Mode::kReadOnly);
    check(ledger.ok(), ledger ? "" : ledger.error().message);
    constexpr std::int64_t kMonth = 31 * 86'400;
    for (int i = 0; i < kReads; ++i) {
        const CreatorId creator("creator-" + std::to_string(bench.random() % creators_count));
        const double before = cpu_ms();
        const auto snapshot = (*ledger)->snapshot(bench.queue->uuid());
        std::uint64_t rows = 0;
        const Statement statement =
            read_statement(*snapshot, {1}, creator, kReceived, kReceived.plus_seconds(kMonth),
                           [&rows](const std::pair<const JournalGroup*, std::size_t>&) {
                               ++rows;
                               return true;
                           });
        const double after = cpu_ms();
        check(statement.sums.size() == 1, "the creator earned nothing");
        std::printf("%12llu entries of %llu creators: %6llu rows of one creator in %6.2f ms CPU\n",
                    static_cast<unsigned long long>(snapshot->head().totals.journal_entries),
                    static_cast<unsigned long long>(creators_count),
                    static_cast<unsigned long long>(rows), after - before);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: statement_cost FOLDER [CREATORS] [ENTRIES]\n");
        return 2;
    }
    const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
    const std::uint64_t entries = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 10'000'000;
    Bench bench(argv[1]);
    creators(bench, count);
    for (std::uint64_t order = 0; order < entries / kEntriesOfOrder;) {
        const std::uint64_t end = std::min(order + kAtOnce, entries / kEntriesOfOrder);
        while (order < end) {
            std::vector<std::string> bodies;
            for (; bodies.size() < kAppendBatch && order < end; ++order) {
                bodies.push_back(body_of(order, order % count));
            }
            bench.append(Topic::kOrderCreate, bodies);
        }
        drain(bench);
    }
    read(bench, count);
    return 0;
}
