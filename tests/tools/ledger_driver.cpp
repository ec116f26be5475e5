// Ledger driver: the rules and the reports without nginx, queue and command line, for tests/model.
//
// Reads one JSON request a line; answers with JSON and a line of a single dot. The ledger is the
// embedded one in the folder that is given, or the PostgreSQL of a URL; without an argument one in
// memory. Steps are those of the worked examples (tests/examples/README.md).
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/apply/dry_run.hpp"
#include "core/approvals/signed_approval.hpp"
#include "core/commands/ids.hpp"
#include "core/explain/cause.hpp"
#include "core/lists/report.hpp"
#include "core/payouts/plan.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "program/cli/cli_values.hpp"
#include "tool/reports/payouts.hpp"
#include "tool/reports/statements.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/books_views.hpp"
#include "unit/ledger/example_inputs.hpp"
#include "unit/ledger/memory_ledger.hpp"

namespace sluice::test {
namespace {

using nlohmann::json;

constexpr AccountNumber kAccount{1};

lists::ReportFilter filter() {
    lists::ReportFilter only;
    only.account = AccountId("acme");
    return only;
}

// -- Inputs -------------------------------------------------------------------------------------

Applied take(Books& books, const json& request) {
    const std::string op = text_at(request, "op");
    if (op != "command") {
        books.source = source_of(request);
        return books.raw(*parse_name<Topic>(text_at(request, "topic")), text_at(request, "body"),
                         text_at(request, "anon"));
    }
    books.actor = text_at(request, "actor");
    books.key = text_at(request, "key");
    books.reason = text_at(request, "reason");
    const Timestamp now = instant(text_at(request, "at"));
    return books.command(command_of(request.at("step"), {}, now));
}

const char* class_of(const Applied& applied) {
    switch (applied.input_class) {
        case InputClass::kApplied:
            return "applied";
        case InputClass::kStale:
            return "stale";
        case InputClass::kDuplicate:
            return "duplicate";
        case InputClass::kCatalog:
        case InputClass::kClicks:
            return "applied";
        case InputClass::kDead:
            return "dead";
        case InputClass::kCommand:
            break;
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
    std::abort();
}

void input(Books& books, const json& request) {
    books.receive_at(text_at(request, "at"));
    books.from_shop(text_at(request, "shop", "shop-1"));
    books.names_shop = request.contains("shop");
    const Applied applied = take(books, request);
    std::string id;
    if (const auto row = books.read()->command(books.last_seq())) {
        id = row->first_command.empty() ? row->command_id : row->first_command;
    }
    std::printf("%s\n", json{{"seq", books.last_seq().value},
                             {"outcome", class_of(applied)},
                             {"command_id", id},
                             {"text", applied.text}}
                            .dump()
                            .c_str());
}

// -- Looks --------------------------------------------------------------------------------------

json codes(LedgerReader& reader) {
    json rows = json::array();
    CodeRow first;
    first.account = kAccount;
    reader.scan(first, {1, 1}, [&rows](const CodeRow& row) {
        rows.push_back({row.program.str(), row.code, row.creator.str(), row.valid_from.to_string(),
                        row.valid_until ? json(row.valid_until->to_string()) : json()});
        return true;
    });
    return rows;
}

json stats(const Totals& totals) {
    return {
        {"applied", totals.applied}, {"stale", totals.stale},       {"duplicate", totals.duplicate},
        {"catalog", totals.catalog}, {"commands", totals.commands}, {"clicks", totals.clicks},
        {"dead", totals.dead}};
}

void print_reports(Books& books, const json& request) {
    const std::unique_ptr<LedgerReader> reader = books.read();
    const Timestamp now = instant(text_at(request, "now"));
    std::printf("{");
    for (const lists::Report& report : lists::reports()) {
        std::printf("\"%s\": ", std::string(report.name).c_str());
        cli::Listing listing(cli::Format::kJson, report.columns);
        report.write(*reader, filter(), now, listing);
        listing.finish();
        std::printf(",");
    }
    std::printf("\"items\": ");
    cli::Listing items(cli::Format::kJson, lists::payout_item_list().columns());
    std::vector<Payout> payouts;
    reader->scan_payouts([&payouts](const Payout& payout) {
        payouts.push_back(payout);
        return true;
    });
    for (const Payout& payout : payouts) {
        lists::write_payout_items(*reader, payout, items);
    }
    items.finish();
    std::printf(",\"codes\": %s, \"stats\": %s, \"broken\": %s}\n", codes(*reader).dump().c_str(),
                stats(reader->head().totals).dump().c_str(),
                json(books.broken_invariant() + books.wrong_views()).dump().c_str());
}

void statement(Books& books, const json& request) {
    const auto month = cli::parse_month(text_at(request, "month"));
    cli::write_statement(
        *books.read(),
        {kAccount, AccountId("acme"), CreatorId(text_at(request, "creator")), month.value()},
        cli::Format::kJson);
}

/// Prints the text that an approver signs (K5), or null if the subject does not wait.
void approval(Books& books, const json& request) {
    const auto reader = books.read();
    const auto shown = shown_approval(*reader, kAccount, AccountId("acme"), text_at(request, "id"),
                                      reader->head().last_received);
    const json text = shown && shown->subject.waits()
                          ? json(approval_statement(*reader, AccountId("acme"), shown->subject))
                          : json();
    std::printf("%s\n", json{{"statement", text}}.dump().c_str());
}

void preview(Books& books, const json& request) {
    const Timestamp now = instant(text_at(request, "at"));
    const PayoutClose close = close_of(request.at("step").at("close"), {}, now);
    const auto reader = books.read();
    const AccountSettings settings = account_settings(*reader, kAccount);
    const PlanRequest asked{kAccount, AccountId("acme"), close, now};
    PayoutPlan plan(asked, settings, *reader);
    if (const Status possible = plan.add_up(); !possible) {
        std::printf("%s\n", json{{"refused", possible.error().message}}.dump().c_str());
        return;
    }
    cli::PayoutRunListing listing(cli::Format::kJson, *reader, kAccount, AccountId("acme"));
    plan.visit([&](const PlannedPayout& planned) { listing.add(planned, close.until); });
    listing.finish(plan.skipped(), to_hex(plan.digest()));
}

/// Lists the payouts and the skipped creators of a close.
void run(Books& books, const json& request) {
    const auto reader = books.read();
    PayoutRun row;
    row.payout_run = text_at(request, "run");
    if (!reader->load(row)) {
        throw std::invalid_argument("no run " + row.payout_run);
    }
    cli::PayoutRunListing listing(cli::Format::kJson, *reader, kAccount, AccountId("acme"));
    for (const Payout& payout : payouts_of_run(*reader, row.payout_run)) {
        listing.add(payout);
    }
    listing.finish(lists::skipped_of(*reader, row.payout_run), to_hex(row.digest));
}

/// Lists why each order is, or is not, each creator's.
void causes(Books& books, const json& request) {
    const auto reader = books.read();
    const Timestamp now = instant(text_at(request, "now"));
    std::vector<CreatorId> creators;
    CreatorRow first;
    first.account = kAccount;
    reader->scan(first, {1, 1}, [&creators](const CreatorRow& row) {
        creators.push_back(row.creator);
        return true;
    });
    json rows = json::array();
    reader->scan_shops([&](const ShopRow& shop) {
        if (shop.account == kAccount) {
            reader->scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
                for (const CreatorId& creator : creators) {
                    const Cause cause = find_cause(*reader, order, creator, now).cause;
                    rows.push_back({shop.shop_id.str(), order.key.order_id.str(), creator.str(),
                                    std::string(to_string(cause))});
                }
                return true;
            });
        }
        return true;
    });
    std::printf("%s\n", rows.dump().c_str());
}

/// The archive gives the same rows, in whichever kind of ledger.
void rebuild(Books& books, const json&) {
    MemoryLedger memory;
    Books again(memory);
    again.rebuild_from(books.archive());
    std::printf("%s\n", json{{"equal", again.dump() == books.dump()}}.dump().c_str());
}

// -- Requests -----------------------------------------------------------------------------------

void answer(Books& books, const json& request) {
    static const std::map<std::string, std::function<void(Books&, const json&)>> ops{
        {"event", input},         {"command", input},     {"reports", print_reports},
        {"statement", statement}, {"preview", preview},   {"run", run},
        {"rebuild", rebuild},     {"approval", approval}, {"causes", causes},
    };
    ops.at(text_at(request, "op"))(books, request);
    std::printf(".\n");
    std::fflush(stdout);
}

template <class Opened>
std::unique_ptr<Ledger> opened(Result<std::unique_ptr<Opened>> ledger) {
    if (!ledger) {
        throw std::runtime_error(ledger.error().message);
    }
    return std::move(ledger).value();
}

std::unique_ptr<Ledger> open_ledger(const std::string& where) {
    if (where.empty()) {
        return std::make_unique<MemoryLedger>();
    }
    if (where.starts_with("postgres://")) {
        const auto url = pg::Url::parse(where);
        if (const auto migrated = pg::migrate(url.value()); !migrated) {
            throw std::runtime_error(migrated.error().message);
        }
        return std::make_unique<ViewedLedger>(
            opened(pg::PostgresLedger::open(*url, pg::PostgresLedger::Mode::kReadWrite, {})), where,
            pg::Connection::open(*url, {}));
    }
    std::filesystem::create_directory(where);
    if (const Status made = store::EmbeddedLedger::create(where); !made) {
        throw std::runtime_error(made.error().message);
    }
    return opened(store::EmbeddedLedger::open(where, store::EmbeddedLedger::Mode::kReadWrite));
}

int serve(const std::string& where) {
    const std::unique_ptr<Ledger> ledger = open_ledger(where);
    Books books(*ledger);
    std::string line;
    while (std::getline(std::cin, line)) {
        answer(books, json::parse(line));
    }
    return 0;
}

}  // namespace
}  // namespace sluice::test

int main(int argc, char** argv) {
    try {
        return sluice::test::serve(argc < 2 ? "" : argv[1]);
    } catch (const std::exception& error) {
        std::cerr << "ledger_driver: " << error.what() << "\n";
        return 1;
    }
}
