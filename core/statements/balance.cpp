#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/failure.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/rules/account.hpp"
#include "core/statements/later_postings.hpp"
#include "core/statements/statements.hpp"
#include "core/values/hour_sums.hpp"
#include "core/values/lookup.hpp"

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
                const Visitor<OpenHours>& visit) {
    constexpr unsigned kPassedMax = 16;  // then a new search costs less
    for (bool search_again = true; search_again;) {
        unsigned passed = 0;
        search_again = false;
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
            search_again = true;
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

    /// Returns the end of the row's hours that have cleared, and the begin of those that have not.
    /// An hour between them has some amounts that have cleared, and others.
    [[nodiscard]] std::pair<unsigned, unsigned> divide(const OpenHours& row) const {
        if ((row.kind & kOpenCleared) != 0 || row.span < span) {
            return {kSpanHours, kSpanHours};
        }
        return row.span == span ? std::pair(hour, hour + 1) : std::pair(0U, 0U);
    }

    Timestamp at;
    std::uint32_t span;
    unsigned hour;
};

/// Sums by day of a span, in minor units.
using SpanDays = std::array<Int128, kSpanHours / kDayHours>;
using DaysOfSpans = std::map<std::pair<Currency, std::uint32_t>, SpanDays>;

/// Open amounts of one creator.
struct OpenSum {
    BalanceKey key;
    std::uint32_t blocks = 0;  ///< As in OpenAmount.
    bool cleared = false;      ///< For whatever reason.
    Decimal above{}, below{};  ///< Sums of the amounts above and below 0.
};

/// Adds up open amounts, program by program. An amount that is neither pending nor blocked is
/// payable.
class OpenReader {
public:
    /// @param later   Postings to be taken back, by account.
    /// @param totals  Null if not wanted.
    OpenReader(LedgerReader& ledger, Timestamp now, const LaterByAccount& later, OpenTotals* totals)
        : ledger_(ledger), now_(now), later_(later), totals_(totals) {}

    void add(const Program& program, Creators creators) {
        pending_days_.clear();
        last_days_ = pending_days_.end();
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
        if (totals_ != nullptr) {
            add_days(program.id);
        }
    }

    /// Blocks what write-offs exceed the amounts below 0 by. Call it after the last add().
    void block_write_offs() {
        for (auto& [key, open] : sums_) {
            open.blocked += open.write_offs - std::min(open.write_offs, -open.below);
        }
    }

    [[nodiscard]] Open of(const BalanceKey& key) const { return value_or(sums_, key); }

private:
    /// Adds the sums by hour, and each amount of the hour in which the clearing days end. Nearly
    /// all sums have kind 0: those that have cleared are payable, so they are read only for
    /// creators who are held.
    void add_now(const Program& program, Creators creators, std::uint32_t blocking) {
        const ClearedUntil until(program, now_);
        bool is_divided = false;
        OpenHours first{.account = program.account, .program = program.id};
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
        visit_rows(ledger_, first, creators,
                   [&](const OpenHours& row) { add_hours_of(row, until, blocking, is_divided); });
        if (is_divided) {
            add_divided(program, creators, until, blocking);
        }
    }

    /// @param is_divided  Set if the row has the hour in which the clearing days end.
    void add_hours_of(const OpenHours& row, const ClearedUntil& until, std::uint32_t blocking,
                      bool& is_divided) {
        OpenSum sum{{row.account, row.program, row.creator, row.currency},
                    row.kind & ~(kOpenBelow | kOpenCleared)};
        const bool by_order = (sum.blocks & blocking) != 0;
        const bool blocked = by_order || is_held(sum);
        const bool is_below = (row.kind & kOpenBelow) != 0;
        const auto [cleared_end, pending_begin] = until.divide(row);
        // An account has very many hours, so each costs sums of integers.
        SpanDays& days = days_of(row.currency, row.span, !blocked || is_below);
        Int128 cleared = 0, pending = 0;
        std::int64_t amounts = 0;
        HourReader hours(row.hours);
        for (HourSum one; hours.next(one);) {
            if (one.hour < cleared_end) {
                cleared += one.units;
            } else if (one.hour >= pending_begin) {
                pending += one.units;
                days[one.hour / kDayHours] += one.units;
            } else {
                is_divided = true;
                continue;
            }
            amounts += one.amounts;
        }
        if (!hours.is_complete()) {
            throw DamagedRow(row_name(row), "hours: not as sluice writes them", std::nullopt);
        }
        for (const bool is_cleared : {true, false}) {
            const Int128 units = is_cleared ? cleared : pending;
            if (units == 0) {
                continue;
            }
            const Decimal zero = zero_amount(row.currency), amount(units, zero.scale());
            sum.cleared = is_cleared;
            sum.above = is_below ? zero : amount;
            sum.below = is_below ? amount : zero;
            add(sum, blocked);
        }
        if (by_order && !is_below) {
            add_blocked(row.currency, cleared + pending, amounts);
        }
    }

    /// Adds each amount of the hour in which the clearing days end.
    void add_divided(const Program& program, Creators creators, const ClearedUntil& until,
                     std::uint32_t blocking) {
        const OpenAmount from{.account = program.account,
                              .program = program.id,
                              .sold_at = start_of_hour(until.span, until.hour)};
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
        const Decimal zero = zero_amount(row.currency), amount = zero + row.amount;
        const bool is_above = zero < amount;
        const OpenSum sum{{row.account, row.program, row.creator, row.currency},
                          row.blocks,
                          cleared,
                          is_above ? amount : zero,
                          is_above ? zero : amount};
        const bool by_order = (sum.blocks & blocking) != 0;
        const bool blocked = by_order || is_held(sum);
        add(sum, blocked);
        if (by_order && is_above) {
            add_blocked(row.currency, amount.unscaled(), 1);
        }
        if (!cleared && totals_ != nullptr) {
            days_of(row.currency, span_of(row.sold_at),
                    !blocked || !is_above)[hour_in_span(row.sold_at) / kDayHours] +=
                amount.unscaled();
        }
    }

    /// Adds the amounts that were open then, of which the sums are not kept.
    void add_then(const Program& program, const LaterPostings& later, std::uint32_t blocking) {
        const Timestamp cleared_until = program.cleared_until(now_);
        const auto add_row = [&](const OpenAmount& row) {
            add_amount(row, row.cleared || row.sold_at <= cleared_until, blocking);
        };
        const OpenAmount first{.account = program.account, .program = program.id};
        ledger_.scan(first, {2, 2}, [&](const OpenAmount& row) {
            if (!later.changed(row)) {
                add_row(row);
            }
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
    }

    /// Returns where the pending units of a span are added up: aside if the totals lack them.
    [[nodiscard]] SpanDays& days_of(Currency currency, std::uint32_t span, bool is_in_totals) {
        if (totals_ == nullptr || !is_in_totals) {
            return aside_;
        }
        // Rows of a span follow one another.
        if (last_days_ == pending_days_.end() || last_days_->first != std::pair(currency, span)) {
            last_days_ = pending_days_.try_emplace({currency, span}).first;
        }
        return last_days_->second;
    }

    void add_blocked(Currency currency, Int128 units, std::int64_t amounts) {
        if (totals_ == nullptr) {
            return;
        }
        const Decimal zero = zero_amount(currency);
        OpenTotals::Blocked& total =
            value_at(totals_->blocked, currency, OpenTotals::Blocked{zero, 0});
        total.amount += Decimal(units, zero.scale());
        total.amounts += amounts;
    }

    /// Adds the days of a program to the totals.
    void add_days(const ProgramId& program) {
        for (const auto& [key, days] : pending_days_) {
            const auto& [currency, span] = key;
            for (unsigned day = 0; day < days.size(); ++day) {
                if (days[day] != 0) {
                    totals_->pending.push_back({program, currency,
                                                start_of_hour(span, day * kDayHours),
                                                Decimal(days[day], zero_amount(currency).scale())});
                }
            }
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
        ledger_.scan(CreatorHold{.account = account}, {1, 1}, [this](const CreatorHold& row) {
            holds_.insert({row.account, row.creator, row.program});
        });
    }

    /// A hold stops no write-off, because a write-off pays nothing out.
    [[nodiscard]] bool is_held(const OpenSum& sum) const {
        const BalanceKey& key = sum.key;
        return !holds_.empty() && (sum.blocks & kOfWriteOff) == 0 &&
               (holds_.contains({key.account, key.creator, ProgramId()}) ||
                holds_.contains({key.account, key.creator, key.program}));
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
    OpenTotals* totals_;
    /// Units that are pending and not blocked, of one program.
    DaysOfSpans pending_days_;
    DaysOfSpans::iterator last_days_ = pending_days_.end();
    SpanDays aside_{};
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
    });
    return programs;
}

/// Returns the balance `row` without later postings.
Balance books_then(const Balance& row, const LaterByAccount& later) {
    const LaterPostings* const of_account = find_value(later, row.key.account);
    const AccountSums* const came_later =
        of_account == nullptr ? nullptr : of_account->books(row.key);
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
                    const Visitor<BalanceAt>& visit, OpenTotals* totals) {
    OpenReader open(ledger, at, later, totals);
    for (const Program& program : programs) {
        open.add(program, nullptr);
    }
    open.block_write_offs();
    BalanceKey first{.account = account.value_or(AccountNumber())};
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
                 const Visitor<BalanceAt>& visit, OpenTotals* totals) {
    visit_balances(ledger, account, now, programs_of(ledger, account), {}, visit, totals);
}

std::vector<BalanceAt> balances_at(LedgerReader& ledger, AccountNumber account, Timestamp now,
                                   std::span<const Balance> stored, OpenTotals* totals) {
    std::map<ProgramId, std::vector<CreatorId>> creators;
    for (const Balance& row : stored) {
        std::vector<CreatorId>& of = creators[row.key.program];
        if (of.empty() || of.back() != row.key.creator) {
            of.push_back(row.key.creator);
        }
    }
    const LaterByAccount none;
    OpenReader open(ledger, now, none, totals);
    for (const Program& program : programs_of(ledger, account)) {
        const auto of = creators.find(program.id);
        if (of != creators.end()) {
            open.add(program, &of->second);
        }
    }
    open.block_write_offs();
    return mapped(stored,
                  [&open](const Balance& row) { return balance_of(row, open.of(row.key)); });
}

std::map<std::pair<Currency, Timestamp>, Decimal> clearing_days(LedgerReader& ledger,
                                                                AccountNumber account,
                                                                const OpenTotals& totals) {
    std::map<ProgramId, std::uint32_t> days_of;
    for (const Program& program : programs_of(ledger, account)) {
        days_of.emplace(program.id, program.clearing_days);
    }
    std::map<std::pair<Currency, Timestamp>, Decimal> days;
    for (const OpenTotals::PendingDay& pending : totals.pending) {
        const Timestamp day = pending.sold_on.plus_days(days_of.at(pending.program));
        add_to(days, {pending.currency, day}, {pending.currency, pending.amount});
    }
    return days;
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
    visit_balances(ledger, account, at, programs, later, visit, nullptr);
}

}  // namespace sluice
