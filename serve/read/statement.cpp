// A statement as JSON, as CSV, and as a page that prints on A4 and Letter.
#include "core/lists/statement.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/lists/names.hpp"
#include "program/cli/cli_values.hpp"
#include "serve/read/build.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;

constexpr std::string_view kStyle =
    "@page{margin:14mm}"
    "body{font:11pt/1.4 system-ui,sans-serif;color:#000;background:#fff;max-width:60rem;"
    "margin:1.5rem auto;padding:0 1rem}"
    "h1{font-size:1.4rem;margin:0 0 .2rem}h2{font-size:1.05rem;margin:1.4rem 0 .4rem}"
    "table{border-collapse:collapse;width:100%;font-size:.75rem}"
    "thead{display:table-header-group}tr{break-inside:avoid}"
    "th,td{border-bottom:1px solid #999;padding:.2rem .3rem;text-align:left;vertical-align:top}"
    "th{vertical-align:bottom}td{overflow-wrap:anywhere}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}.n,.w{white-space:nowrap}"
    "@media print{body{margin:0;padding:0;max-width:none}}";

/// Data enters as text.
std::string escaped(std::string_view text) {
    std::string html;
    for (const char& c : text) {
        html += c == '&'   ? "&amp;"
                : c == '<' ? "&lt;"
                : c == '>' ? "&gt;"
                : c == '"' ? "&quot;"
                           : std::string_view(&c, 1);
    }
    return html;
}

/// Returns the name of a column in words: `paid out`.
std::string label_of(std::string_view name) {
    std::string label(name);
    std::ranges::replace(label, '_', ' ');
    return label;
}

constexpr std::string_view kAccountingDate = "accounting_date";
/// Bytes of an id that a line always has room for.
constexpr std::size_t kUnbrokenMax = 14;

/// Returns the class of a column: a number, words that are not broken, or an id, which may be long.
std::string_view class_of(std::string_view name) {
    constexpr std::array<std::string_view, 7> kAmounts{"amount",   "opening", "earned", "adjusted",
                                                       "paid_out", "closing", "orders"};
    constexpr std::array<std::string_view, 4> kWords{kAccountingDate, "currency", "ledger_account",
                                                     "reason"};
    return has_item(kAmounts, name) ? " class=\"n\"" : has_item(kWords, name) ? " class=\"w\"" : "";
}

void add_cell(std::string& html, std::string_view name, const Json& value) {
    constexpr std::size_t kDayBytes = 10, kMinuteBytes = 16;
    std::string text = value.cell();
    if (name == kAccountingDate) {
        text.resize(kMinuteBytes);
        text[kDayBytes] = ' ';
    }
    const bool is_short = class_of(name).empty() && text.size() <= kUnbrokenMax;
    html += "<td" + std::string(is_short ? class_of(kAccountingDate) : class_of(name)) + ">" +
            escaped(text) + "</td>";
}

/// Adds a list of objects as a table, without the columns that are empty in every row.
/// A list that this part of the statement does not have is null.
void add_table(std::string& html, std::string_view title, const Json& rows) {
    if (rows.is_null()) {
        return;
    }
    html += "<h2>" + escaped(title) + "</h2>";
    if (rows.items().empty()) {
        html += "<p>None.</p>";
        return;
    }
    const std::vector<std::string>& names = rows.items().front().names();
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::ranges::any_of(rows.items(),
                                [i](const Json& row) { return !row.items()[i].is_null(); })) {
            shown.push_back(i);
        }
    }
    html += "<table><thead><tr>";
    for (const std::size_t i : shown) {
        const bool is_number = class_of(names[i]) == class_of("amount");
        html += "<th scope=\"col\"" + std::string(is_number ? class_of("amount") : "") + ">" +
                escaped(label_of(names[i])) + "</th>";
    }
    html += "</tr></thead><tbody>";
    for (const Json& row : rows.items()) {
        html += "<tr>";
        for (const std::size_t i : shown) {
            add_cell(html, names[i], row.items()[i]);
        }
        html += "</tr>";
    }
    html += "</tbody></table>";
}

/// Adds which postings are missing, and the link to them.
void add_rest(std::string& html, Json& statement, const Arguments& arguments) {
    for (Json mark : std::as_const(statement["cut"]).items()) {
        if (mark["member"].cell() == "rows" && !mark["next"].is_null()) {
            html += "<p>This page has " + mark["shown"].cell() + " of " + mark["total"].cell() +
                    " postings. <a href=\"" +
                    escaped(next_target("/v1/statement", arguments, mark["next"].cell())) +
                    "\">The next ones</a></p>";
        }
    }
}

Answer statement_html(Json statement, const Arguments& arguments) {
    const std::string title =
        "Statement of " + statement["creator_id"].cell() + ", " + statement["month"].cell();
    Answer answer{.type = "text/html; charset=utf-8"};
    answer.body =
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
        escaped(title) + "</title><style>" + std::string(kStyle) + "</style></head><body><h1>" +
        escaped(title) + "</h1><p>Account " + escaped(statement["account_id"].cell()) + ", " +
        escaped(statement["status"].cell()) + ". Dates are UTC.</p>";
    add_table(answer.body, "Sums", statement["sums"]);
    add_table(answer.body, "Postings", statement["rows"]);
    add_rest(answer.body, statement, arguments);
    add_table(answer.body, "Payouts", statement["payouts"]);
    answer.body += "</body></html>\n";
    answer.with("Content-Security-Policy",
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
                "form-action 'none'; frame-ancestors 'none'");
    return answer;
}

/// Writes the lines after the cursor's, as many as an answer has room for.
Answer statement_csv(const Read& read, const lists::StatementPage& page) {
    const std::uint64_t first = read.after ? key_number(*read.after) : 0;
    std::uint64_t line = 0, next = 0;
    Answer answer{.type = std::string(kCsvType), .body = csv_head(lists::statement_csv_columns())};
    EachRow lines([&](const lists::Row& row) {
        if (line++ < first || next != 0) {
            return;
        }
        if (answer.body.size() > kAnswerBytesMax / 2) {
            next = line - 1;
            return;
        }
        answer.body +=
            joined(row, ",", [](const Json& cell) { return lists::csv_field(cell.cell()); }) + "\n";
    });
    page.write_csv(lines);
    if (next != 0) {
        answer.with("Link", "<" +
                                next_target("/v1/statement", read.arguments,
                                            read.cursor_of(std::to_string(next))) +
                                ">; rel=\"next\"");
    }
    return answer;
}

Answer show_statement(Read& read) {
    const auto month = cli::parse_month(read.arguments.required("month"));
    const CreatorId creator = creator_of(read).value();
    const lists::ShopNames shops = lists::shop_names(read.ledger);
    const lists::StatementOf of{read.grant.account, read.grant.account_id, creator, *month};
    const lists::StatementPage page(read.ledger, shops, of);
    if (read.arguments.is("format", "csv")) {
        return statement_csv(read, page);
    }
    Json statement = page.object();
    Answer answer{.body = fitted(read, statement)};
    return read.arguments.is("format", "html")
               ? statement_html(std::move(statement), read.arguments)
               : answer;
}

}  // namespace

std::vector<Resource> statement_resources() {
    return {Resource(
        "statement", kOfCreators, "One creator's month",
        {creator_parameter(true),
         {"month", ValueKind::kMonth, "Month in UTC, such as 2026-01", true},
         word_parameter("format", "Format of the answer (default: json)", {"json", "csv", "html"})},
        lists::statement_members(), show_statement)};
}

}  // namespace sluice::serve
