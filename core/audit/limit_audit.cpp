#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/audit/parts.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/ledger/payout_rows.hpp"

namespace sluice {
namespace {

using LimitKey = std::tuple<AccountNumber, LimitKind, CreatorId, Currency>;

struct LimitSum {
    Decimal stored, right;
};

}  // namespace

/// Memory: one sum for each creator and currency, and the id of each command that waited.
void audit_limits(LedgerReader& ledger, Findings& findings) {
    std::set<std::pair<AccountNumber, std::string>> waited;
    ledger.scan(PendingApproval{}, {}, [&waited](const PendingApproval& row) {
        waited.emplace(row.account, row.command_id);
    });
    std::map<LimitKey, LimitSum> sums;
    const auto sum_of = [&sums](const LimitKey& key) -> LimitSum& {
        const Decimal zero = zero_amount(std::get<Currency>(key));
        return sums.try_emplace(key, LimitSum{zero, zero}).first->second;
    };
    ledger.scan_payouts([&](const Payout& payout) {
        if (payout.state != PayoutState::kClosed && payout.state != PayoutState::kVoid &&
            payout.approved_by.empty()) {
            sum_of({payout.account, LimitKind::kPayout, payout.creator, payout.currency}).right +=
                payout.amount;
        }
    });
    ledger.scan(MoneyCommand{}, {}, [&](const MoneyCommand& row) {
        if (!waited.contains({row.account, command_of(row.command_id)})) {
            sum_of({row.account, LimitKind::kAdjust, row.creator, row.currency}).right +=
                row.amount.absolute();
        }
    });
    ledger.scan(LimitUse{}, {}, [&](const LimitUse& use) {
        if (use.kind != LimitKind::kAttribution) {
            sum_of({use.account, use.kind, use.creator, use.currency}).stored += use.amount;
        }
    });
    for (const auto& [key, sum] : sums) {
        const auto& [account, kind, creator, currency] = key;
        const bool payouts = kind == LimitKind::kPayout;
        findings.compare('i', "limit_uses of " + payee_text(account, creator, currency),
                         payouts ? "the sum of its payouts" : "the sum of its adjustments",
                         sum.stored,
                         payouts ? "the payouts that needed no approval"
                                 : "the commands that needed no approval",
                         sum.right);
    }
}

}  // namespace sluice
