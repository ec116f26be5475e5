#include "unit/ledger/example_expect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/journal/journal.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/rules/account.hpp"
#include "core/rules/order_book.hpp"
#include "core/statements/statements.hpp"

namespace sluice::test {

using nlohmann::json;

namespace {

std::string sums_text(const std::map<Currency, Decimal>& sums) {
    std::string text;
    for (const auto& [currency, sum] : sums) {
        if (!sum.is_zero()) {
            text += (text.empty() ? "" : ", ") + money(sum, currency);
        }
    }
    return text;
}

/// Amounts of an order in active payouts, by currency.
struct Allocated {
    std::map<Currency, Decimal> in_payout, paid;
};

Allocated allocated_of(const OrderState& order, LedgerReader& ledger) {
    Allocated allocated;
    for (const Position& position : order.positions) {
        for (const PositionPayout& taken : position.payouts) {
            Payout payout;
            payout.payout_id = taken.payout_id;
            if (taken.active) {
                EXPECT_TRUE(ledger.load(payout)) << taken.payout_id;
                auto& sums =
                    payout.state == PayoutState::kPaid ? allocated.paid : allocated.in_payout;
                sums.try_emplace(taken.currency, zero_amount(taken.currency)).first->second +=
                    taken.amount;
            }
        }
    }
    return allocated;
}

}  // namespace

std::string money(const Decimal& amount, Currency currency) {
    return to_string(Money{currency, amount});
}

void ExampleExpectations::compare_rows(const char* name, std::vector<json> found,
                                       const json& wanted) {
    for (const json& row : wanted) {
        const auto match = std::find_if(found.begin(), found.end(), [&row](const json& other) {
            return other.size() >= row.size() && std::equal(row.begin(), row.end(), other.begin());
        });
        if (match == found.end()) {
            ADD_FAILURE() << name << ": " << row << " is missing in " << json(found);
            continue;
        }
        found.erase(match);
    }
    EXPECT_TRUE(found.empty()) << name << ": should not be: " << json(found);
}

std::string ExampleExpectations::shown(const CreatorId& creator) {
    return shown_id(*one().read(), AccountNumber{1}, creator).str();
}

void ExampleExpectations::compare(const json& expect) {
    for (const auto& [name, wanted] : expect.items()) {
        SCOPED_TRACE(name);
        if (name == "orders") {
            compare_orders(wanted);
        } else if (name == "journal") {
            compare_rows("journal", journal_, wanted);
        } else if (name == "anomalies") {
            compare_anomalies(wanted);
        } else if (name == "payouts") {
            compare_payouts(wanted);
        } else if (name == "balances") {
            for (const json& balances : wanted) {
                compare_balances(balances);
            }
        } else if (name == "statements") {
            for (const json& row : wanted) {
                compare_statement(row);
            }
        } else if (name == "click_days") {
            compare_click_days(wanted);
        } else if (name == "codes") {
            compare_codes(wanted);
        } else if (name == "ids") {
            EXPECT_EQ(json(names_.payouts), wanted);
        } else {
            ADD_FAILURE() << "no such expectation";
        }
    }
}

void ExampleExpectations::compare_click_days(const json& wanted) {
    std::vector<json> rows;
    one().read()->scan(ClickDay{}, {}, [&](const ClickDay& row) {
        rows.push_back({start_of_day(row.day).to_string().substr(0, 10), row.program.str(),
                        row.creator.str(), row.link.str(), row.clicks.to_string(),
                        row.devices.to_string(), row.orders.to_string()});
        return true;
    });
    EXPECT_EQ(json(rows), wanted);
}

json ExampleExpectations::row_of(const std::string& id) {
    one().from_shop("shop-1");
    const OrderState state = one().order(id);
    const auto reader = one().read();
    const EffectiveRefunds refunds(state.refunds);
    const Position* position = state.position();
    const Allocated allocated = allocated_of(state, *reader);
    json row;
    row["creator"] = position != nullptr ? json(shown(position->attribution.creator)) : json();
    row["program"] = position != nullptr ? json(position->attribution.program.str()) : json();
    row["types"] = json::array();
    const unsigned types = position != nullptr ? position->attribution.types : 0;
    for (const auto type :
         {AttributionType::kAffiliateCode, AttributionType::kLanded, AttributionType::kManual}) {
        if ((types & static_cast<unsigned>(type)) != 0) {
            row["types"].push_back(std::string(to_string(type)));
        }
    }
    row["commission"] = one().commission(id);
    row["refund"] = refunds.amount_sum().to_string();
    row["refund_tax"] = refunds.tax_sum().to_string();
    row["cancelled"] = state.cancelled_at.has_value();
    row["status"] = std::string(OrderJudge(*reader).status(state, now_));
    row["blocked_by"] = OrderJudge(*reader).blocked_by(state);
    row["in_payout"] = sums_text(allocated.in_payout);
    row["paid"] = sums_text(allocated.paid);
    row["volume"] = position != nullptr && position->facts.volume
                        ? json(money(position->facts.volume->amount +
                                         zero_amount(position->facts.volume->currency),
                                     position->facts.volume->currency))
                        : json();
    row["device"] = state.device ? json(to_hex(*state.device)) : json();
    row["device_version"] = state.device ? json(state.device_version.to_string()) : json();
    return row;
}

void ExampleExpectations::compare_orders(const json& expected) {
    for (const auto& [id, members] : expected.items()) {
        const json actual = row_of(id);
        for (const auto& [name, value] : members.items()) {
            const json wanted = name == "device" && value.is_string()
                                    ? json(to_hex(sha256(value.get<std::string>())))
                                    : value;
            EXPECT_EQ(actual.at(name), wanted) << id << "." << name;
        }
    }
    if (!strict_) {
        EXPECT_EQ(one().totals().orders, expected.size());
    }
}

std::size_t ExampleExpectations::event_number(const std::string& node, std::uint64_t seq) const {
    const auto found = std::find(events_.begin(), events_.end(), std::pair(node, seq));
    return found == events_.end() ? 0 : static_cast<std::size_t>(found - events_.begin()) + 1;
}

void ExampleExpectations::compare_anomalies(const json& wanted) {
    std::vector<json> rows;
    const auto reader = one().read();
    reader->scan(Anomaly{}, {}, [&](const Anomaly& row) {
        rows.push_back(json::array({std::string(to_string(row.kind)), row.order.order_id.str(),
                                    event_number("one", row.first_seq.value), row.count}));
        return true;
    });
    compare_rows("anomalies", rows, wanted);
}

void ExampleExpectations::compare_payouts(const json& wanted) {
    if (wanted.is_array()) {
        std::vector<std::string> rows;
        for (const json& row : wanted) {
            rows.push_back(row.at(0).get<std::string>() + "@" + row.at(1).get<std::string>() + " " +
                           row.at(2).get<std::string>() +
                           " orders=" + std::to_string(row.at(3).get<unsigned>()));
        }
        EXPECT_THAT(one().payouts(), testing::ElementsAreArray(rows));
        return;
    }
    std::set<std::string> names, wanted_names;
    for (const auto& [name, id] : names_.payouts) {
        names.insert(name);
    }
    for (const auto& [name, members] : wanted.items()) {
        wanted_names.insert(name);
    }
    EXPECT_EQ(names, wanted_names);
    for (const auto& [name, members] : wanted.items()) {
        compare_payout(name, members);
    }
}

void ExampleExpectations::compare_payout(const std::string& name, const json& members) {
    SCOPED_TRACE(name);
    const auto reader = one().read();
    Payout payout;
    payout.payout_id = names_.full(name);
    ASSERT_TRUE(reader->load(payout));
    if (members.contains("creator")) {
        EXPECT_EQ(shown(payout.creator), text_at(members, "creator"));
    }
    if (members.contains("amount")) {
        EXPECT_EQ(money(payout.amount, payout.currency), text_at(members, "amount"));
    }
    if (members.contains("state")) {
        EXPECT_EQ(to_string(payout.state), text_at(members, "state"));
    }
    if (members.contains("items")) {
        PayoutItem first;
        first.payout_id = payout.payout_id;
        std::vector<json> items;
        reader->scan(first, {1, 1}, [&items](const PayoutItem& item) {
            const std::string line = item.kind == ItemKind::kCredit ? "" : item.line.str();
            items.push_back(json::array(
                {item.program.str(), item.order_id.empty() ? "" : item.order_id.str() + "/" + line,
                 std::string(to_string(item.kind)), item.amount.to_string()}));
            return true;
        });
        compare_rows("items", items, members.at("items"));
    }
}

void ExampleExpectations::compare_balances(const json& expected) {
    const Timestamp at = expected.contains("at") ? instant(text_at(expected, "at")) : now_;
    std::map<std::string, json> found, wanted;
    balances_at(*one().read(), std::nullopt, at, [&](const BalanceAt& row) {
        found[row.key.program.str() + " " + shown(row.key.creator) + " " +
              std::string(row.key.currency.code())] =
            json{{"owed", row.owed.to_string()},       {"in_payout", row.in_payout.to_string()},
                 {"paid", row.paid.to_string()},       {"pending", row.pending.to_string()},
                 {"blocked", row.blocked.to_string()}, {"payable", row.payable.to_string()},
                 {"total", row.total.to_string()}};
        return true;
    });
    for (const json& row : expected.at("rows")) {
        const std::string key = text_at(row, "program") + " " + text_at(row, "creator") + " " +
                                text_at(row, "currency");
        wanted[key] = row;
        EXPECT_TRUE(found.contains(key)) << "no balance of " << key;
        for (const auto& [column, value] : row.items()) {
            if (found.contains(key) && found[key].contains(column)) {
                EXPECT_EQ(found[key][column], value) << key << " " << column;
            }
        }
    }
    EXPECT_EQ(found.size(), wanted.size()) << json(found);
}

void ExampleExpectations::compare_statement(const json& row) {
    const std::string month = text_at(row, "month");
    const Timestamp from = instant(month + "-01T00:00:00Z");
    const int next = std::stoi(month.substr(5, 2)) % 12 + 1;
    const int year = std::stoi(month.substr(0, 4)) + (next == 1 ? 1 : 0);
    const std::string after = std::to_string(year) + "-" + (next < 10 ? "0" : "") +
                              std::to_string(next) + "-01T00:00:00Z";
    std::size_t rows = 0;
    const auto reader = one().read();
    const Statement statement =
        read_statement(*reader, AccountNumber{1},
                       first_id(*reader, AccountNumber{1}, CreatorId(text_at(row, "creator"))),
                       from, instant(after), [&rows](const auto&) {
                           ++rows;
                           return true;
                       });
    EXPECT_EQ(statement.is_closed ? "closed" : "open: may change", text_at(row, "status"));
    EXPECT_EQ(rows, row.at("rows").get<std::size_t>());
    json sums = json::array();
    for (const auto& [key, sum] : statement.sums) {
        sums.push_back({{"program", key.first.str()},
                        {"currency", std::string(key.second.code())},
                        {"opening", sum.opening.to_string()},
                        {"earned", sum.earned.to_string()},
                        {"adjusted", sum.adjusted.to_string()},
                        {"paid_out", sum.paid_out.to_string()},
                        {"closing", sum.closing.to_string()}});
    }
    EXPECT_EQ(sums, row.at("sums"));
}

void ExampleExpectations::compare_codes(const json& wanted) {
    std::vector<json> found;
    one().read()->scan(CodeRow{}, {}, [&found](const CodeRow& row) {
        std::string code = row.code;
        std::transform(code.begin(), code.end(), code.begin(),
                       [](char c) { return static_cast<char>(std::toupper(c)); });
        found.push_back(json::array(
            {code, row.creator.str() + "@" + row.program.str(), row.valid_from.to_string(),
             row.valid_until ? json(row.valid_until->to_string()) : json()}));
        return true;
    });
    for (const json& row : wanted) {
        EXPECT_NE(std::find(found.begin(), found.end(), row), found.end())
            << row << " is not in " << json(found);
    }
}

}  // namespace sluice::test
