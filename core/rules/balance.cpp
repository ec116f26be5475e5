#include "core/rules/balance.hpp"

#include <map>

#include "core/rules/commission.hpp"

namespace sluice {
namespace {

using Pending = std::map<BalanceKey, Decimal>;

constexpr std::uint32_t kNanosPerSecond = 1'000'000'000;

Timestamp next_instant(Timestamp at) noexcept {
    return at.nanos + 1 == kNanosPerSecond ? Timestamp{at.seconds + 1, 0}
                                           : Timestamp{at.seconds, at.nanos + 1};
}

void add_pending(LedgerReader& ledger, const Program& program, Timestamp now, Pending& pending) {
    constexpr Timestamp kEnd{253'402'300'800, 0};  // Year 10000.
    const Timestamp first_held = next_instant(program.held_since(now));
    ledger.scan_open(
        program.account, program.id, false, first_held, kEnd, [&pending](const OpenAmount& row) {
            Decimal& sum = pending[{row.account, row.program, row.creator, row.currency}];
            sum = sum + row.amount;
            return true;
        });
}

}  // namespace

void balances_at(LedgerReader& ledger, Timestamp now, const Visitor<BalanceAt>& visit) {
    std::vector<Program> programs;
    ledger.scan_programs([&programs](const ProgramRow& row) {
        programs.push_back(row.program);
        return true;
    });
    Pending pending;
    for (const Program& program : programs) {
        add_pending(ledger, program, now, pending);
    }
    ledger.scan_balances([&](const Balance& row) {
        const auto held = pending.find(row.key);
        const Decimal zero = zero_amount(row.key.currency);
        const Decimal still_pending = held == pending.end() ? zero : zero + held->second;
        return visit(
            {row.key, still_pending, row.total - row.paid - still_pending, row.paid, row.total});
    });
}

}  // namespace sluice
