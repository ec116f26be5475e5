#include "unit/ledger/books_views.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/exports/tables.hpp"
#include "os/clock/clock.hpp"

namespace sluice::test {
namespace {

using lists::ColumnType;
using nlohmann::json;
using TextRows = std::vector<std::string>;

/// Takes the rows of every table of an export, as JSON objects.
class ExportedRows final : public exports::ExportOutput {
public:
    bool add(const exports::ExportTable& table, std::string_view line) override {
        rows_[table.name].push_back(json::parse(line));
        return true;
    }
    [[nodiscard]] const std::vector<json>& of(std::string_view table) { return rows_[table]; }

private:
    std::map<std::string_view, std::vector<json>> rows_;
};

struct ViewColumn {
    std::string name, sql;
    ColumnType type = ColumnType::kText;
};
using Views = std::map<std::string, std::vector<ViewColumn>>;

/// Amounts lose the zeros at their end, and times get microseconds, which is all that views have.
json comparable(const json& value, ColumnType type) {
    if (!value.is_string()) {
        return value;
    }
    std::string text = value.get<std::string>();
    if (type == ColumnType::kAmount && text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        text.erase(text.find_last_not_of('.') + 1);
    }
    if (type == ColumnType::kTime) {
        constexpr std::size_t kSecondsEnd = 19, kMicrosecondsEnd = 26;
        text.pop_back();  // Z
        text += text.size() == kSecondsEnd ? "." : "";
        text.resize(kMicrosecondsEnd, '0');
    }
    return text;
}

std::string text_of(const json& row, const std::vector<ViewColumn>& columns) {
    json values = json::array();
    for (const ViewColumn& column : columns) {
        values.push_back(comparable(row.at(column.name), column.type));
    }
    return values.dump();
}

/// Returns null if no export has it.
const lists::Column* exported_column(const std::string& table, const std::string& name) {
    for (const exports::ExportTable& one : exports::export_tables()) {
        const auto found = std::find_if(one.columns.begin(), one.columns.end(),
                                        [&](const auto& column) { return column.name == name; });
        if (one.name == table && found != one.columns.end()) {
            return &*found;
        }
    }
    return nullptr;
}

/// Sets the types that the export's columns have. Returns what the export lacks.
std::string set_types(Views& views) {
    std::string wrong;
    for (auto& [view, columns] : views) {
        for (ViewColumn& column : columns) {
            if (const auto* exported = exported_column(view, column.name)) {
                column.type = exported->type;
            } else {
                wrong += "no export has column " + column.name + " of view " + view + "; ";
            }
        }
    }
    return wrong;
}

/// The views that people read, except those of extensions.
Views views_of(pg::Connection& session) {
    Views views;
    const pg::Rows rows = session.query_text(
        "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL) FROM pg_class c "
        "JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'v' AND c.relnamespace = "
        "to_regnamespace(current_schema()::text) AND c.relname !~ '^(citus|pg)_' AND a.attnum > 0 "
        "ORDER BY c.relname, a.attnum");
    for (int i = 0; i < rows.count(); ++i) {
        pg::RowReader row = rows.row(i);
        const std::string view = row.string();
        ViewColumn column{row.string(), {}};
        const std::string type = row.string();
        column.sql = type == "numeric" ? column.name + "::text"
                     : type == "timestamp with time zone"
                         ? "to_char(" + column.name +
                               " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
                         : column.name;
        views[view].push_back(std::move(column));
    }
    return views;
}

TextRows rows_of(pg::Connection& session, const std::string& view,
                 const std::vector<ViewColumn>& columns) {
    std::string list;
    for (const ViewColumn& column : columns) {
        list += (list.empty() ? "" : ", ") + column.sql + " AS " + column.name;
    }
    const pg::Rows found = session.query_text("SELECT row_to_json(r)::text FROM (SELECT " + list +
                                              " FROM " + view + ") r");
    TextRows rows;
    for (int i = 0; i < found.count(); ++i) {
        rows.push_back(text_of(json::parse(found.row(i).string()), columns));
    }
    return rows;
}

/// Names the first rows that only one of them has.
std::string differences(const std::string& view, TextRows viewed, TextRows exported) {
    constexpr std::size_t kShown = 3;
    std::sort(viewed.begin(), viewed.end());
    std::sort(exported.begin(), exported.end());
    std::string wrong;
    const auto add = [&](const TextRows& some, const TextRows& others, const char* what) {
        TextRows only;
        std::set_difference(some.begin(), some.end(), others.begin(), others.end(),
                            std::back_inserter(only));
        only.resize(std::min(only.size(), kShown));
        for (const std::string& row : only) {
            wrong += "view " + view + what + row + "; ";
        }
    };
    add(viewed, exported, " alone has ");
    add(exported, viewed, " lacks ");
    return wrong;
}

}  // namespace

ViewedLedger::ViewedLedger(std::shared_ptr<Ledger> ledger, std::string url,
                           std::shared_ptr<pg::Connection> session)
    : ledger_(std::move(ledger)), url_(std::move(url)), session_(std::move(session)) {}

std::string ViewedLedger::wrong_views(LedgerReader& reader) {
    Views views = views_of(*session_);
    if (views.empty()) {
        return "the database has no views; ";
    }
    if (std::string wrong = set_types(views); !wrong.empty()) {
        return wrong;
    }
    ExportedRows exported;
    if (!exports::write_tables(reader, exports::ExportFormat::kNdjson, now(), exported)) {
        return "the export ended; ";
    }
    std::string wrong;
    for (const auto& [view, columns] : views) {
        TextRows expected;
        for (const json& row : exported.of(view)) {
            expected.push_back(text_of(row, columns));
        }
        wrong += differences(view, rows_of(*session_, view, columns), std::move(expected));
    }
    return wrong;
}

}  // namespace sluice::test
