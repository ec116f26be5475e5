#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/rules/account.hpp"
#include "core/statements/later_postings.hpp"
#include "core/statements/statements.hpp"

namespace sluice {
namespace {

struct Open {
    Decimal pending, blocked;
};
using OpenSums = std::map<BalanceKey, Open>;
using LaterByAccount = std::map<AccountNumber, LaterPostings>;

/// Adds up open amounts, program by program. An amount that is neither pending nor blocked is
/// payable.
class OpenReader {
public:
    /// @param later  Postings to be taken back, by account.
    OpenReader(LedgerReader& ledger, Timestamp now, const LaterByAccount& later)
        : ledger_(ledger), now_(now), later_(later) {}

    void add(const Program& program) {
        const auto [settings, added] = blocking_.try_emplace(program.account, 0);
        if (added) {
            settings->second = account_settings(ledger_, program.account).blocking;
            find_holds(program.account);
        }
        OpenAmount first;
        first.account = program.account;
        first.program = program.id;
        const Timestamp cleared_until = program.cleared_until(now_);
        const auto later = later_.find(program.account);
        const auto add_row = [&, blocking = settings->second](const OpenAmount& row) {
            const bool pending = !row.cleared && row.sold_at > cleared_until;
            const bool blocked = row.amount > Decimal() && is_blocked(row, blocking);
            if (!pending && row.amount.is_negative()) {
                below_zero_[key_of(row)] += row.amount;
            } else if (!pending && !blocked && row.shop.value == 0) {
                credits_.push_back(row);
            }
            if (pending || blocked) {
                Open& sums = sums_[key_of(row)];
                (blocked ? sums.blocked : sums.pending) += row.amount;
            }
        };
        ledger_.scan(first, {2, 2}, [&](const OpenAmount& row) {
            if (later == later_.end() || !later->second.changed(row)) {
                add_row(row);
            }
            return true;
        });
        if (later != later_.end()) {
            for (const OpenAmount& row : later->second.open_then(program.id)) {
                add_row(row);
            }
        }
    }

    /// Blocks what write-offs exceed the amounts below 0 by. Call it after the last add().
    void block_write_offs() {
        if (credits_.empty()) {
            return;
        }
        std::set<std::string> write_offs;
        ledger_.scan(MoneyCommand{}, {}, [&write_offs](const MoneyCommand& row) {
            if (row.topic == Topic::kWriteOff) {
                write_offs.insert(row.command_id);
            }
            return true;
        });
        for (const OpenAmount& row : credits_) {
            if (write_offs.contains(row.order_id.str())) {
                Decimal& below = below_zero_[key_of(row)];
                const Decimal used = std::min(row.amount, -below);
                below += used;
                sums_[key_of(row)].blocked += row.amount - used;
            }
        }
    }

    [[nodiscard]] Open of(const BalanceKey& key) const {
        const auto found = sums_.find(key);
        return found == sums_.end() ? Open{} : found->second;
    }

private:
    [[nodiscard]] static BalanceKey key_of(const OpenAmount& row) {
        return {row.account, row.program, row.creator, row.currency};
    }

    /// Reads holds before the scans, because no other read may happen during a scan.
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
    const LaterByAccount& later_;
    std::map<AccountNumber, std::uint32_t> blocking_;
    std::set<std::tuple<AccountNumber, CreatorId, ProgramId>> holds_;
    OpenSums sums_;
    std::map<BalanceKey, Decimal> below_zero_;  ///< Cleared amounts below 0.
    std::vector<OpenAmount> credits_;           ///< Payable credits above 0.
};

std::vector<Program> programs_of(LedgerReader& ledger,
                                 const std::optional<AccountNumber>& account) {
    std::vector<Program> programs;
    ledger.scan_programs([&](const ProgramRow& row) {
        if (!account || row.program.account == *account) {
            programs.push_back(row.program);
        }
        return true;
    });
    return programs;
}

/// Returns the balance `row` without later postings.
Balance books_then(const Balance& row, const LaterByAccount& later) {
    const auto found = later.find(row.key.account);
    const AccountSums* came_later = found == later.end() ? nullptr : found->second.books(row.key);
    Balance then = row;
    if (came_later != nullptr) {
        then -= *came_later;
    }
    return then;
}

void visit_balances(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp at,
                    const std::vector<Program>& programs, const LaterByAccount& later,
                    const Visitor<BalanceAt>& visit) {
    OpenReader open(ledger, at, later);
    for (const Program& program : programs) {
        open.add(program);
    }
    open.block_write_offs();
    ledger.scan_balances([&](const Balance& stored) {
        if (account && stored.key.account != *account) {
            return true;
        }
        const Balance row = books_then(stored, later);
        if (row.is_zero() && later.contains(row.key.account)) {
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

}  // namespace

void balances_at(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp now,
                 const Visitor<BalanceAt>& visit) {
    visit_balances(ledger, account, now, programs_of(ledger, account), {}, visit);
}

void balances_as_of(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp at,
                    const Visitor<BalanceAt>& visit) {
    const std::vector<Program> programs = programs_of(ledger, account);
    LaterByAccount later;
    for (const Program& program : programs) {
        if (!later.contains(program.account)) {
            later.try_emplace(program.account, LaterPostings(ledger, program.account, at));
        }
    }
    visit_balances(ledger, account, at, programs, later, visit);
}

}  // namespace sluice
