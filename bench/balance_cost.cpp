// Compares balances from the sums by hour with balances from every open amount, one by one, on an
// embedded ledger that bench/reading.py made.
//
//   balance_cost LEDGER INSTANT   for example: FOLDER/1000000/store/ledger 2026-11-27T00:00:00Z
#include <chrono>
#include <cstdio>
#include <map>

#include "core/statements/statements.hpp"
#include "lmdb_store/ledger/ledger.hpp"

namespace {

using namespace sluice;
using Clock = std::chrono::steady_clock;

double ms(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

std::size_t from_sums(LedgerReader& reader, Timestamp now) {
    std::size_t rows = 0;
    balances_at(reader, std::nullopt, now, [&rows](const BalanceAt&) { return ++rows != 0; });
    return rows;
}

std::size_t one_by_one(LedgerReader& reader, Timestamp now) {
    struct Sums {
        Decimal pending, payable;
    };
    std::map<ProgramId, Timestamp> until;
    reader.scan_programs([&](const ProgramRow& row) {
        until[row.program.id] = row.program.cleared_until(now);
        return true;
    });
    std::map<BalanceKey, Sums> balances;
    reader.scan(OpenAmount{}, {}, [&](const OpenAmount& row) {
        Sums& sums = balances[{row.account, row.program, row.creator, row.currency}];
        const bool is_cleared = row.cleared || row.sold_at <= until[row.program];
        (is_cleared ? sums.payable : sums.pending) += row.amount;
        return true;
    });
    return balances.size();
}

}  // namespace

int main(int argc, char** argv) {
    const auto now = argc == 3 ? Timestamp::parse(argv[2]) : std::nullopt;
    if (!now) {
        std::fputs("usage: balance_cost LEDGER INSTANT\n", stderr);
        return 2;
    }
    auto ledger = store::EmbeddedLedger::open(argv[1], store::EmbeddedLedger::Mode::kReadOnly);
    if (!ledger.ok()) {
        std::fprintf(stderr, "balance_cost: %s\n", ledger.error().message.c_str());
        return 1;
    }
    const auto reader = (*ledger)->snapshot("");
    for (int round = 0; round < 5; ++round) {
        const auto begun = Clock::now();
        const std::size_t by_sums = from_sums(*reader, *now);
        const auto middle = Clock::now();
        const std::size_t by_amounts = one_by_one(*reader, *now);
        const auto ended = Clock::now();
        std::printf("%zu balances from sums in %.1f ms, %zu from open amounts in %.1f ms\n",
                    by_sums, ms(middle - begun), by_amounts, ms(ended - middle));
    }
    return 0;
}
