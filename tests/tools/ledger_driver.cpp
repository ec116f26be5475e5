// Ledger driver: the rules without nginx and queue, for tests/model/test_core_histories.py.
//
// Reads one JSON request a line, writes one JSON answer a line. With a folder as argument the
// ledger is the embedded one, else one in memory.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/rules/balance.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/open_amounts.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/posting.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/memory_ledger.hpp"

namespace sluice::test {
namespace {

using Json = nlohmann::json;

// The account and the shops of Books.
const std::map<std::uint32_t, std::string> kShops{{1, "shop-1"}, {2, "shop-2"}};
constexpr AccountNumber kAccount{1};

std::string text(const Json& request, const char* name) {
    return request.at(name).get<std::string>();
}

// -- Inputs -------------------------------------------------------------------------------------

Applied event(Books& books, const Json& request) {
    return books.raw(*parse_topic(text(request, "topic")), text(request, "body"),
                     text(request, "anon"));
}

Applied products(Books& books, const Json& request) {
    return books.raw(*parse_topic(text(request, "topic")), text(request, "body"));
}

Program program_of(const Json& file) {
    Program made = program(text(file, "id"), text(file, "default_rate"));
    made.shops = file.at("shops").get<std::vector<std::string>>();
    made.window_days = file.at("window_days");
    made.hold_days = file.at("hold_days");
    made.base = *parse_base_kind(text(file, "base"));
    made.precedence.clear();
    for (const Json& type : file.at("precedence")) {
        made.precedence.push_back(*parse_attribution_type(type.get<std::string>()));
    }
    for (const Json& one : file.at("rule")) {
        made.rules.push_back(
            rule(*parse_rule_match(text(one, "match")), text(one, "value"), text(one, "rate")));
    }
    return made;
}

Applied programs(Books& books, const Json& request) {
    std::vector<Program> made;
    for (const Json& file : request.at("programs")) {
        made.push_back(program_of(file));
    }
    return books.apply(std::move(made));
}

Applied creators(Books& books, const Json& request) {
    std::vector<CreatorImport::Row> rows;
    for (const Json& row : request.at("rows")) {
        const auto cells = row.get<std::vector<std::string>>();
        rows.push_back({static_cast<std::uint32_t>(rows.size() + 2), CreatorId(cells.at(0)),
                        ProgramId(cells.at(1)), cells.at(2)});
    }
    return books.creators(rows);
}

Applied touches(Books& books, const Json& request) {
    TouchImport import;
    for (const Json& row : request.at("rows")) {
        const auto cells = row.get<std::vector<std::string>>();
        import.rows.push_back({static_cast<std::uint32_t>(import.rows.size() + 2),
                               AnonId(cells.at(0)), CreatorId(cells.at(1)), ProgramId(cells.at(2)),
                               instant(cells.at(3))});
    }
    return books.command(import);
}

Applied leave(Books& books, const Json& request) {
    CreatorRemove command{
        CreatorId(text(request, "creator")), ProgramId(text(request, "program")), {}};
    if (!request.at("code").is_null()) {
        command.code = text(request, "code");
    }
    return books.command(command);
}

Applied close(Books& books, const Json& request) {
    return books.close(text(request, "program"), text(request, "until"));
}

Applied adjust(Books& books, const Json& request) {
    return books.adjust(text(request, "order"), text(request, "amount"));
}

// -- Reports ------------------------------------------------------------------------------------

Json order_row(const OrderState& state, const std::string& shop) {
    const StandingRefunds refunds(state.refunds);
    const CommissionAmount commission = commission_amount(state);
    Json types = Json::array();
    Json creator, program_id;
    if (state.live) {
        const Attribution& given = state.position()->attribution;
        creator = given.creator.str();
        program_id = given.program.str();
        for (const AttributionType type :
             {AttributionType::kAffiliateCode, AttributionType::kLanded}) {
            if ((given.types & static_cast<std::uint8_t>(type)) != 0) {
                types.push_back(to_string(type));
            }
        }
    }
    return {{"order_id", state.key.order_id.str()},
            {"shop_id", shop},
            {"account_id", "acme"},
            {"creator_id", creator},
            {"program_id", program_id},
            {"attribution_types", types},
            {"commission_amount", commission.amount.to_string()},
            {"amount", state.amount},
            {"tax", state.tax},
            {"shipping", state.shipping},
            {"refund_amount", refunds.amount_sum().to_string()},
            {"refund_tax", refunds.tax_sum().to_string()},
            {"currency", state.currency.code()},
            {"cancelled_at", state.cancelled_at ? Json(state.cancelled_at->to_string()) : Json()},
            {"ordered_at", state.ordered_at.to_string()},
            {"last_updated_at", state.version.to_string()}};
}

Json orders(LedgerReader& reader) {
    Json rows = Json::array();
    for (const auto& [number, shop] : kShops) {
        reader.scan_orders(kAccount, {number}, [&rows, &shop = shop](const OrderState& state) {
            rows.push_back(order_row(state, shop));
            return true;
        });
    }
    return rows;
}

/// Transfers between expense and owed: what the model's journal has.
Json journal(LedgerReader& reader) {
    Json rows = Json::array();
    reader.scan_journal(1, [&rows](const JournalGroup& group) {
        std::uint64_t entry = group.first_entry;
        for (const JournalEntry& line : group.entries) {
            const std::uint64_t number = entry++;
            if (books_of(line.reason).from != Book::kExpense) {
                continue;
            }
            rows.push_back({{"entry", number},
                            {"event_seq", group.event_seq.value},
                            {"shop_id", kShops.at(group.shop.value)},
                            {"order_id", group.order_id.str()},
                            {"line_item_id", line.line.str()},
                            {"creator_id", group.creator.str()},
                            {"program_id", group.program.str()},
                            {"currency", line.currency.code()},
                            {"amount", line.amount.to_string()},
                            {"reason", to_string(line.reason)},
                            {"recorded_at", group.recorded_at.to_string()}});
        }
        return true;
    });
    return rows;
}

Json anomalies(LedgerReader& reader) {
    Json rows = Json::array();
    for (const auto& [number, shop] : kShops) {
        reader.scan_anomalies(kAccount, {number}, [&rows, &shop = shop](const Anomaly& row) {
            rows.push_back({{"event_seq", row.first_seq.value},
                            {"shop_id", shop},
                            {"order_id", row.order.order_id.str()},
                            {"kind", to_string(row.kind)},
                            {"count", row.count},
                            {"message", row.message}});
            return true;
        });
    }
    return rows;
}

Json catalog(LedgerReader& reader) {
    Json rows = Json::array();
    for (const auto& [number, shop] : kShops) {
        reader.scan_catalog(kAccount, {number}, [&rows, &shop = shop](const CatalogRecord& record) {
            Json row = Json::parse(record.json);
            row["shop_id"] = shop;
            rows.push_back(std::move(row));
            return true;
        });
    }
    return rows;
}

Json balances(LedgerReader& reader, Timestamp now) {
    Json rows = Json::array();
    balances_at(reader, kAccount, now, [&rows](const BalanceAt& row) {
        rows.push_back({{"account_id", "acme"},
                        {"program_id", row.key.program.str()},
                        {"creator_id", row.key.creator.str()},
                        {"currency", row.key.currency.code()},
                        {"pending", row.pending.to_string()},
                        {"payable", row.payable.to_string()},
                        {"paid", row.paid.to_string()},
                        {"total", row.total.to_string()}});
        return true;
    });
    return rows;
}

Json payouts(LedgerReader& reader) {
    Json rows = Json::array();
    std::vector<Payout> payouts;
    reader.scan_payouts([&payouts](const Payout& payout) {
        payouts.push_back(payout);
        return true;
    });
    for (const Payout& payout : payouts) {
        ProgramId program;  // a close of one program has one part
        reader.scan(PayoutPart{payout.payout_id, {}, {}}, {1, 1},
                    [&program](const PayoutPart& part) {
                        program = part.program;
                        return false;
                    });
        rows.push_back({{"payout_id", payout.payout_id},
                        {"program_id", program.str()},
                        {"creator_id", payout.creator.str()},
                        {"currency", payout.currency.code()},
                        {"amount", payout.amount.to_string()},
                        {"until", payout.until.to_string()}});
    }
    return rows;
}

Json report(Books& books, const Json& request) {
    const std::unique_ptr<LedgerReader> reader = books.read();
    const Totals totals = books.totals();
    return {{"orders", orders(*reader)},
            {"journal", journal(*reader)},
            {"anomalies", anomalies(*reader)},
            {"products", catalog(*reader)},
            {"balances", balances(*reader, instant(text(request, "now")))},
            {"payouts", payouts(*reader)},
            {"stats",
             {{"applied", totals.applied},
              {"stale", totals.stale},
              {"duplicate", totals.duplicate},
              {"catalog", totals.catalog},
              {"commands", totals.commands},
              {"dead", totals.dead},
              {"depth", 0}}},
            {"broken", books.broken_invariant()}};
}

// -- Requests -----------------------------------------------------------------------------------

Json answer(Books& books, const Json& request) {
    static const std::map<std::string, std::function<Applied(Books&, const Json&)>> kInputs{
        {"event", event},       {"products", products}, {"programs", programs},
        {"creators", creators}, {"touches", touches},   {"leave", leave},
        {"close", close},       {"adjust", adjust},
    };
    const std::string op = text(request, "op");
    if (op == "report") {
        return report(books, request);
    }
    books.receive_at(text(request, "at"));
    if (request.contains("shop")) {
        books.from_shop(text(request, "shop"));
    }
    const Applied applied = kInputs.at(op)(books, request);
    return {{"seq", books.last_seq().value},
            {"failed", applied.failed || applied.input_class == InputClass::kDead},
            {"text", applied.text}};
}

std::unique_ptr<Ledger> open_ledger(int argc, char** argv) {
    if (argc < 2) {
        return std::make_unique<MemoryLedger>();
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directory(folder);
    if (const Status made = store::EmbeddedLedger::create(folder); !made) {
        throw std::runtime_error(made.error().message);
    }
    auto opened = store::EmbeddedLedger::open(folder, store::EmbeddedLedger::Mode::kReadWrite);
    if (!opened) {
        throw std::runtime_error(opened.error().message);
    }
    return std::move(opened).value();
}

int serve(int argc, char** argv) {
    const std::unique_ptr<Ledger> ledger = open_ledger(argc, argv);
    Books books(*ledger);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::cout << answer(books, Json::parse(line)).dump() << std::endl;
    }
    return 0;
}

}  // namespace
}  // namespace sluice::test

int main(int argc, char** argv) {
    try {
        return sluice::test::serve(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "ledger_driver: " << error.what() << "\n";
        return 1;
    }
}
