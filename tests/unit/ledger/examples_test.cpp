// The worked examples of tests/examples: files that a finance person can read, computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/apply/dry_run.hpp"
#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/payouts/plan.hpp"
#include "core/protocol/click_record.hpp"
#include "core/rules/account.hpp"
#include "core/rules/order_book.hpp"
#include "core/statements/statements.hpp"
#include "unit/ledger/example_edits.hpp"
#include "unit/ledger/example_expect.hpp"
#include "unit/ledger/example_inputs.hpp"
#include "unit/whole_form.hpp"

namespace sluice::test {
namespace {

using nlohmann::json;

std::string name_of(const Applied& applied) {
    switch (applied.input_class) {
        case InputClass::kApplied:
        case InputClass::kCatalog:
        case InputClass::kClicks:
            return "applied";
        case InputClass::kStale:
            return "stale";
        case InputClass::kDuplicate:
            return "duplicate";
        case InputClass::kCommand:
            break;
        case InputClass::kDead:
            return "dead";
    }
    switch (applied.outcome) {
        case CommandOutcome::kDone:
            return "done";
        case CommandOutcome::kRefused:
            return "refused";
        case CommandOutcome::kNothing:
            return "nothing";
        case CommandOutcome::kRepeated:
            return "repeated";
        case CommandOutcome::kPending:
            return "pending";
    }
    return "something else";
}

/// The files of the time before that show an anomaly of a later kind.
json with_gained(json example, const std::string& file) {
    static const std::map<std::string, json> gained{
        {"03-net-below-zero", json::array({"TAX_EXCEEDS_AMOUNT", "o1", 1, 1})},
        {"36-refund-on-line-of-zero", json::array({"COMMISSION_EXCEEDS_BASE", "o1", 1, 2})}};
    if (gained.contains(file)) {
        json anomalies = example.at("expect").value("anomalies", json::array());
        anomalies.push_back(gained.at(file));
        example["expect"]["anomalies"] = anomalies;
    }
    return example;
}

/// One example on one ledger.
class Example : ExampleExpectations {
public:
    Example(const json& example, Ledger& ledger)
        : ExampleExpectations(ledger, !example.at("expect").contains("journal")),
          example_(example) {
        const json nodes = example.value("nodes", json{{"one", std::string(Books::kNode)}});
        for (const auto& [name, uuid] : nodes.items()) {
            nodes_[name] = std::make_unique<Books>(ledger, uuid.get<std::string>());
            uuids_[name] = uuid.get<std::string>();
        }
        now_ = instant(text_at(example, "start", "2026-02-01T00:00:00Z"));
    }

    void run() {
        take({{"programs", example_.at("programs")}, {"policy", example_.value("policy", json())}});
        take({{"creators", example_.at("creators")}});
        for (const json& step : example_.at("steps")) {
            SCOPED_TRACE(step.dump());
            now_ = step.contains("received") ? instant(text_at(step, "received"))
                                             : now_.plus_seconds(1);
            run_step(step);
            compare(step.value("then", json::object()));
        }
        json expect = example_.at("expect");
        expect["anomalies"] = expect.value("anomalies", json::array());
        expect["payouts"] = expect.value("payouts", json::object());
        compare(expect);
        EXPECT_EQ(one().broken_invariant(), "");
        EXPECT_EQ(one().wrong_views(), "");
    }

private:
    Books& node(const json& step) { return *nodes_.at(text_at(step, "node", "one")); }

    /// Entries of the journal of a node, flat.
    struct Entry {
        JournalGroup group;
        JournalEntry entry;
        std::uint64_t number;
    };
    std::vector<Entry> entries(Books& books, std::uint64_t from) {
        std::vector<Entry> found;
        const auto reader = books.read();
        reader->scan_journal(1, [&](const JournalGroup& group) {
            for (std::size_t i = 0; i < group.entries.size(); ++i) {
                if (group.node == reader->head().node && group.first_entry + i >= from) {
                    found.push_back({group, group.entries[i], group.first_entry + i});
                }
            }
            return true;
        });
        return found;
    }

    std::string account_of(const json& step) {
        std::string fallback = "acme";
        if (step.contains("order") && text_at(step.at("order"), "shop") == "shop-9") {
            fallback = "other";
        }
        return text_at(step, "account", fallback);
    }

    void run_step(const json& step) {
        if (step.contains("edit")) {
            edit_and_audit(ledger_, uuids_.begin()->second, step, names_);
            return;
        }
        if (step.value("dry_run", false)) {
            try_out(step);
            return;
        }
        if (step.contains("preview")) {
            preview(step);
            return;
        }
        Books& books = node(step);
        const std::uint64_t before = books.read()->head().next_entry;
        const std::size_t payouts_before = payout_ids().size();
        const Applied applied = take(step);
        const bool is_command = applied.input_class == InputClass::kCommand;
        const std::string usual = step.contains("refused") ? "refused"
                                  : is_command             ? "done"
                                                           : "applied";
        EXPECT_EQ(name_of(applied), text_at(step, "becomes", usual)) << applied.text;
        const std::vector<std::string> payouts = payout_ids();
        for (std::size_t i = payouts_before; i < payouts.size(); ++i) {
            names_.payouts["P" + std::to_string(names_.payouts.size() + 1)] = payouts[i];
        }
        compare_words(step, applied);
        compare_entries(step, entries(books, before));
        if (step.contains("close") && !step.at("close").is_array() && !applied.failed) {
            std::vector<Skipped> skipped;
            const std::string run =
                command_id(uuids_.at(text_at(step, "node", "one")), books.last_seq(), now_);
            Skipped first;
            first.payout_run = run;
            books.read()->scan(first, {1, 1}, [&skipped](const Skipped& row) {
                skipped.push_back(row);
                return true;
            });
            compare_skipped(step, skipped);
        }
    }

    /// Rows [creator@program, orders, before, after, difference].
    void try_out(const json& step) {
        CommandContext context;
        context.source.received_at = now_;
        context.source.actor = text_at(step, "actor", "finance");
        context.source.note = text_at(step, "reason", "as agreed");
        context.account = {1};
        context.shop = {1};
        context.account_id = AccountId("acme");
        context.shop_id = ShopId("shop-1");
        const auto reader = node(step).read();
        const auto tried = dry_run(command_of(step, names_, now_), context, *reader);
        ASSERT_TRUE(tried.ok()) << tried.error().message;
        json printed = json::array();
        for (const DryRunRow& row : tried->rows) {
            const std::string currency = " " + std::string(row.currency.code());
            printed.push_back({row.creator.str() + "@" + row.program.str(), row.orders,
                               row.before.to_string() + currency, row.after.to_string() + currency,
                               row.difference.to_string() + currency});
        }
        EXPECT_EQ(printed, step.at("printed"));
    }

    std::vector<std::string> payout_ids() {
        // Sorted by command, then number. Ids of one second differ by a digest, so the entries
        // before a payout distinguish them.
        std::vector<std::string> ids;
        one().read()->scan_payouts([&](const Payout& payout) {
            const bool known =
                std::any_of(names_.payouts.begin(), names_.payouts.end(),
                            [&](const auto& name) { return name.second == payout.payout_id; });
            if (!known) {
                ids.push_back(payout.payout_id);
            }
            return true;
        });
        std::vector<std::string> all;
        for (const auto& [name, id] : names_.payouts) {
            all.push_back(id);
        }
        all.insert(all.end(), ids.begin(), ids.end());
        return all;
    }

    Applied take(const json& step) {
        Books& books = node(step);
        books.receive_at(now_.to_string());
        const std::string shop = step.contains("order") && step.at("order").is_object()
                                     ? text_at(step.at("order"), "shop", "shop-1")
                                     : (account_of(step) == "other" ? "shop-9" : "shop-1");
        books.from_shop(shop);
        books.actor = text_at(step, "actor", "finance");
        books.key = text_at(step, "key");
        books.reason = text_at(step, "reason", "as agreed");
        if (step.contains("order")) {
            return take_event(step, books);
        }
        if (step.contains("posted")) {
            return books.clicks(posted_clicks(step.at("posted")));
        }
        if (step.contains("followed")) {
            return books.raw(Topic::kClick, encode_clicks({ClickSource::kLink,
                                                           followed_links(step.at("followed"))}));
        }
        if (step.contains("products")) {
            return books.products(Topic::kProductUpsert, step.at("products").dump());
        }
        if (step.contains("delete_products")) {
            return books.products(Topic::kProductDelete, step.at("delete_products").dump());
        }
        if (step.contains("close") && step.at("close").is_array()) {
            return books.close(step.at("close").at(0).get<std::string>(),
                               step.at("close").at(1).get<std::string>());
        }
        if (step.contains("adjust")) {
            books.reason = text_at(step, "reason", step.at("adjust").at(2).get<std::string>());
        }
        Applied applied;
        try {
            applied = books.command(command_of(step, names_, now_));
        } catch (const RefusedFile& file) {  // as the command line does, before anything is sent
            return {InputClass::kCommand, true, file.what(), CommandOutcome::kRefused};
        }
        if (step.contains("name")) {
            names_.commands[text_at(step, "name")] =
                command_id(uuids_.at(text_at(step, "node", "one")), books.last_seq(), now_);
        }
        return applied;
    }

    Applied take_event(const json& step, Books& books) {
        const json& given = step.at("order");
        const Topic topic = *parse_name<Topic>(text_at(step, "topic"));
        const std::string id = text_at(given, "id");
        books.source = source_of(step);
        const Applied applied = topic == Topic::kOrderDelete
                                    ? books.remove(id, text_at(given, "updated"))
                                    : books.event(topic, order_of(given), text_at(step, "anon"));
        events_.emplace_back(text_at(step, "node", "one"), books.last_seq().value);
        if (applied.input_class == InputClass::kApplied) {
            last_event_[id] = events_.size();
        }
        return applied;
    }

    void preview(const json& step) {
        const PayoutClose close = close_of(step.at("preview"), names_, now_);
        const auto reader = one().read();
        const AccountSettings settings = account_settings(*reader, AccountNumber{1});
        const PlanRequest request{AccountNumber{1}, AccountId("acme"), close, now_};
        PayoutPlan plan(request, settings, *reader);
        const Status possible = plan.add_up();
        EXPECT_TRUE(possible.ok());
        plan.visit([](const PlannedPayout&) {});
        names_.digests[text_at(step, "name")] = to_hex(plan.digest());
        compare_skipped(step, plan.skipped());
    }

    // ---- After a step ---------------------------------------------------------------------------

    void compare_words(const json& step, const Applied& applied) {
        const json refused = step.value("refused", json());
        if (refused.is_string()) {
            EXPECT_EQ(applied.text, refused.get<std::string>());
        }
        json words = refused.is_array() ? refused : json::array();
        for (const json& word : step.value("says", json::array())) {
            words.push_back(word);
        }
        for (const json& word : words) {
            EXPECT_THAT(applied.text, testing::HasSubstr(names_.full(word.get<std::string>())));
        }
    }

    std::string payout_name(const std::string& id) {
        for (const auto& [name, known] : names_.payouts) {
            if (known == id) {
                return name;
            }
        }
        return id;
    }

    json posting_of(const Entry& e) {
        static const std::string letters = "-EOQD";
        const DebitCredit accounts = debit_credit_of(e.entry.reason);
        std::string what =
            e.group.order_id.empty() ? "" : e.group.order_id.str() + "/" + e.entry.line.str();
        if (!e.group.payout_id.empty()) {
            what = payout_name(e.group.payout_id);
        }
        const std::string pair{letters[static_cast<std::size_t>(accounts.debit)],
                               letters[static_cast<std::size_t>(accounts.credit)]};
        return json::array(
            {pair, e.group.creator.str() + "@" + e.group.program.str(), what,
             money(e.entry.amount, e.entry.currency), std::string(to_string(e.entry.reason)),
             json{{"accounting_date", e.group.accounting_date.to_string()},
                  {"refers_to", e.entry.refers_to == 0 ? json() : json(e.entry.refers_to)}}});
    }

    json memo_of(const Entry& e) {
        std::string about = e.group.creator.str();
        if (!e.group.order_id.empty()) {
            about = e.group.order_id.str();
        } else if (!e.group.payout_id.empty()) {
            about = payout_name(e.group.payout_id);
        }
        return json::array({std::string(to_string(e.entry.reason)), about, e.group.actor});
    }

    void compare_entries(const json& step, const std::vector<Entry>& entries) {
        std::vector<json> postings, memos;
        for (const Entry& e : entries) {
            (is_memo(e.entry.reason) ? memos : postings)
                .push_back(is_memo(e.entry.reason) ? memo_of(e) : posting_of(e));
            note_journal(e);
        }
        if (step.contains("refused")) {
            EXPECT_TRUE(entries.empty());
        }
        if (strict_) {
            compare_rows("postings", postings, step.value("postings", json::array()));
        }
        if (step.contains("memos")) {
            compare_rows("memos", memos, step.at("memos"));
        }
    }

    /// Rows of the files of the time before: what goes into `owed` but for payouts.
    void note_journal(const Entry& e) {
        if (is_memo(e.entry.reason) || !e.group.payout_id.empty()) {
            return;
        }
        std::size_t event = event_number("one", e.group.event_seq.value);
        if (e.entry.reason == JournalReason::kAttribution && event == 0) {
            event = last_event_.at(e.group.order_id.str());
        }
        journal_.push_back(json::array({event == 0 ? json("adjust") : json(event),
                                        e.group.order_id.str() + "/" + e.entry.line.str(),
                                        money(e.entry.amount, e.entry.currency),
                                        std::string(to_string(e.entry.reason))}));
    }

    void compare_skipped(const json& step, const std::vector<Skipped>& skipped) {
        std::vector<json> rows;
        for (const Skipped& row : skipped) {
            rows.push_back(json::array({shown(row.creator), money(row.amount, row.currency),
                                        std::string(to_string(row.skip_reason))}));
        }
        compare_rows("skipped", rows, step.value("skipped", json::array()));
    }

    json example_;
    std::map<std::string, std::string> uuids_;
    std::map<std::string, std::size_t> last_event_;
};

const std::vector<std::filesystem::path>& example_files() {
    static const std::vector<std::filesystem::path> files = [] {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 std::string(SLUICE_TEST_DATA) + "/examples")) {
            if (entry.path().extension() == ".json") {
                found.push_back(entry.path());
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }();
    return files;
}

using ExampleOnLedger = std::tuple<LedgerKind, std::filesystem::path>;

/// Each example on each kind of ledger. The short form has a quarter of them on PostgreSQL, where
/// an example takes as long as all of them in memory.
std::vector<ExampleOnLedger> examples_on_ledgers() {
    const std::size_t step = whole_or_short<std::size_t>(1, 4);
    std::vector<ExampleOnLedger> examples;
    for (const LedgerKind& kind : ledger_kinds()) {
        for (std::size_t i = 0; i < example_files().size(); i += kind.is_on_a_server() ? step : 1) {
            examples.emplace_back(kind, example_files()[i]);
        }
    }
    return examples;
}

class WorkedExamples : public testing::TestWithParam<ExampleOnLedger> {};

TEST_P(WorkedExamples, ComputesTheExpectedBooks) {
    const auto& [kind, path] = GetParam();
    std::ifstream file(path);
    const json example = json::parse(file);
    SCOPED_TRACE(text_at(example, "title") + ": " + text_at(example, "why"));
    const std::unique_ptr<Ledger> ledger = kind.make();
    Example(with_gained(example, path.stem()), *ledger).run();
}

INSTANTIATE_TEST_SUITE_P(
    , WorkedExamples, testing::ValuesIn(examples_on_ledgers()), [](const auto& parameters) {
        std::string name =
            std::get<0>(parameters.param).name + "_" +
            (std::get<1>(parameters.param).parent_path().stem() == "books" ? "books_" : "") +
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
    EXPECT_GE(example_files().size(), 170U);
    EXPECT_THAT(rules, testing::ElementsAre("A1", "A2", "A3", "A4", "C1", "D1", "F1", "F2", "H1",
                                            "H2", "H3", "J1", "J3", "J4", "K1", "K11", "K6", "K7",
                                            "K8", "M1", "M2", "M3", "M4", "O1", "O1a", "O2", "O3",
                                            "O4", "O5", "O7", "P1", "P2", "P3", "P4", "P5", "R1",
                                            "R2", "R3", "S1", "S2", "S3", "S4"));
}

}  // namespace
}  // namespace sluice::test
