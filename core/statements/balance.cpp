#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/failure.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/statements/later_postings.hpp"
#include "core/statements/statements.hpp"
#include "core/values/hour_sums.hpp"

namespace sluice {
namespace {

struct Open {
    Decimal pending, blocked;
    Decimal below;       ///< Cleared amounts below 0.
    Decimal write_offs;  ///< Payable ones.
};
using OpenSums = std::map<BalanceKey, Open>;
using LaterByAccount = std::map<AccountNumber, LaterPostings>;

/// Sorted first ids of creators, or nullptr for all.
using Creators = const std::vector<CreatorId>*;

/// Visits rows of a program in the order of their keys, from `first` on, until `visit` returns
/// false.
void visit_rows(LedgerReader& ledger, OpenHours first, Creators creators,
                const std::function<bool(const OpenHours&)>& visit) {
    constexpr unsigned kPassedMax = 16;  // then a new search costs less
    for (bool goes_on = true; goes_on;) {
        unsigned passed = 0;
        goes_on = false;
        ledger.scan(OpenHours(first), {2, 5}, [&](const OpenHours& row) {
            if (creators == nullptr) {
                return visit(row);
            }
            const auto at = std::lower_bound(creators->begin(), creators->end(), row.creator);
            if (at != creators->end() && *at == row.creator) {
                passed = 0;
                return visit(row);
            }
            if (at != creators->end() && ++passed < kPassedMax) {
                return true;
            }
            goes_on = true;
            first.kind = row.kind;
            first.span = at == creators->end() ? row.span + 1 : row.span;
            first.creator = at == creators->end() ? creators->front() : *at;
            return false;
        });
    }
}

/// The hour in which the clearing days of a program end.
struct ClearedUntil {
    explicit ClearedUntil(const Program& program, Timestamp now)
        : at(program.cleared_until(now)),
          span(at < kFirstInstant ? 0 : span_of(at)),
          hour(at < kFirstInstant ? 0 : hour_in_span(at)) {}

    /// Returns nothing for the hour itself, of which some amounts have cleared.
    [[nodiscard]] std::optional<bool> includes(const OpenHours& row, unsigned hour_of_row) const {
        if ((row.kind & kOpenCleared) != 0) {
            return true;
        }
        if (row.span == span && hour_of_row == hour) {
            return std::nullopt;
        }
        return std::pair(row.span, hour_of_row) < std::pair(span, hour);
    }

    Timestamp at;
    std::uint32_t span;
    unsigned hour;
};

/// Adds up open amounts, program by program. An amount that is neither pending nor blocked is
/// payable.
class OpenReader {
public:
    /// @param later  Postings to be taken back, by account.
    OpenReader(LedgerReader& ledger, Timestamp now, const LaterByAccount& later,
               const OpenVisitor& visit)
        : ledger_(ledger), now_(now), later_(later), visit_(visit) {}

    void add(const Program& program, Creators creators) {
        const auto [settings, added] = blocking_.try_emplace(program.account, 0);
        if (added) {
            settings->second = kBlockedByHold | account_settings(ledger_, program.account).blocking;
            find_holds(program.account);
        }
        const auto later = later_.find(program.account);
        if (later == later_.end() || later->second.changed_none()) {
            add_now(program, creators, settings->second);
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
    /// Adds the sums by hour, and each amount of the hour in which the clearing days end. Nearly
    /// all sums have kind 0: those that have cleared are payable, so they are read only for
    /// creators who are held.
    void add_now(const Program& program, Creators creators, std::uint32_t blocking) {
        const ClearedUntil until(program, now_);
        bool is_divided = false;
        OpenHours first;
        first.account = program.account;
        first.program = program.id;
        const std::vector<CreatorId> held = held_in(program, creators);
        if (!held.empty()) {
            first.creator = held.front();
            visit_rows(ledger_, first, &held, [&](const OpenHours& row) {
                if (row.kind != 0 || row.span >= until.span) {
                    return false;
                }
                add_hours_of(row, until, blocking, is_divided);
                return true;
            });
        }
        first.span = until.span;
        first.creator = creators == nullptr ? CreatorId() : creators->front();
        visit_rows(ledger_, first, creators, [&](const OpenHours& row) {
            add_hours_of(row, until, blocking, is_divided);
            return true;
        });
        if (is_divided) {
            add_divided(program, creators, until, blocking);
        }
    }

    /// Adds what the row has, day by day.
    /// @param is_divided  Set if it has the hour in which the clearing days end.
    void add_hours_of(const OpenHours& row, const ClearedUntil& until, std::uint32_t blocking,
                      bool& is_divided) {
        const bool is_below = (row.kind & kOpenBelow) != 0;
        OpenSum sum;
        sum.key = {row.account, row.program, row.creator, row.currency};
        sum.blocks = row.kind & ~(kOpenBelow | kOpenCleared);
        const bool blocked = is_blocked(sum, blocking);
        const bool is_plain = row.kind == 0 && !blocked;
        Int128 units = 0;
        unsigned day = 0;
        const auto finish = [&] {
            const Decimal zero = zero_amount(row.currency), amount(units, zero.scale());
            sum.above = is_below ? zero : amount;
            sum.below = is_below ? amount : zero;
            if (sum.amounts != 0 || units != 0) {
                add(sum, blocked);
            }
            units = 0;
            sum.amounts = 0;
        };
        HourReader hours(row.hours);
        for (HourSum one; hours.next(one);) {
            const auto cleared = until.includes(row, one.hour);
            if (!cleared) {
                is_divided = true;
            }
            if (!cleared || (*cleared && is_plain)) {
                continue;
            }
            if (one.hour / kDayHours != day || *cleared != sum.cleared) {
                finish();
                day = one.hour / kDayHours;
                sum.cleared = *cleared;
            }
            sum.sold_at = start_of_hour(row.span, one.hour);
            units += one.units;
            sum.amounts += is_below ? 0 : one.amounts;
        }
        finish();
        if (!hours.is_complete()) {
            throw DamagedRow(row_name(row), "hours: not as sluice writes them", std::nullopt);
        }
    }

    /// Adds each amount of the hour in which the clearing days end.
    void add_divided(const Program& program, Creators creators, const ClearedUntil& until,
                     std::uint32_t blocking) {
        OpenAmount from;
        from.account = program.account;
        from.program = program.id;
        from.sold_at = start_of_hour(until.span, until.hour);
        const Timestamp end = from.sold_at.plus_seconds(kSecondsPerHour);
        ledger_.scan(from, {3, 4}, [&](const OpenAmount& row) {
            if (row.sold_at >= end) {
                return false;
            }
            if (creators == nullptr ||
                std::binary_search(creators->begin(), creators->end(), row.creator)) {
                add_amount(row, row.sold_at <= until.at, blocking);
            }
            return true;
        });
    }

    void add_amount(const OpenAmount& row, bool cleared, std::uint32_t blocking) {
        const Decimal zero = zero_amount(row.currency);
        const bool is_above = zero < row.amount;
        const OpenSum sum{{row.account, row.program, row.creator, row.currency},
                          row.blocks,
                          cleared,
                          row.sold_at,
                          is_above ? row.amount : zero,
                          is_above ? zero : row.amount,
                          is_above ? 1 : 0};
        add(sum, is_blocked(sum, blocking));
    }

    /// Adds the amounts that were open then, of which the sums are not kept.
    void add_then(const Program& program, const LaterPostings& later, std::uint32_t blocking) {
        const Timestamp cleared_until = program.cleared_until(now_);
        const auto add_row = [&](const OpenAmount& row) {
            add_amount(row, row.cleared || row.sold_at <= cleared_until, blocking);
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

    void add(const OpenSum& sum, bool blocked) {
        Open& open = open_of(sum.key);
        if (blocked) {
            open.blocked += sum.above;
        } else if (!sum.cleared) {
            open.pending += sum.above;
        } else if ((sum.blocks & kOfWriteOff) != 0) {
            open.write_offs += sum.above;
        }
        (sum.cleared ? open.below : open.pending) += sum.below;
        if (visit_ && (blocked || !sum.cleared)) {
            visit_(sum, blocked);
        }
    }

    /// A creator's rows follow one another, and then mostly the next creator's.
    [[nodiscard]] Open& open_of(const BalanceKey& key) {
        for (int tries = 0; tries < 2 && last_ != sums_.end(); ++tries) {
            if (last_->first == key) {
                return last_->second;
            }
            ++last_;
        }
        last_ = sums_.try_emplace(key).first;
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

    [[nodiscard]] bool is_blocked(const OpenSum& sum, std::uint32_t blocking) const {
        const BalanceKey& key = sum.key;
        return (sum.blocks & blocking) != 0 ||
               (!holds_.empty() && (holds_.contains({key.account, key.creator, ProgramId()}) ||
                                    holds_.contains({key.account, key.creator, key.program})));
    }

    /// Returns those of the creators who are held in the program.
    [[nodiscard]] std::vector<CreatorId> held_in(const Program& program, Creators creators) const {
        std::vector<CreatorId> held;
        for (const auto& [account, creator, of] : holds_) {
            if (account == program.account && (of.empty() || of == program.id) &&
                (creators == nullptr ||
                 std::binary_search(creators->begin(), creators->end(), creator)) &&
                (held.empty() || held.back() != creator)) {
                held.push_back(creator);
            }
        }
        return held;
    }

    LedgerReader& ledger_;
    Timestamp now_;
    const LaterByAccount& later_;
    const OpenVisitor& visit_;
    std::map<AccountNumber, std::uint32_t> blocking_;
    std::set<std::tuple<AccountNumber, CreatorId, ProgramId>> holds_;
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

BalanceAt balance_of(const Balance& row, const Open& open) {
    const Decimal zero = zero_amount(row.key.currency);
    const Decimal pending = zero + open.pending;
    const Decimal blocked = zero + open.blocked;
    return {row.key,
            row.owed,
            pending,
            blocked,
            row.owed - pending - blocked,
            row.in_payout,
            row.paid,
            row.owed + row.in_payout + row.paid};
}

void visit_balances(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp at,
                    const std::vector<Program>& programs, const LaterByAccount& later,
                    const Visitor<BalanceAt>& visit, const OpenVisitor& visit_sum) {
    OpenReader open(ledger, at, later, visit_sum);
    for (const Program& program : programs) {
        open.add(program, nullptr);
    }
    open.block_write_offs();
    BalanceKey first;
    first.account = account.value_or(AccountNumber());
    ledger.scan_balances_from(first, [&](const Balance& stored) {
        if (account && stored.key.account != *account) {
            return false;
        }
        const Balance row = books_then(stored, later);
        return (row.is_zero() && later.contains(row.key.account)) ||
               visit(balance_of(row, open.of(row.key)));
    });
}

}  // namespace

void balances_at(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp now,
                 const Visitor<BalanceAt>& visit, const OpenVisitor& visit_open) {
    visit_balances(ledger, account, now, programs_of(ledger, account), {}, visit, visit_open);
}

std::vector<BalanceAt> balances_at(LedgerReader& ledger, AccountNumber account, Timestamp now,
                                   std::span<const Balance> stored) {
    std::map<ProgramId, std::vector<CreatorId>> creators;
    for (const Balance& row : stored) {
        std::vector<CreatorId>& of = creators[row.key.program];
        if (of.empty() || of.back() != row.key.creator) {
            of.push_back(row.key.creator);
        }
    }
    const LaterByAccount none;
    const OpenVisitor visit;
    OpenReader open(ledger, now, none, visit);
    for (const Program& program : programs_of(ledger, account)) {
        const auto of = creators.find(program.id);
        if (of != creators.end()) {
            open.add(program, &of->second);
        }
    }
    open.block_write_offs();
    std::vector<BalanceAt> balances;
    for (const Balance& row : stored) {
        balances.push_back(balance_of(row, open.of(row.key)));
    }
    return balances;
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
