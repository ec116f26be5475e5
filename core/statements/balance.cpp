#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/statements/later_postings.hpp"
#include "core/statements/statements.hpp"

namespace sluice {
namespace {

struct Open {
    Decimal pending, blocked;
    Decimal below;       ///< Cleared amounts below 0.
    Decimal write_offs;  ///< Payable ones.
};
using OpenSums = std::map<BalanceKey, Open>;
using LaterByAccount = std::map<AccountNumber, LaterPostings>;

/// Visits the open amounts of a program, added up by day. OpenDaily::cleared says whether they have
/// cleared at `at`, for whatever reason. The days before and behind the one in which the clearing
/// days end are read from sums; of that day each amount is read.
/// @param all  Visit what cleared by its clearing days.
void visit_open(LedgerReader& ledger, const Program& program, Timestamp at, bool all,
                const std::function<void(const OpenDaily&)>& visit) {
    const Timestamp cleared_until = program.cleared_until(at);
    const std::uint32_t last_day = day_of(cleared_until);
    bool is_divided = false;
    OpenDaily first;
    first.account = program.account;
    first.program = program.id;
    first.day = all ? 0 : last_day;
    ledger.scan(first, {3, 4}, [&](const OpenDaily& row) {
        if (row.day > last_day) {
            visit(row);
        } else if (row.day < last_day) {
            OpenDaily cleared = row;
            cleared.cleared = true;
            visit(cleared);
        } else {
            is_divided = true;
        }
        return true;
    });
    first.cleared = true;
    ledger.scan(first, {3, 3}, [&visit](const OpenDaily& row) {
        visit(row);
        return true;
    });
    if (!is_divided) {
        return;
    }
    OpenAmount from;
    from.account = program.account;
    from.program = program.id;
    from.sold_at = all ? start_of_day(cleared_until) : cleared_until;
    const Timestamp end = start_of_day(cleared_until).plus_days(1);
    ledger.scan(from, {3, 4}, [&](const OpenAmount& row) {
        if (row.sold_at >= end) {
            return false;
        }
        OpenDaily sum = open_sum(row);
        sum.cleared = row.sold_at <= cleared_until;
        visit(sum);
        return true;
    });
}

/// Returns whether an amount that has cleared may be blocked.
bool may_block(LedgerReader& ledger, AccountNumber account, std::uint32_t blocking) {
    bool found = false;
    AttentionCount counts;
    counts.account = account;
    std::map<AttentionKind, std::uint64_t> of_kind;
    ledger.scan(counts, {1, 1}, [&](const AttentionCount& part) {
        of_kind[part.kind] += part.begun - part.ended;
        return true;
    });
    for (const auto& [kind, count] : of_kind) {
        found = found || (count != 0 && (blocking >> static_cast<unsigned>(kind) & 1U) != 0);
    }
    if (!found) {
        ledger.scan(MoneyCommand{}, {}, [&](const MoneyCommand& row) {
            found = row.topic == Topic::kWriteOff && row.account == account &&
                    row.accrued != row.allocated;
            return !found;
        });
    }
    return found;
}

/// Adds up open amounts, program by program. An amount that is neither pending nor blocked is
/// payable.
class OpenReader {
public:
    /// @param later  Postings to be taken back, by account.
    OpenReader(LedgerReader& ledger, Timestamp now, const LaterByAccount& later,
               const OpenVisitor& visit)
        : ledger_(ledger), now_(now), later_(later), visit_(visit) {}

    void add(const Program& program) {
        const auto [settings, added] = blocking_.try_emplace(program.account, 0);
        if (added) {
            settings->second = kBlockedByHold | account_settings(ledger_, program.account).blocking;
            find_holds(program.account);
            if (!holds_.empty() || may_block(ledger_, program.account, settings->second)) {
                read_whole_.insert(program.account);
            }
        }
        const auto later = later_.find(program.account);
        if (later == later_.end() || later->second.changed_none()) {
            visit_open(
                ledger_, program, now_, read_whole_.contains(program.account),
                [&, blocking = settings->second](const OpenDaily& sum) { add(sum, blocking); });
        } else {
            add_then(program, later->second, settings->second);
        }
    }

    /// Blocks what write-offs exceed the amounts below 0 by. Call it after the last add().
    void block_write_offs() {
        for (auto& [key, open] : sums_) {
            open.blocked += open.write_offs - std::min(open.write_offs, -open.below);
        }
    }

    [[nodiscard]] Open of(const BalanceKey& key) const {
        const auto found = sums_.find(key);
        return found == sums_.end() ? Open{} : found->second;
    }

private:
    /// Adds the amounts that were open then, of which the sums are not kept.
    void add_then(const Program& program, const LaterPostings& later, std::uint32_t blocking) {
        const Timestamp cleared_until = program.cleared_until(now_);
        const auto add_row = [&](const OpenAmount& row) {
            OpenDaily sum = open_sum(row);
            sum.cleared = row.cleared || row.sold_at <= cleared_until;
            add(sum, blocking);
        };
        OpenAmount first;
        first.account = program.account;
        first.program = program.id;
        ledger_.scan(first, {2, 2}, [&](const OpenAmount& row) {
            if (!later.changed(row)) {
                add_row(row);
            }
            return true;
        });
        for (const OpenAmount& row : later.open_then(program.id)) {
            add_row(row);
        }
    }

    /// @param sum  OpenDaily::cleared is as visit_open() says.
    void add(const OpenDaily& sum, std::uint32_t blocking) {
        const bool blocked = is_blocked(sum, blocking);
        Open& open = open_of(sum);
        if (blocked) {
            open.blocked += sum.above;
        } else if (!sum.cleared) {
            open.pending += sum.above;
        } else if ((sum.blocks & kOfWriteOff) != 0) {
            open.write_offs += sum.above;
        }
        (sum.cleared ? open.below : open.pending) += sum.below;
        if (visit_) {
            visit_(sum, blocked);
        }
    }

    /// The sums of a day come in the order of the keys, so the next one is mostly the next here.
    [[nodiscard]] Open& open_of(const OpenDaily& sum) {
        const auto is_next = [&sum](const OpenSums::iterator& at) {
            const BalanceKey& key = at->first;
            return key.creator == sum.creator && key.currency == sum.currency &&
                   key.program == sum.program && key.account == sum.account;
        };
        for (int tries = 0; tries < 2 && last_ != sums_.end(); ++tries) {
            if (is_next(last_)) {
                return last_->second;
            }
            ++last_;
        }
        last_ = sums_.try_emplace({sum.account, sum.program, sum.creator, sum.currency}).first;
        return last_->second;
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

    [[nodiscard]] bool is_blocked(const OpenDaily& sum, std::uint32_t blocking) const {
        return (sum.blocks & blocking) != 0 ||
               (!holds_.empty() && (holds_.contains({sum.account, sum.creator, ProgramId()}) ||
                                    holds_.contains({sum.account, sum.creator, sum.program})));
    }

    LedgerReader& ledger_;
    Timestamp now_;
    const LaterByAccount& later_;
    const OpenVisitor& visit_;
    std::map<AccountNumber, std::uint32_t> blocking_;
    std::set<std::tuple<AccountNumber, CreatorId, ProgramId>> holds_;
    std::set<AccountNumber> read_whole_;  ///< Something that has cleared may be blocked in them.
    OpenSums sums_;
    OpenSums::iterator last_ = sums_.end();
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
                    const Visitor<BalanceAt>& visit, const OpenVisitor& visit_sum) {
    OpenReader open(ledger, at, later, visit_sum);
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
                 const Visitor<BalanceAt>& visit, const OpenVisitor& visit_open) {
    visit_balances(ledger, account, now, programs_of(ledger, account), {}, visit, visit_open);
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
    visit_balances(ledger, account, at, programs, later, visit, {});
}

}  // namespace sluice
