// The worked examples of tests/examples: files that a finance person can read, computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/rules/balance.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/order_book.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* name, std::string fallback = {}) {
    return object.contains(name) ? object.at(name).get<std::string>() : std::move(fallback);
}

Program program_of(const json& value) {
    Program made = program(text_at(value, "id"), text_at(value, "default_rate"));
    made.window_days = value.value("window_days", made.window_days);
    made.hold_days = value.value("hold_days", made.hold_days);
    made.base = *parse_base_kind(text_at(value, "base", "net"));
    if (value.contains("shops")) {
        made.shops = value.at("shops").get<std::vector<std::string>>();
    }
    if (value.contains("precedence")) {
        made.precedence.clear();
        for (const json& type : value.at("precedence")) {
            made.precedence.push_back(*parse_attribution_type(type.get<std::string>()));
        }
    }
    for (const json& row : value.value("rules", json::array())) {
        made.rules.push_back(rule(*parse_rule_match(row.at(0).get<std::string>()),
                                  row.at(1).get<std::string>(), row.at(2).get<std::string>()));
    }
    return made;
}

LineText line_of(const json& value) {
    LineText line;
    line.id = text_at(value, "id", line.id);
    line.amount = text_at(value, "amount", line.amount);
    line.tax = text_at(value, "tax", line.tax);
    line.quantity = text_at(value, "quantity", line.quantity);
    line.sku = text_at(value, "sku", line.sku);
    line.variant_sku = text_at(value, "variant_sku");
    return line;
}

RefundText refund_of(const json& value) {
    RefundText refund;
    refund.id = text_at(value, "id", refund.id);
    refund.line = text_at(value, "line", refund.line);
    refund.amount = text_at(value, "amount");
    refund.tax = text_at(value, "tax", refund.tax);
    refund.quantity = text_at(value, "quantity", refund.quantity);
    return refund;
}

OrderText order_of(const json& value) {
    OrderText order;
    order.id = text_at(value, "id", order.id);
    order.ordered = text_at(value, "ordered", order.ordered);
    order.updated = text_at(value, "updated");
    order.cancelled = text_at(value, "cancelled");
    order.currency = text_at(value, "currency", order.currency);
    order.codes = value.value("codes", std::vector<std::string>{});
    order.lines.clear();
    for (const json& line : value.at("lines")) {
        order.lines.push_back(line_of(line));
    }
    for (const json& refund : value.value("refunds", json::array())) {
        order.refunds.push_back(refund_of(refund));
    }
    if (order.updated.empty()) {
        order.updated = order.ordered;
    }
    return order;
}

std::string name_of(InputClass input_class) {
    switch (input_class) {
        case InputClass::kApplied:
            return "applied";
        case InputClass::kStale:
            return "stale";
        case InputClass::kDuplicate:
            return "duplicate";
        default:
            return "something else";
    }
}

/// One example on one ledger.
class Example {
public:
    Example(const json& example, Ledger& ledger) : example_(example), books_(ledger) {}

    void run() {
        apply_programs(example_.at("programs"));
        import_creators(example_.at("creators"));
        for (const json& step : example_.at("steps")) {
            SCOPED_TRACE(step.dump());
            books_.receive_at(text_at(step, "received", "2026-02-01T00:00:00Z"));
            const Applied applied = take(step);
            EXPECT_EQ(applied.failed ? applied.text : "", text_at(step, "refused"));
        }
        const json& expect = example_.at("expect");
        compare_orders(expect.at("orders"));
        compare_journal(expect.at("journal"));
        compare_anomalies(expect.value("anomalies", json::array()));
        compare_payouts(expect.value("payouts", json::array()));
        for (const json& balances : expect.value("balances", json::array())) {
            compare_balances(balances);
        }
        EXPECT_EQ(books_.broken_invariant(), "");
    }

private:
    Applied apply_programs(const json& values) {
        std::vector<Program> programs;
        for (const json& value : values) {
            programs.push_back(program_of(value));
        }
        return books_.apply(std::move(programs));
    }

    Applied import_creators(const json& values) {
        std::vector<CreatorImport::Row> rows;
        for (const json& row : values) {
            rows.push_back({static_cast<std::uint32_t>(rows.size() + 2),
                            CreatorId(row.at(0).get<std::string>()),
                            ProgramId(row.at(1).get<std::string>()), row.at(2)});
        }
        return books_.creators(rows);
    }

    Applied import_touches(const json& values) {
        TouchImport import;
        for (const json& row : values) {
            import.rows.push_back(
                {static_cast<std::uint32_t>(import.rows.size() + 2),
                 AnonId(row.at(0).get<std::string>()), CreatorId(row.at(1).get<std::string>()),
                 ProgramId(row.at(2).get<std::string>()), instant(row.at(3).get<std::string>())});
        }
        return books_.command(import);
    }

    Applied take_event(const json& step) {
        const Topic topic = *parse_topic(text_at(step, "topic"));
        const Applied applied =
            books_.event(topic, order_of(step.at("order")), text_at(step, "anon"));
        EXPECT_EQ(name_of(applied.input_class), text_at(step, "becomes", "applied"));
        events_.push_back(books_.last_seq().value);
        return applied;
    }

    Applied take(const json& step) {
        if (step.contains("order")) {
            return take_event(step);
        }
        if (step.contains("touches")) {
            return import_touches(step.at("touches"));
        }
        if (step.contains("creators")) {
            return import_creators(step.at("creators"));
        }
        if (step.contains("programs")) {
            return apply_programs(step.at("programs"));
        }
        if (step.contains("products")) {
            return books_.products(Topic::kProductUpsert, step.at("products").dump());
        }
        if (step.contains("delete_products")) {
            return books_.products(Topic::kProductDelete, step.at("delete_products").dump());
        }
        if (step.contains("remove")) {
            return books_.command(
                CreatorRemove{CreatorId(step.at("remove").at(0).get<std::string>()),
                              ProgramId(step.at("remove").at(1).get<std::string>()), std::nullopt});
        }
        if (step.contains("close")) {
            return books_.close(step.at("close").at(0).get<std::string>(),
                                step.at("close").at(1).get<std::string>());
        }
        const json& adjust = step.at("adjust");
        return books_.adjust(adjust.at(0).get<std::string>(), adjust.at(1).get<std::string>(),
                             adjust.at(2).get<std::string>());
    }

    json row_of(const std::string& id) {
        const OrderState state = books_.order(id);
        const StandingRefunds refunds(state.refunds);
        json row;
        row["creator"] = state.attribution ? json(state.attribution->creator.str()) : json();
        row["program"] = state.attribution ? json(state.attribution->program.str()) : json();
        row["types"] = json::array();
        const unsigned types = state.attribution ? state.attribution->types : 0;
        for (const auto type : {AttributionType::kAffiliateCode, AttributionType::kLanded}) {
            if ((types & static_cast<unsigned>(type)) != 0) {
                row["types"].push_back(std::string(to_string(type)));
            }
        }
        row["commission"] = books_.commission(id);
        row["refund"] = refunds.amount_sum().to_string();
        row["refund_tax"] = refunds.tax_sum().to_string();
        row["cancelled"] = state.cancelled_at.has_value();
        return row;
    }

    void compare_orders(const json& expected) {
        for (const auto& [id, members] : expected.items()) {
            const json actual = row_of(id);
            for (const auto& [name, value] : members.items()) {
                EXPECT_EQ(actual.at(name), value) << id << "." << name;
            }
        }
        EXPECT_EQ(books_.totals().orders, expected.size());
    }

    /// The number of an event within the file; 0: no event of it.
    std::uint64_t event_number(std::uint64_t seq) const {
        const auto found = std::find(events_.begin(), events_.end(), seq);
        return found == events_.end() ? 0 : static_cast<std::uint64_t>(found - events_.begin()) + 1;
    }

    void compare_journal(const json& expected) {
        std::vector<std::string> wanted;
        for (const json& row : expected) {
            wanted.push_back(row.dump());
        }
        std::vector<std::string> actual;
        books_.read()->scan_journal(1, [&](const JournalGroup& group) {
            const std::uint64_t event = event_number(group.event_seq.value);
            for (const JournalLine& entry : group.lines) {
                json row = json::array();
                row.push_back(event == 0 ? json("adjust") : json(event));
                row.push_back(group.order.order_id.str() + "/" + entry.line.str());
                row.push_back(entry.amount.to_string() + " " + std::string(entry.currency.code()));
                row.push_back(std::string(to_string(entry.reason)));
                actual.push_back(row.dump());
            }
            return true;
        });
        EXPECT_THAT(actual, testing::UnorderedElementsAreArray(wanted));
    }

    void compare_anomalies(const json& expected) {
        std::vector<std::string> wanted;
        for (const json& row : expected) {
            wanted.push_back(
                row.at(0).get<std::string>() + " " + row.at(1).get<std::string>() +
                " first=" + std::to_string(events_.at(row.at(2).get<std::size_t>() - 1)) +
                " count=" + std::to_string(row.at(3).get<unsigned>()));
        }
        EXPECT_THAT(books_.anomalies(), testing::UnorderedElementsAreArray(wanted));
    }

    void compare_payouts(const json& expected) {
        std::vector<std::string> wanted;
        for (const json& row : expected) {
            wanted.push_back(row.at(0).get<std::string>() + "@" + row.at(1).get<std::string>() +
                             " " + row.at(2).get<std::string>() +
                             " orders=" + std::to_string(row.at(3).get<unsigned>()));
        }
        EXPECT_THAT(books_.payouts(), testing::ElementsAreArray(wanted));
    }

    void compare_balances(const json& expected) {
        std::vector<std::string> wanted;
        for (const json& row : expected.at("rows")) {
            wanted.push_back(text_at(row, "creator") + "@" + text_at(row, "program") + " " +
                             text_at(row, "currency") + " pending=" + text_at(row, "pending") +
                             " payable=" + text_at(row, "payable") +
                             " paid=" + text_at(row, "paid") + " total=" + text_at(row, "total"));
        }
        EXPECT_THAT(books_.balances(text_at(expected, "at")), testing::ElementsAreArray(wanted));
    }

    const json& example_;
    Books books_;
    std::vector<std::uint64_t> events_;
};

const std::vector<std::filesystem::path>& example_files() {
    static const std::vector<std::filesystem::path> files = [] {
        std::vector<std::filesystem::path> found;
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(SLUICE_TEST_DATA) + "/examples")) {
            if (entry.path().extension() == ".json") {
                found.push_back(entry.path());
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }();
    return files;
}

class WorkedExamples
    : public testing::TestWithParam<std::tuple<LedgerKind, std::filesystem::path>> {};

TEST_P(WorkedExamples, ComputesWhatTheFileSays) {
    const auto& [kind, path] = GetParam();
    std::ifstream file(path);
    const json example = json::parse(file);
    SCOPED_TRACE(text_at(example, "title") + ": " + text_at(example, "why"));
    const std::unique_ptr<Ledger> ledger = kind.make();
    Example(example, *ledger).run();
}

INSTANTIATE_TEST_SUITE_P(, WorkedExamples,
                         testing::Combine(testing::ValuesIn(ledger_kinds()),
                                          testing::ValuesIn(example_files())),
                         [](const auto& parameters) {
                             std::string name = std::get<0>(parameters.param).name + "_" +
                                                std::get<1>(parameters.param).stem().string();
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(WorkedExampleFiles, AreAtLeastSixtyAndNameTheirRules) {
    std::set<std::string> rules;
    for (const auto& path : example_files()) {
        std::ifstream file(path);
        const json example = json::parse(file);
        for (const json& name : example.at("rules")) {
            rules.insert(name.get<std::string>());
        }
    }
    EXPECT_GE(example_files().size(), 60U);
    EXPECT_THAT(rules, testing::ElementsAre("A1", "A2", "C1", "J1", "M1", "M2", "M3", "O1", "O2",
                                            "O3", "P1", "R1", "R2", "R3"));
}

}  // namespace
}  // namespace sluice::test
