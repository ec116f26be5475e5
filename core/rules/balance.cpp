#include "core/rules/balance.hpp"

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/rules/covering.hpp"

namespace sluice {
namespace {

struct Open {
    Decimal pending, blocked;
};
using OpenSums = std::map<BalanceKey, Open>;

/// Adds up what is open, program by program; what is neither pending nor blocked is payable.
class OpenReader {
public:
    OpenReader(LedgerReader& ledger, Timestamp now) : ledger_(ledger), now_(now) {}

    void add(const Program& program) {
        const auto [settings, added] = blocking_.try_emplace(program.account, 0);
        if (added) {
            settings->second = account_settings(ledger_, program.account).blocking;
            find_holds(program.account);
        }
        OpenAmount first;
        first.account = program.account;
        first.program = program.id;
        const Timestamp held_since = program.held_since(now_);
        ledger_.scan(first, {2, 2}, [&, blocking = settings->second](const OpenAmount& row) {
            const bool pending = !row.matured && row.sold_at > held_since;
            const bool blocked = row.amount > Decimal() && is_blocked(row, blocking);
            if (pending || blocked) {
                Open& sums = sums_[{row.account, row.program, row.creator, row.currency}];
                Decimal& sum = blocked ? sums.blocked : sums.pending;
                sum = sum + row.amount;
            }
            return true;
        });
    }

    [[nodiscard]] Open of(const BalanceKey& key) const {
        const auto found = sums_.find(key);
        return found == sums_.end() ? Open{} : found->second;
    }

private:
    /// Read before the scans: no other read is made while one is open.
    void find_holds(AccountNumber account) {
        CreatorHold first;
        first.account = account;
        ledger_.scan(first, {1, 1}, [this](const CreatorHold& row) {
            holds_.insert({row.account, row.creator, row.program});
            return true;
        });
    }

    [[nodiscard]] bool is_blocked(const OpenAmount& row, std::uint32_t blocking) const {
        return (row.blocks & (kBlockedByHold | blocking)) != 0 ||
               holds_.contains({row.account, row.creator, ProgramId()}) ||
               holds_.contains({row.account, row.creator, row.program});
    }

    LedgerReader& ledger_;
    Timestamp now_;
    std::map<AccountNumber, std::uint32_t> blocking_;
    std::set<std::tuple<AccountNumber, CreatorId, ProgramId>> holds_;
    OpenSums sums_;
};

}  // namespace

void balances_at(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp now,
                 const Visitor<BalanceAt>& visit) {
    std::vector<Program> programs;
    ledger.scan_programs([&](const ProgramRow& row) {
        if (!account || row.program.account == *account) {
            programs.push_back(row.program);
        }
        return true;
    });
    OpenReader open(ledger, now);
    for (const Program& program : programs) {
        open.add(program);
    }
    ledger.scan_balances([&](const Balance& row) {
        if (account && row.key.account != *account) {
            return true;
        }
        const Decimal zero = zero_amount(row.key.currency);
        const Open sums = open.of(row.key);
        const Decimal pending = zero + sums.pending;
        const Decimal blocked = zero + sums.blocked;
        return visit({row.key, row.owed, pending, blocked, row.owed - pending - blocked,
                      row.in_payout, row.paid, row.owed + row.in_payout + row.paid});
    });
}

}  // namespace sluice
