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

/// Sums by creator and currency. Memory: one sum each, and the id of each command that waited.
class LimitAudit {
public:
    LimitAudit(LedgerReader& ledger, Findings& findings) : ledger_(ledger), findings_(findings) {}

    void run() {
        read_approved();
        add_payouts();
        add_money();
        ledger_.scan(LimitUse{}, {}, [this](const LimitUse& use) {
            if (use.kind != LimitKind::kAttribution) {
                sum_of({use.account, use.kind, use.creator, use.currency}).stored += use.amount;
            }
        });
        for (const auto& [key, sum] : sums_) {
            const auto& [account, kind, creator, currency] = key;
            const bool payouts = kind == LimitKind::kPayout;
            findings_.compare('i', "limit_uses of " + payee_text(account, creator, currency),
                              payouts ? "the sum of its payouts" : "the sum of its adjustments",
                              sum.stored,
                              payouts ? "the payouts that needed no approval"
                                      : "the commands that needed no approval",
                              sum.right);
        }
    }

private:
    LimitSum& sum_of(const LimitKey& key) {
        const Decimal zero = zero_amount(std::get<Currency>(key));
        return sums_.try_emplace(key, LimitSum{zero, zero}).first->second;
    }

    void read_approved() {
        ledger_.scan(PendingApproval{}, {}, [this](const PendingApproval& row) {
            approved_.emplace(row.account, row.command_id);
        });
    }

    void add_payouts() {
        ledger_.scan_payouts([this](const Payout& payout) {
            if (payout.state != PayoutState::kClosed && payout.state != PayoutState::kVoid &&
                payout.approved_by.empty()) {
                sum_of({payout.account, LimitKind::kPayout, payout.creator, payout.currency})
                    .right += payout.amount;
            }
        });
    }

    void add_money() {
        ledger_.scan(MoneyCommand{}, {}, [this](const MoneyCommand& row) {
            if (!approved_.contains({row.account, command_of(row.command_id)})) {
                sum_of({row.account, LimitKind::kAdjust, row.creator, row.currency}).right +=
                    row.amount.is_negative() ? -row.amount : row.amount;
            }
        });
    }

    LedgerReader& ledger_;
    Findings& findings_;
    std::set<std::pair<AccountNumber, std::string>> approved_;  ///< Commands that waited.
    std::map<LimitKey, LimitSum> sums_;
};

}  // namespace

void audit_limits(LedgerReader& ledger, Findings& findings) {
    LimitAudit(ledger, findings).run();
}

}  // namespace sluice
