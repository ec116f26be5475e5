// Properties of the books over random histories. The seed is printed; SLUICE_SEED sets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#include "core/rules/commission.hpp"
#include "core/rules/order_book.hpp"
#include "unit/ledger/books.hpp"
#include "unit/whole_form.hpp"

namespace sluice::test {
namespace {

std::uint64_t seed() {
    const char* given = std::getenv("SLUICE_SEED");
    return given == nullptr ? 123 : std::strtoull(given, nullptr, 10);
}

class Chance {
public:
    explicit Chance(std::uint64_t from) : random_(from) {}
    /// 0 to count - 1.
    std::size_t below(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
    }
    bool once_in(std::size_t count) { return below(count) == 0; }
    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[below(values.size())];
    }
    std::mt19937_64& engine() { return random_; }

private:
    std::mt19937_64 random_;
};

std::string day(std::size_t number) {
    return "2026-01-" + std::string(number < 9 ? "0" : "") + std::to_string(number + 1) +
           "T00:00:00Z";
}

std::string money(Chance& chance) {
    static const std::vector<std::string> amounts{"0",         "0.00",  "0.25", "10.00",
                                                  "33.333333", "99.99", "100",  "1234.5"};
    return chance.one_of(amounts);
}

/// An order of up to four lines with refunds, whatever the version.
OrderText random_order(Chance& chance, std::string id) {
    OrderText order;
    order.id = std::move(id);
    order.ordered = day(chance.below(5));
    order.currency = chance.once_in(6) ? "JPY" : "USD";
    order.lines.clear();
    for (const char* line : {"l1", "l2", "l3", "l4"}) {
        if (!chance.once_in(3)) {
            order.lines.push_back({.id = line, .amount = money(chance), .tax = money(chance)});
        }
    }
    if (order.lines.empty()) {
        order.lines.push_back({});
    }
    for (const LineText& line : order.lines) {
        if (chance.once_in(3)) {
            const std::string refund = order.id + line.id + (chance.once_in(4) ? "b" : "a");
            order.refunds.push_back({.id = refund, .line = line.id, .amount = money(chance)});
        }
    }
    static const std::vector<std::string> codes{"ANN", "ben", "LATE", "NOBODY"};
    for (std::size_t i = chance.below(3); i > 0; --i) {
        order.codes.push_back(chance.one_of(codes));
    }
    if (chance.once_in(5)) {
        order.cancelled = day(9);
    }
    return order;
}

struct Step {
    std::function<void(Books&)> take;
};

/// Orders of a few ids, imports, programs, payouts, adjustments, in any order.
std::vector<Step> random_history(Chance& chance, std::size_t length) {
    static const std::vector<Topic> topics{Topic::kOrderCreate, Topic::kOrderUpdate,
                                           Topic::kOrderCancel};
    static const std::vector<std::string> anons{"", "dev1", "dev2"};
    std::vector<Step> steps;
    for (std::size_t i = 0; i < length; ++i) {
        const std::size_t kind = chance.below(20);
        if (kind < 14) {
            OrderText order = random_order(chance, "o" + std::to_string(chance.below(6)));
            order.updated = day(chance.below(12));
            const Topic topic = chance.one_of(topics);
            const std::string anon = chance.one_of(anons);
            steps.push_back({[=](Books& books) { books.event(topic, order, anon); }});
        } else if (kind == 14) {
            const std::string code = chance.once_in(2) ? "LATE" : "ANN";
            steps.push_back({[=](Books& books) { books.creator("cy", "spring", code); }});
        } else if (kind == 15) {
            const std::string at = day(chance.below(6));
            const std::string who = chance.once_in(2) ? "ann" : "ben";
            steps.push_back({[=](Books& books) { books.click("dev1", who, "spring", at); }});
        } else if (kind == 16) {
            const std::string rate = chance.once_in(2) ? "1.50 USD" : "12.5%";
            steps.push_back({[=](Books& books) { books.apply({program("autumn", rate)}); }});
        } else if (kind == 17) {
            const std::string until =
                chance.once_in(2) ? "2026-02-01T00:00:00Z" : day(chance.below(20));
            const std::string which = chance.once_in(2) ? "spring" : "autumn";
            steps.push_back({[=](Books& books) { books.close(which, until); }});
        } else if (kind == 18) {
            const std::string order = "o" + std::to_string(chance.below(6));
            const std::string amount = chance.once_in(2) ? "3" : "-5";
            steps.push_back({[=](Books& books) { books.adjust(order, amount); }});
        } else {
            const std::string who = chance.once_in(2) ? "ann" : "cy";
            steps.push_back({[=](Books& books) {
                books.command(CreatorRemove{CreatorId(who), ProgramId("spring"), std::nullopt});
            }});
        }
    }
    return steps;
}

void begin(Books& books) {
    Program held = program("spring");
    held.clearing_days = 7;
    books.apply({held, program("autumn", "1.50 USD")});
    books.creators({{2, CreatorId("ann"), ProgramId("spring"), "ANN"},
                    {3, CreatorId("ben"), ProgramId("autumn"), "BEN"},
                    {4, CreatorId("ben"), ProgramId("spring"), ""}});
}

std::string played(const std::vector<Step>& steps, const LedgerKind& kind, std::size_t slice) {
    const std::unique_ptr<Ledger> ledger = kind.make();
    Books books(*ledger);
    books.work_slice = slice;
    begin(books);
    for (const Step& step : steps) {
        step.take(books);
    }
    return books.dump();
}

class Properties : public testing::TestWithParam<LedgerKind> {
protected:
    void SetUp() override { std::printf("SLUICE_SEED=%s\n", std::to_string(seed()).c_str()); }
    static std::size_t histories() {
        return GetParam().is_on_a_server() ? whole_or_short(2U, 1U) : whole_or_short(25U, 12U);
    }
    static constexpr std::size_t kLength = 60;
};

TEST_P(Properties, SumsChainAndIndexesHoldAfterEveryInput) {
    for (std::size_t i = 0; i < histories(); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " history " + std::to_string(i));
        Chance chance(seed() + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books books(*ledger);
        begin(books);
        for (const Step& step : random_history(chance, kLength)) {
            step.take(books);
            ASSERT_EQ(books.broken_invariant(), "");
        }
        EXPECT_EQ(books.wrong_views(), "");
    }
}

TEST_P(Properties, AnAccrualEqualsTheEarningsOfItsLines) {
    for (std::size_t i = 0; i < histories(); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " history " + std::to_string(i));
        Chance chance(seed() + 1000 + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books books(*ledger);
        begin(books);
        for (const Step& step : random_history(chance, kLength)) {
            step.take(books);
        }
        books.read()->scan_orders({1}, {1}, [](const OrderState& state) {
            const Position* position = state.position();
            if (position == nullptr) {
                return true;
            }
            const EffectiveRefunds refunds(state.refunds);
            std::map<LineItemId, FrozenRate> rates;
            for (const FrozenLine& line : position->frozen) {
                rates.emplace(line.line, line.rate);
            }
            Decimal expected = zero_amount(state.currency);
            for (const OrderLine& line : state.lines) {
                if (line.present && state.earns()) {
                    expected += line_commission(rates.at(line.id), line, refunds.amount(line.id),
                                                state.currency);
                }
            }
            Decimal accrued = zero_amount(state.currency);
            for (const LineAccrual& row : position->accruals) {
                if (row.currency == state.currency && !row.line.empty()) {
                    accrued += row.accrued;
                }
            }
            EXPECT_EQ(accrued, expected) << state.key.order_id.view();
            return true;
        });
    }
}

TEST_P(Properties, ReplaysChangeNothingButTheirCount) {
    for (std::size_t i = 0; i < histories(); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " history " + std::to_string(i));
        Chance chance(seed() + 2000 + i);
        const std::unique_ptr<Ledger> ledger = GetParam().make();
        Books books(*ledger);
        begin(books);
        std::vector<std::pair<Topic, OrderText>> events;
        for (std::size_t n = 0; n < kLength; ++n) {
            OrderText order = random_order(chance, "o" + std::to_string(chance.below(4)));
            order.updated = day(chance.below(12));
            const Topic topic = chance.once_in(2) ? Topic::kOrderUpdate : Topic::kOrderCancel;
            books.event(topic, order);
            events.emplace_back(topic, order);
        }
        std::shuffle(events.begin(), events.end(), chance.engine());
        const auto journal = books.journal();
        const auto anomalies = books.anomalies();
        const auto balances = books.balances("2026-03-01T00:00:00Z");
        for (const auto& [topic, order] : events) {
            EXPECT_EQ(books.event(topic, order).input_class, InputClass::kDuplicate);
        }
        EXPECT_EQ(books.journal(), journal);
        EXPECT_EQ(books.anomalies(), anomalies);
        EXPECT_EQ(books.balances("2026-03-01T00:00:00Z"), balances);
    }
}

/// Returns the fields that must not depend on the order of arrival, as text.
std::string fields(const OrderState& state) {
    std::string text = state.version.to_string() + state.ordered_at.to_string() + state.amount +
                       std::string(state.currency.code()) +
                       (state.cancelled_at ? state.cancelled_at->to_string() : "live");
    for (const OrderLine& line : state.lines) {
        if (line.present) {
            text +=
                " " + line.id.str() + "=" + line.amount.to_string() + "/" + line.tax.to_string();
        }
    }
    std::vector<std::string> rows;
    for (const RefundRow& row : state.refunds) {
        const bool stands = effective_row(state.refunds, row.line) == &row;
        rows.push_back(" " + row.id.str() + "=" + row.amount.to_string() + "@" +
                       row.version.to_string() + (stands ? "+" : "-"));
    }
    std::sort(rows.begin(), rows.end());
    for (const std::string& row : rows) {
        text += row;
    }
    return text;
}

TEST_P(Properties, ArrivalOfDistinctVersionsChangesNeitherFieldsNorRefundRows) {
    for (std::size_t i = 0; i < histories(); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " history " + std::to_string(i));
        Chance chance(seed() + 3000 + i);
        std::vector<std::pair<Topic, OrderText>> events;
        for (std::size_t n = 0; n < 8; ++n) {
            OrderText order = random_order(chance, "o1");
            order.updated = day(n);
            events.emplace_back(chance.once_in(3) ? Topic::kOrderCancel : Topic::kOrderUpdate,
                                order);
        }
        std::string expected;
        for (int permutation = 0; permutation < 12; ++permutation) {
            const std::unique_ptr<Ledger> ledger = GetParam().make();
            Books books(*ledger);
            begin(books);
            for (const auto& [topic, order] : events) {
                books.event(topic, order);
            }
            const std::string actual = fields(books.order());
            expected = expected.empty() ? actual : expected;
            EXPECT_EQ(actual, expected);
            std::shuffle(events.begin(), events.end(), chance.engine());
        }
    }
}

TEST_P(Properties, TheSameInputsGiveTheSameLedgerWhateverItsKindAndSlices) {
    for (std::size_t i = 0; i < histories(); ++i) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " history " + std::to_string(i));
        Chance chance(seed() + 4000 + i);
        const std::vector<Step> steps = random_history(chance, kLength);
        const std::string reference = played(steps, ledger_kinds().front(), 1000);
        EXPECT_EQ(played(steps, GetParam(), 1000), reference);
        EXPECT_EQ(played(steps, GetParam(), 1), reference);
    }
}

INSTANTIATE_TEST_SUITE_P(, Properties, testing::ValuesIn(ledger_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
