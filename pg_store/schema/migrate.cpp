#include "pg_store/schema/migrate.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/journal/journal.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/table.hpp"
#include "core/ledger/valid.hpp"
#include "os/clock/clock.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/rows/described.hpp"
#include "pg_store/schema/migration_table.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

// ---- What migrations leave out ------------------------------------------------------------------

/// Returns `CREATE OR REPLACE FUNCTION sluice_ledger.NAME(PARAMETERS)` with an expression as its
/// body.
std::string function(std::string_view name, std::string_view parameters, std::string_view result) {
    return std::string("CREATE OR REPLACE FUNCTION sluice_ledger.")
        .append(name)
        .append("(")
        .append(parameters)
        .append(") RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ")
        .append(result)
        .append(" $$;\n");
}

/// Calls `use` with every value of the type.
template <class Enum, class Use>
void for_each_value(Use&& use) {
    for (unsigned i = 0; i <= std::numeric_limits<std::uint8_t>::max(); ++i) {
        if (is_valid(static_cast<Enum>(i))) {
            use(static_cast<Enum>(i));
        }
    }
}

/// `CASE code WHEN 1 THEN ... END`, with the SQL that `result` gives for each value, unless that is
/// empty.
template <class Enum, class Result>
std::string cases(std::string_view code, Result&& result) {
    std::string text = "CASE " + std::string(code);
    for_each_value<Enum>([&](Enum value) {
        const std::string sql = result(value);
        if (!sql.empty()) {
            text += " WHEN " + std::to_string(static_cast<unsigned>(value)) + " THEN " + sql;
        }
    });
    return text + " END";
}

std::string sql_text(std::string_view text) {
    return "'" + std::string(text) + "'";
}

template <class Enum>
std::string names_of(std::string_view code) {
    return cases<Enum>(code, [](Enum value) { return sql_text(to_string(value)); });
}

/// @param side  Of the accounts between which a posting moves its amount.
std::string account_of(LedgerAccount DebitCredit::*side) {
    return cases<JournalReason>("reason", [side](JournalReason reason) -> std::string {
        const LedgerAccount account = debit_credit_of(reason).*side;
        if (account == LedgerAccount::kNone) {
            return {};
        }
        return sql_text(ledger_account_name(account, {})) +
               (account == LedgerAccount::kPayout ? " || payout_id" : "");
    });
}

std::string name_functions() {
    return function("anomaly_name", "kind integer", names_of<AnomalyKind>("kind")) +
           function("reason_name", "reason integer", names_of<JournalReason>("reason")) +
           function("debit_account", "reason integer, payout_id text",
                    account_of(&DebitCredit::debit)) +
           function("credit_account", "reason integer, payout_id text",
                    account_of(&DebitCredit::credit)) +
           function("payout_state_name", "state integer", names_of<PayoutState>("state")) +
           function("item_kind_name", "kind integer", names_of<ItemKind>("kind")) +
           function("attribution_name", "type integer", names_of<AttributionType>("type"));
}

/// Creates the described tables whose rows do not follow from another table.
std::string described() {
    std::string text;
    for (const DescribedTable& table : described_tables()) {
        if (!table.index_in_sql) {
            text += sql_of(table).create();
        }
    }
    return text;
}

/// Returns `sql` with `text` in place of `mark`.
std::string with(std::string sql, std::string_view mark, const std::string& text) {
    if (const std::size_t at = sql.find(mark); at != std::string::npos) {
        sql.replace(at, mark.size(), text);
    }
    return sql;
}

// ---- Migrations --------------------------------------------------------------------------------

constexpr const char* kFirst =
    "CREATE SCHEMA IF NOT EXISTS sluice_ledger; "
    "CREATE TABLE IF NOT EXISTS sluice_ledger.migrations (number integer PRIMARY KEY, "
    "name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())";

std::string name_of(const Migration& migration) {
    std::string number = std::to_string(migration.number);
    return std::string(4 - std::min<std::size_t>(4, number.size()), '0') + number + "_" +
           migration.name;
}

Result<Migrated> migrate(Connection& session) {
    session.script("BEGIN");
    session.script(kLockMigrations.sql);
    Migrated result{.before = stored_version(session)};
    if (const Status known = check_known(session, result.before); !known) {
        return known.error();
    }
    result.now = schema_version();
    if (result.before != 0) {
        lock_out_batches(session);
    }
    if (result.before < result.now) {
        session.script(kFirst);
    }
    for (const Migration& migration : kMigrations) {
        if (migration.number <= result.before) {
            continue;
        }
        session.script(
            with(with(migration.sql, "@tables@", described()), "@names@", name_functions()));
        RowWriter row;
        row.i4(migration.number).text(migration.name);
        session.send_text("INSERT INTO sluice_ledger.migrations (number, name) VALUES ($1, $2)",
                          row);
        session.sync();
        result.applied.push_back(name_of(migration));
    }
    if (session.is_distributed() && !result.applied.empty()) {
        (void)distribute_rest(session);  // the tables that are new
    }
    session.script("COMMIT");
    result.could_be_distributed = could_be_distributed(session);
    return result;
}

}  // namespace

Result<Migrated> migrate(const Url& url) {
    return again_while_busy([&url]() -> Result<Migrated> {
        try {
            const std::unique_ptr<Connection> session = open_session(url, Access::kReadWrite, {});
            return migrate(*session);
        } catch (const LedgerFailure& failure) {
            return failure.error();
        }
    });
}

}  // namespace sluice::pg
