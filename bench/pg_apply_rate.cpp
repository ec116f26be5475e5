// Compares, in one run, how fast the drain applies order events of five lines to a PostgreSQL
// ledger and how fast the same server accepts plain batched INSERTs of the same rows.
//
//   pg_apply_rate FOLDER URL [EVENTS]   the database must be empty; its ledger is made and left
//   pg_apply_rate --clicks FOLDER URL [EVENTS]   with clicks of links in the place of INSERTs
#include <chrono>

#include "bench/apply_store.hpp"
#include "bench/click_inputs.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "worker/drain/drain.hpp"

namespace {

using namespace sluice;
using namespace sluice::bench;
using Clock = std::chrono::steady_clock;

/// Rows of one INSERT, and INSERTs of one transaction: about what a batch of the drain holds.
constexpr std::uint64_t kRows = 500;
constexpr std::uint64_t kInserts = 8;

double seconds_since(Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
}

pg::Url url_of(const char* text) {
    auto url = pg::Url::parse(text);
    check(url.ok(), url.ok() ? "" : url.error().message);
    return *url;
}

worker::LedgerOpener opener(const pg::Url& url) {
    return [url]() -> Result<std::unique_ptr<Ledger>> {
        auto opened = pg::PostgresLedger::open(url, pg::PostgresLedger::Mode::kReadWrite, {});
        if (!opened) {
            return opened.error();
        }
        return std::unique_ptr<Ledger>(std::move(*opened));
    };
}

double apply(Bench& bench, const pg::Url& url) {
    auto drain = worker::Drain::open(bench.paths, *bench.queue, opener(url), {}, {});
    check(drain.ok(), drain ? "" : drain.error().message);
    const Clock::time_point began = Clock::now();
    const Status drained = (*drain)->run_up_to(bench.queue->fill()->last_seq, false, bench.stop);
    check(drained.ok(), drained ? "" : drained.error().message);
    return seconds_since(began);
}

double apply_clicks(Bench& bench, const pg::Url& url, std::uint64_t clicks) {
    const ClickTimes times{kReceived.plus_days(-1)};
    create_links(bench, times.links);
    apply(bench, url);
    append_clicks(bench, 0, clicks, times);
    return apply(bench, url);
}

/// The INSERTs of one table's rows, as text, made before the clock runs.
std::vector<std::string> inserts_of(pg::Connection& session, const std::string& table) {
    const pg::Rows columns = session.query_text(
        "SELECT string_agg(format('quote_nullable(%I::text)', column_name), '||'',''||' ORDER BY "
        "ordinal_position) FROM information_schema.columns WHERE table_schema = 'sluice_ledger' "
        "AND table_name = '" +
        table + "'");
    const std::string copy = "sluice_plain." + table;
    session.script("CREATE TABLE " + copy + " (LIKE sluice_ledger." + table + " INCLUDING ALL)");
    const pg::Rows made =
        session.query_text("SELECT 'INSERT INTO " + copy +
                           " VALUES ' || string_agg(row, ',' ORDER BY n) FROM "
                           "(SELECT row_number() OVER () AS n, '(' || " +
                           columns.row(0).string() + " || ')' AS row FROM sluice_ledger." + table +
                           ") AS rows GROUP BY (n - 1) / " + std::to_string(kRows));
    std::vector<std::string> inserts;
    for (int i = 0; i < made.count(); ++i) {
        inserts.push_back(made.row(i).string());
    }
    return inserts;
}

double insert_plainly(const pg::Url& url) {
    const auto session = pg::Connection::open(url, {});
    session->script("DROP SCHEMA IF EXISTS sluice_plain CASCADE; CREATE SCHEMA sluice_plain");
    std::vector<std::string> inserts;
    for (const char* table : {"orders", "journal", "open", "waiting", "refunds", "balances"}) {
        const std::vector<std::string> of_table = inserts_of(*session, table);
        inserts.insert(inserts.end(), of_table.begin(), of_table.end());
    }
    session->script("CHECKPOINT");
    const Clock::time_point began = Clock::now();
    for (std::uint64_t at = 0; at < inserts.size(); ++at) {
        if (at % kInserts == 0) {
            session->script("BEGIN");
        }
        session->script(inserts[at]);
        if (at % kInserts == kInserts - 1 || at + 1 == inserts.size()) {
            session->script("COMMIT");
        }
    }
    const double took = seconds_since(began);
    session->script("DROP SCHEMA sluice_plain CASCADE");
    return took;
}

}  // namespace

int main(int argc, char** argv) {
    const bool is_of_clicks = argc > 1 && std::string_view(argv[1]) == "--clicks";
    argv += is_of_clicks ? 1 : 0;
    argc -= is_of_clicks ? 1 : 0;
    if (argc < 3) {
        std::fprintf(stderr, "usage: pg_apply_rate [--clicks] FOLDER URL [EVENTS]\n");
        return 2;
    }
    const std::uint64_t events = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 50'000;
    const pg::Url url = url_of(argv[2]);
    const auto migrated = pg::migrate(url);
    check(migrated.ok(), migrated ? "" : migrated.error().message);
    try {
        Bench bench(argv[1]);
        bench.programs();
        apply(bench, url);
        bench.create(0, events);
        const double applied = static_cast<double>(events) / apply(bench, url);
        const double other =
            static_cast<double>(events) /
            (is_of_clicks ? apply_clicks(bench, url, events) : insert_plainly(url));
        std::printf("applied %9.0f events/s\n%-7s %9.0f events/s%s\nratio   %9.2f\n", applied,
                    is_of_clicks ? "clicks" : "plain", other,
                    is_of_clicks ? "" : " (INSERTs of the same rows)", applied / other);
    } catch (const LedgerFailure& failure) {
        check(false, failure.error().message);
    }
    return 0;
}
