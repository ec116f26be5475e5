#include "serve/read/build.hpp"

#include <utility>

#include "core/protocol/signature.hpp"
#include "core/values/assert.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/cut.hpp"
#include "serve/read/http.hpp"
#include "serve/read/lists.hpp"
#include "serve/read/masks.hpp"

namespace sluice::serve {
namespace {

/// The query that a cursor belongs to: all parameters but the page's own, and the account.
std::string query_of(const Job& job) {
    std::string query =
        std::string(job.resource->path) + "?account=" + std::to_string(job.grant.account.value);
    for (const auto& [name, value] : job.arguments.all()) {
        if (name != "after" && name != "limit" && name != "format" && name != "account" &&
            name != "wait") {
            query += "&" + name + "=" + encoded(value);
        }
    }
    return query;
}

std::string csv_of(const std::vector<lists::Column>& columns, const Page& page) {
    std::string text = csv_head(columns);
    for (const lists::Row& row : page.rows) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += (i == 0 ? "" : ",") +
                    lists::csv_field(i < row.size() ? row[i].cell() : std::string());
        }
        text += '\n';
    }
    for (const std::string& object : page.raw_rows) {
        const std::vector<JsonMember> members = json_members(object);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += i == 0 ? "" : ",";
            for (const JsonMember& member : members) {
                if (member.key == columns[i].name) {
                    text += lists::csv_field(lists::raw_cell_text(member.value));
                }
            }
        }
        text += '\n';
    }
    return text;
}

/// Writes each row as object_of() would give it, without making it: most of an answer's time.
std::string json_of(const std::vector<lists::Column>& columns, const Page& page,
                    const std::string& next) {
    std::vector<std::string> names;
    for (const lists::Column& column : columns) {
        names.push_back((names.empty() ? "{" : ",") + json_quoted(column.name) + ":");
    }
    std::string text = "{\"items\":[";
    const char* comma = "";
    for (const lists::Row& row : page.rows) {
        text += std::exchange(comma, ",");
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += names[i];
            i < row.size() ? row[i].append_to(text) : Json().append_to(text);
        }
        text += '}';
    }
    for (const std::string& object : page.raw_rows) {
        text += std::exchange(comma, ",");
        text += object;
    }
    text += "],\"next\":" + (next.empty() ? "null" : json_quoted(next));
    for (const auto& [name, value] : page.extras) {
        text += "," + json_quoted(name) + ":" + value.compact();
    }
    return text + "}";
}

void mask_rows(const std::vector<lists::Column>& columns, const Masks& masks, Page& page) {
    for (lists::Row& row : page.rows) {
        SLUICE_ASSERT(row.size() <= columns.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
            masks.mask_cell(columns[i], row[i]);
        }
    }
}

Answer list_answer(const Job& job, Read& read, Page& page) {
    const std::vector<lists::Column>& columns =
        page.columns.empty() ? job.resource->columns : page.columns;
    mask_rows(columns, Masks(read.sees_all_of(job.resource->path)), page);
    const std::string next = page.next_key ? make_cursor(query_of(job), *page.next_key) : "";
    Answer answer;
    if (job.arguments.is("format", "csv")) {
        answer.type = kCsvType;
        answer.body = csv_of(columns, page);
    } else {
        answer.body = json_of(columns, page, next);
    }
    if (!next.empty()) {
        answer.with("Link",
                    "<" +
                        next_target("/v1/" + std::string(job.resource->path), job.arguments, next) +
                        ">; rel=\"next\"");
    }
    return answer;
}

/// Cuts the one row of a page, which has the mark then.
void cut_row(const Job& job, Page& page) {
    const std::vector<lists::Column>& columns =
        page.columns.empty() ? job.resource->columns : page.columns;
    Json object = page.rows.empty() ? Json::from_text(page.raw_rows.front())
                                    : object_of(columns, page.rows.front());
    (void)fit_object(object, kAnswerBytesMax / 4, std::nullopt, {});
    page.extras.emplace_back("cut", std::exchange(object["cut"], Json()));
    if (page.rows.empty()) {
        Json row = Json::object();
        for (std::size_t i = 0; i < object.names().size(); ++i) {
            if (object.names()[i] != "cut") {
                row[object.names()[i]] = object.items()[i];
            }
        }
        page.raw_rows.front() = row.compact();
    } else {
        for (std::size_t i = 0; i < page.rows.front().size(); ++i) {
            page.rows.front()[i] = object.items()[i];
        }
    }
}

/// Reads a page of fewer rows if the rows of the first one are too large.
Answer answer_of(const Job& job, Read& read, const std::function<Page(Read&)>& list) {
    for (;;) {
        Page page = list(read);
        const std::size_t rows = page.rows.size() + page.raw_rows.size();
        Answer answer = list_answer(job, read, page);
        if (answer.body.size() > kAnswerBytesMax && rows == 1) {
            cut_row(job, page);
            return list_answer(job, read, page);
        }
        if (answer.body.size() <= kAnswerBytesMax || rows == 0) {
            return answer;
        }
        constexpr std::size_t kTenths = 8;  // rows differ in size
        read.rows_max =
            std::max<std::size_t>(1, rows * kTenths / 10 * kAnswerBytesMax / answer.body.size());
    }
}

Answer answer_of(const Job& job, Read& read, Json (*show)(Read&)) {
    Json object = show(read);
    Masks(read.sees_all_of(job.resource->path)).mask_members(object, job.resource->columns);
    return {.body = fitted(read, object)};
}

Answer answer_of(const Job& /*job*/, Read& read, Answer (*whole)(Read&)) {
    return whole(read);
}

/// `1:48211,2:17`: each node's number and checkpoint.
std::string snapshot_of(LedgerReader& ledger) {
    std::vector<std::string> nodes;
    ledger.scan_heads([&](const LedgerHead& head) {
        nodes.push_back(std::to_string(head.number) + ":" + std::to_string(head.applied_seq.value));
    });
    return joined(nodes, ",");
}

Answer read_answer(const Job& job, LedgerReader& ledger, const WorkerPage& worker) {
    Read read{
        ledger,     job.grant,
        job.caller, job.arguments,
        job.now,    std::nullopt,
        worker,     [&job](const std::string& key) {
                  return make_cursor(query_of(job), key); }};
    read.links = job.links.get();
    if (const auto cursor = job.arguments.text("after")) {
        read.after = from_cursor(open_cursor(query_of(job), *cursor));
    }
    return std::visit([&](const auto& of) { return answer_of(job, read, of); }, job.resource->read);
}

}  // namespace

std::string next_target(std::string path, const Arguments& arguments, const std::string& cursor) {
    std::string target = std::move(path) + "?";
    for (const auto& [name, value] : arguments.all()) {
        if (name != "after") {
            target += name + "=" + encoded(value) + "&";
        }
    }
    return target + "after=" + cursor;
}

std::string csv_head(const std::vector<lists::Column>& columns) {
    return joined(columns, ",", &lists::Column::name) + "\n";
}

std::string fitted(const Read& read, Json& object) {
    std::optional<CutPlace> after;
    if (read.after) {
        after = from_cursor(cut_place(*read.after));
    }
    return from_cursor(fit_object(object, kAnswerBytesMax, after, read.cursor_of));
}

Answer build_answer(const Job& job, LedgerReader& ledger, const WorkerPage& worker) {
    Answer answer;
    std::string snapshot;
    try {
        snapshot = snapshot_of(ledger);
        answer = read_answer(job, ledger, worker);
    } catch (const Refusal& refusal) {
        answer = refusal.answer;
    }
    if (answer.status == 200 && !job.resource->has(kMakesLink)) {
        tag_answer(answer, job.if_none_match);
    }
    answer.with("X-Sluice-Snapshot", snapshot);
    if (!worker.node.empty()) {  // another node's worker publishes nothing here
        answer.with("X-Sluice-Waiting", std::to_string(worker.waiting));
        answer.with("X-Sluice-Worker", worker.state);  // one that does not run counts nothing
    }
    return answer;
}

void tag_answer(Answer& answer, const std::string& if_none_match) {
    constexpr std::size_t kTagDigits = 32;
    const std::string tag = "\"" + to_hex(sha256(answer.body)).substr(0, kTagDigits) + "\"";
    answer.with("ETag", tag);
    if (if_none_match == "*" || if_none_match.find(tag) != std::string::npos) {
        answer.status = 304;
        answer.body.clear();
    }
}

}  // namespace sluice::serve
