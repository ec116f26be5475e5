// Properties of the books: whatever people and platforms do, in whatever order, the sums hold, each
// amount is paid once, a rebuild gives the same bytes and a repeated key changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/lists/overview.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"
#include "unit/ledger/books.hpp"
#include "unit/whole_form.hpp"

namespace sluice::test {
namespace {

std::size_t histories(const LedgerKind& kind) {
    return kind.is_on_a_server() ? whole_or_short(2U, 1U) : whole_or_short(12U, 8U);
}
constexpr std::size_t kLength = 60;

std::uint64_t money_seed() {
    static const std::uint64_t value = [] {
        const char* given = std::getenv("SLUICE_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }();
    return value;
}

class Draws {
public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) { return engine_() % n; }
    template <class T>
    const T& of(const std::vector<T>& values) {
        return values[below(values.size())];
    }

private:
    std::mt19937_64 engine_;
};

/// An input with what it was sent with; it can be put in again.
struct TimedStep {
    Timestamp received;
    std::string actor, key;
    std::function<Applied(Books&)> take;
};

const std::vector<std::string> kOrders{"o1", "o2", "o3", "o4"};
const std::vector<std::string> kCreators{"ann", "ben"};

OrderText drawn_order(Draws& draws, std::size_t version) {
    OrderText order;
    order.id = draws.of(kOrders);
    order.ordered = draws.below(4) == 0 ? "2026-01-01T12:00:00Z" : "2026-01-01T00:00:00Z";
    order.updated = "2026-01-02T00:00:" + std::string(version % 60 < 10 ? "0" : "") +
                    std::to_string(version % 60) + "Z";
    order.currency = draws.below(8) == 0 ? "JPY" : "USD";
    const bool yen = order.currency == "JPY";
    order.codes = {draws.of(std::vector<std::string>{"ANN", "BEN", "NOBODY"})};
    order.lines.clear();
    for (std::size_t i = 0; i <= draws.below(3); ++i) {
        LineText line;
        line.id = "l" + std::to_string(i + 1);
        line.amount = yen ? "15000" : std::to_string(10 + draws.below(200)) + ".07";
        line.tax = yen ? "0" : "1.00";
        order.lines.push_back(line);
    }
    order.amount = "100000.00";
    if (draws.below(3) == 0) {
        RefundText refund;
        refund.id = "r-" + order.id;
        refund.amount = std::to_string(draws.below(60)) + ".00";
        order.refunds.push_back(refund);
    }
    if (draws.below(8) == 0) {
        order.cancelled = order.updated;
    }
    return order;
}

/// Any payout of the ledger as it is then; empty: there is none.
std::string some_payout(Books& books, std::size_t which) {
    std::vector<std::string> ids;
    books.read()->scan_payouts([&ids](const Payout& payout) {
        ids.push_back(payout.payout_id);
        return true;
    });
    return ids.empty() ? "" : ids[which % ids.size()];
}

std::function<Applied(Books&)> drawn_command(Draws& draws, Timestamp now) {
    const OrderId order(draws.of(kOrders));
    const CreatorId creator(draws.of(kCreators));
    const std::size_t which = draws.below(100);
    switch (draws.below(12)) {
        case 0:
        case 1:
        case 2:
            return [now](Books& books) { return books.close_account(now.to_string()); };
        case 3:
        case 4:
        case 5: {
            const auto verb = static_cast<PayoutVerb>(1 + draws.below(5));
            return [verb, which](Books& books) {
                return books.command(PayoutMove{verb, {some_payout(books, which)}});
            };
        }
        case 6: {
            const Decimal amount(static_cast<Int128>(draws.below(2000)) - 1000, 2);
            return [order, amount](Books& books) { return books.command(Adjust{order, amount}); };
        }
        case 7:
            return [order, creator](Books& books) {
                return books.command(Attribute{order, creator, ProgramId("spring"), true});
            };
        case 8:
            return [order, retry = which % 2 == 0](Books& books) {
                return books.command(Detach{order, "", retry});
            };
        case 9:
            return [order, which](Books& books) {
                return which % 2 == 0 ? books.command(Hold{{order, {}, {}}})
                                      : books.command(Release{{order, {}, {}}, ReleaseOf::kHold});
            };
        case 10:
            return [order, which](Books& books) {
                return which % 2 == 0 ? books.command(Reject{order})
                                      : books.command(Release{{order, {}, {}}, ReleaseOf::kReject});
            };
        default:
            return [order](Books& books) {
                return books.command(AnomalyAck{order, "CURRENCY_CHANGED"});
            };
    }
}

std::vector<TimedStep> drawn_history(Draws& draws) {
    std::vector<TimedStep> steps;
    Timestamp now = instant("2026-02-01T00:00:00Z");
    for (std::size_t i = 0; i < kLength; ++i) {
        now = now.plus_seconds(3600 * static_cast<std::int64_t>(1 + draws.below(30)));
        TimedStep step{now, "finance", "", {}};
        if (draws.below(2) == 0) {
            const OrderText order = drawn_order(draws, i);
            step.take = [order](Books& books) { return books.update(order); };
        } else {
            step.key = "k" + std::to_string(i);
            step.take = drawn_command(draws, now);
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

void begin_money(Books& books) {
    books.receive_at("2026-01-31T00:00:00Z");
    Program spring = program("spring");
    spring.max_per_order = {*parse_money("12.34 USD")};
    spring.rules = {rule(RuleMatch::kSku, "SKU", "7.77%")};
    books.apply({spring});
    books.creators({{2, CreatorId("ann"), ProgramId("spring"), "ANN"},
                    {3, CreatorId("ben"), ProgramId("spring"), "BEN"}});
}

Applied take(const TimedStep& step, Books& books) {
    books.receive_at(step.received.to_string());
    books.actor = step.actor;
    books.key = step.key;
    return step.take(books);
}

class MoneyProperties : public testing::TestWithParam<LedgerKind> {};

TEST_P(MoneyProperties, SumsHoldAfterEveryInput) {
    for (std::size_t i = 0; i < histories(GetParam()); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(money_seed()) + " history " +
                     std::to_string(i));
        Draws draws(money_seed() + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books books(*ledger);
        begin_money(books);
        for (const TimedStep& step : drawn_history(draws)) {
            const Applied applied = take(step, books);
            ASSERT_EQ(books.broken_invariant(), "") << applied.text;
        }
        EXPECT_EQ(books.wrong_views(), "");
    }
}

/// Void, failed and returned payouts release their items: once all payouts are over and a last one
/// is closed, the paid amount equals the accrued amount for every creator who is owed something.
TEST_P(MoneyProperties, EachAmountIsPaidOnce) {
    for (std::size_t i = 0; i < histories(GetParam()); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(money_seed()) + " history " +
                     std::to_string(i));
        Draws draws(money_seed() + 1000 + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books books(*ledger);
        begin_money(books);
        Timestamp now;
        for (const TimedStep& step : drawn_history(draws)) {
            take(step, books);
            now = step.received;
        }
        books.key.clear();
        for (const std::string& order : kOrders) {
            books.command(Release{{OrderId(order), {}, {}}, ReleaseOf::kHold});
            books.command(AnomalyAck{OrderId(order), "CURRENCY_CHANGED"});
        }
        books.close_account(now.to_string());
        balances_at(*books.read(), std::nullopt, now, [&](const BalanceAt& row) {
            if (row.blocked.is_zero()) {
                EXPECT_LE(row.owed, Decimal()) << row.key.creator.view();
            }
            return true;
        });
        EXPECT_EQ(books.broken_invariant(), "");
        EXPECT_EQ(books.wrong_views(), "");
    }
}

TEST_P(MoneyProperties, ARebuildGivesTheSameBytesAndARepeatedKeyChangesNothing) {
    for (std::size_t i = 0; i < histories(GetParam()); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(money_seed()) + " history " +
                     std::to_string(i));
        Draws draws(money_seed() + 2000 + i);
        const std::vector<TimedStep> steps = drawn_history(draws);
        std::vector<CommandOutcome> outcomes;
        const auto play = [&](Ledger& ledger) {
            Books books(ledger);
            begin_money(books);
            outcomes.clear();
            for (const TimedStep& step : steps) {
                outcomes.push_back(take(step, books).outcome);
            }
            return books.dump();
        };
        const std::unique_ptr<Ledger> first = GetParam().make();
        const std::string dump = play(*first);
        Books books(*first, Books::kNode, {2 + kLength});
        const std::uint64_t entries = books.read()->head().next_entry;
        for (std::size_t k = 0; k < steps.size(); ++k) {  // a refused one does not use up its key
            if (!steps[k].key.empty() && outcomes[k] != CommandOutcome::kRefused) {
                const Applied again = take(steps[k], books);
                EXPECT_TRUE(again.failed || again.outcome == CommandOutcome::kRepeated)
                    << again.text;
            }
        }
        EXPECT_EQ(books.read()->head().next_entry, entries);
        const std::unique_ptr<Ledger> second = GetParam().make();
        EXPECT_EQ(play(*second), dump);
    }
}

/// Expects the sums of a month to be those of every creator's statement.
void expect_statements(LedgerReader& reader, AccountNumber account, std::uint32_t month,
                       Timestamp from, Timestamp to) {
    for (const std::string& creator : kCreators) {
        std::map<std::pair<ProgramId, Currency>, StatementAmounts> sums;
        lists::scan_month(reader, account, month, CreatorId(creator), [&](const MonthlySum& sum) {
            sums[{sum.program, sum.currency}] = sum;
            return true;
        });
        const Statement statement = read_statement(reader, account, CreatorId(creator), from, to,
                                                   [](const auto&) { return true; });
        for (const auto& [key, of] : statement.sums) {
            EXPECT_EQ(sums[key].earned, of.earned) << creator << " " << month;
            EXPECT_EQ(sums[key].adjusted, of.adjusted) << creator << " " << month;
            EXPECT_EQ(sums[key].paid_out, of.paid_out) << creator << " " << month;
        }
    }
}

/// Adds a posting to one ledger account's month.
void add_posting_to(BookMonth& book, const Decimal& credit, bool in_month) {
    book.closing -= credit;
    if (!in_month) {
        book.opening -= credit;
    } else if (credit.is_negative()) {
        book.debit -= credit;
    } else {
        book.credit += credit;
    }
}

/// Reads a trial balance from every posting since the first.
AccountMonth month_one_by_one(LedgerReader& reader, AccountNumber account, Timestamp from,
                              Timestamp to) {
    AccountMonth months;
    reader.scan_account_journal(account, kFirstInstant, to, [&](const JournalGroup& group) {
        const bool in_month = group.accounting_date >= from;
        for (const JournalEntry& entry : group.entries) {
            if (is_memo(entry.reason)) {
                continue;
            }
            ProgramMonth& month = months[{group.program, entry.currency}];
            add_posting_to(month.expense, change_in(entry, LedgerAccount::kExpense), in_month);
            add_posting_to(month.owed, change_in(entry, LedgerAccount::kOwed), in_month);
            add_posting_to(month.in_payout, change_in(entry, LedgerAccount::kPayout), in_month);
            add_posting_to(month.paid, change_in(entry, LedgerAccount::kPaid), in_month);
            add_to(month.sums, entry, in_month);
            month.postings += in_month ? 1U : 0U;
            month.late_postings += in_month && group.recorded_at < group.accounting_date ? 1U : 0U;
        }
        return true;
    });
    return months;
}

std::string text_of(const ProgramMonth& month) {
    std::string text = std::to_string(month.postings) + " " + std::to_string(month.late_postings);
    for (const BookMonth* book : {&month.expense, &month.owed, &month.in_payout, &month.paid}) {
        for (const Decimal& amount : {book->opening, book->debit, book->credit, book->closing}) {
            text += " " + amount.rescaled(2).to_string();
        }
    }
    const StatementSums& sums = month.sums;
    for (const Decimal& amount :
         {sums.opening, sums.earned, sums.adjusted, sums.paid_out, sums.closing}) {
        text += " " + amount.rescaled(2).to_string();
    }
    return text;
}

/// Returns the late postings of the month.
std::uint64_t expect_trial_balance(LedgerReader& reader, AccountNumber account, Timestamp from,
                                   Timestamp to) {
    std::uint64_t late = 0;
    const AccountMonth months = read_account_month(reader, account, from, to);
    for (const auto& [key, month] : month_one_by_one(reader, account, from, to)) {
        const auto& [program, currency] = key;
        EXPECT_TRUE(months.contains(key)) << program.str() << " " << currency.code();
        EXPECT_EQ(text_of(months.contains(key) ? months.at(key) : ProgramMonth()), text_of(month))
            << program.str() << " " << currency.code() << " " << from.to_string();
        late += month.late_postings;
    }
    return late;
}

/// The open parts of a balance, from every open amount.
struct OpenOf {
    Decimal pending, blocked, below, write_offs;
};

bool is_held(LedgerReader& reader, const OpenAmount& open) {
    for (const ProgramId& program : {ProgramId(), open.program}) {
        CreatorHold hold;
        hold.account = open.account;
        hold.creator = open.creator;
        hold.program = program;
        if (reader.load(hold)) {
            return true;
        }
    }
    return false;
}

using PendingDays = std::map<std::tuple<ProgramId, Currency, Timestamp>, Decimal>;

struct OpenOneByOne {
    std::map<BalanceKey, OpenOf> balances;
    std::map<Currency, OpenTotals::Blocked> blocked;
    PendingDays pending;
};

OpenOneByOne open_one_by_one(LedgerReader& reader, Timestamp now) {
    std::vector<OpenAmount> rows;
    reader.scan(OpenAmount{}, {}, [&rows](const OpenAmount& row) {
        rows.push_back(row);
        return true;
    });
    OpenOneByOne all;
    for (const OpenAmount& row : rows) {
        OpenOf& sum = all.balances[{row.account, row.program, row.creator, row.currency}];
        const Program program = reader.program(row.program)->program;
        const bool pending = !row.cleared && now < program.clears_at(row.sold_at);
        const std::uint32_t blocking =
            kBlockedByHold | account_settings(reader, row.account).blocking;
        MoneyCommand credit;
        credit.command_id = row.order_id.str();
        const bool is_write_off =
            row.shop.value == 0 && reader.load(credit) && credit.topic == Topic::kWriteOff;
        const bool by_order = !row.amount.is_negative() && (row.blocks & blocking) != 0;
        const bool blocked =
            by_order || (!row.amount.is_negative() && !is_write_off && is_held(reader, row));
        if (by_order) {
            all.blocked[row.currency].amount += row.amount;
            ++all.blocked[row.currency].amounts;
        }
        if (pending && !blocked) {
            all.pending[{row.program, row.currency, start_of_day(row.sold_at)}] += row.amount;
        }
        if (row.amount.is_negative()) {
            (pending ? sum.pending : sum.below) += row.amount;
        } else if (blocked) {
            sum.blocked += row.amount;
        } else if (pending) {
            sum.pending += row.amount;
        } else if (is_write_off) {
            sum.write_offs += row.amount;
        }
    }
    for (auto& [key, sum] : all.balances) {
        sum.blocked += std::max(Decimal(), sum.write_offs + sum.below);
    }
    std::erase_if(all.pending, [](const auto& day) { return day.second.is_zero(); });
    return all;
}

void expect_totals(OpenTotals totals, const OpenOneByOne& expected) {
    // The parts of two nodes may sum to nothing.
    std::erase_if(totals.blocked, [](const auto& blocked) {
        return blocked.second.amount.is_zero() && blocked.second.amounts == 0;
    });
    EXPECT_EQ(totals.blocked.size(), expected.blocked.size());
    for (const auto& [currency, blocked] : expected.blocked) {
        ASSERT_TRUE(totals.blocked.contains(currency));
        EXPECT_EQ(totals.blocked.at(currency).amount, blocked.amount);
        EXPECT_EQ(totals.blocked.at(currency).amounts, blocked.amounts);
    }
    PendingDays pending;
    for (const OpenTotals::PendingDay& day : totals.pending) {
        EXPECT_TRUE(
            pending.try_emplace({day.program, day.currency, day.sold_on}, day.amount).second);
    }
    EXPECT_EQ(pending, expected.pending);
}

/// Every second balance, and every third, are the same as among all.
void expect_parts(LedgerReader& reader, Timestamp now) {
    std::map<BalanceKey, BalanceAt> all;
    balances_at(reader, std::nullopt, now, [&](const BalanceAt& row) {
        all.emplace(row.key, row);
        return true;
    });
    for (std::size_t step = 2; step <= 3; ++step) {
        std::map<AccountNumber, std::vector<Balance>> parts;
        std::size_t row_number = 0;
        reader.scan_balances([&](const Balance& row) {
            if (row_number++ % step == 0) {
                parts[row.key.account].push_back(row);
            }
            return true;
        });
        for (const auto& [account, part] : parts) {
            for (const BalanceAt& row : balances_at(reader, account, now, part)) {
                const BalanceAt& expected = all.at(row.key);
                EXPECT_EQ(row.pending, expected.pending) << row.key.creator.str();
                EXPECT_EQ(row.blocked, expected.blocked) << row.key.creator.str();
                EXPECT_EQ(row.payable, expected.payable) << row.key.creator.str();
            }
        }
    }
}

void expect_balances(LedgerReader& reader, Timestamp now) {
    OpenOneByOne open = open_one_by_one(reader, now);
    OpenTotals totals;
    const auto visit = [&](const BalanceAt& row) {
        const OpenOf& expected = open.balances[row.key];
        EXPECT_EQ(row.pending, expected.pending) << row.key.creator.str() << now.to_string();
        EXPECT_EQ(row.blocked, expected.blocked) << row.key.creator.str() << now.to_string();
        open.balances.erase(row.key);
        return true;
    };
    balances_at(reader, std::nullopt, now, visit, &totals);
    EXPECT_TRUE(open.balances.empty());
    expect_totals(std::move(totals), open);
    expect_parts(reader, now);
}

/// Each step goes through one of two nodes on one ledger.
void take_drawn_history(Draws& draws, Ledger& ledger, Books& one) {
    Books other(ledger, "11111111-2222-3333-4444-666666666666");
    begin_money(one);
    for (const TimedStep& step : drawn_history(draws)) {
        take(step, draws.below(2) == 0 ? one : other);
    }
}

TEST_P(MoneyProperties, Z4_BalancesFromSumsByHourEqualTheSumsOfEveryOpenAmount) {
    for (std::size_t i = 0; i < histories(GetParam()); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(money_seed()) + " history " +
                     std::to_string(i));
        Draws draws(money_seed() + 4000 + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books one(*ledger);
        take_drawn_history(draws, *ledger, one);
        // The clearing days end in an hour with sales, before it, behind it and at one of the
        // sales.
        for (const char* const sold :
             {"2025-12-31T23:59:59.999999999Z", "2026-01-01T00:00:00Z", "2026-01-01T11:59:59Z",
              "2026-01-01T12:00:00Z", "2026-01-01T12:59:59.999999999Z", "2026-01-01T13:00:00Z",
              "2026-01-02T00:00:00Z", "2026-06-01T00:00:00Z"}) {
            const auto reader = one.read();
            std::uint32_t clearing_days = 0;
            reader->scan_programs([&](const ProgramRow& row) {
                clearing_days = std::max(clearing_days, row.program.clearing_days);
                return true;
            });
            expect_balances(*reader, instant(sold).plus_days(clearing_days));
            expect_balances(*reader, instant(sold));
        }
        EXPECT_EQ(one.broken_invariant(), "");
        EXPECT_EQ(one.wrong_views(), "");
    }
}

/// Closes February, which another node then posts to.
void expect_late_posting(Ledger& ledger, Books& books, AccountNumber account, Timestamp february,
                         Timestamp march, Timestamp april) {
    books.receive_at("2026-05-01T00:00:00Z");
    books.actor = "finance";
    books.key = "february";
    const Applied closed = books.command(PeriodClose{march, true});
    EXPECT_EQ(closed.outcome, CommandOutcome::kDone) << closed.text;
    Books late(ledger, "11111111-2222-3333-4444-777777777777");
    late.receive_at("2026-02-27T00:00:00Z");
    OrderText order;
    order.id = "late";
    order.updated = "2026-02-27T00:00:00Z";
    order.codes = {"ANN"};
    late.update(order);
    EXPECT_EQ(books.broken_invariant(), "");
    EXPECT_EQ(books.wrong_views(), "");
    const auto reader = books.read();
    EXPECT_EQ(expect_trial_balance(*reader, account, february, march), 0U);
    EXPECT_NE(expect_trial_balance(*reader, account, march, april), 0U);
}

TEST_P(MoneyProperties, Z10_SumsOfTwoNodesEqualJournalAndStatements) {
    for (std::size_t i = 0; i < histories(GetParam()); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(money_seed()) + " history " +
                     std::to_string(i));
        Draws draws(money_seed() + 3000 + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books one(*ledger);
        take_drawn_history(draws, *ledger, one);
        EXPECT_EQ(one.broken_invariant(), "");
        EXPECT_EQ(one.wrong_views(), "");
        const auto reader = one.read();
        AccountNumber account;
        reader->scan_shops([&account](const ShopRow& shop) {
            account = shop.account;
            return true;
        });
        const Timestamp february = instant("2026-02-01T00:00:00Z");
        const Timestamp march = instant("2026-03-01T00:00:00Z");
        const Timestamp april = instant("2026-04-01T00:00:00Z");
        expect_statements(*reader, account, 202602, february, march);
        expect_statements(*reader, account, 202603, march, april);
        EXPECT_EQ(expect_trial_balance(*reader, account, february, march), 0U);
        EXPECT_EQ(expect_trial_balance(*reader, account, march, april), 0U);
        expect_late_posting(*ledger, one, account, february, march, april);
    }
}

INSTANTIATE_TEST_SUITE_P(, MoneyProperties, testing::ValuesIn(ledger_kinds()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace sluice::test
