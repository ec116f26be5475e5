#include "serve/creators/paths.hpp"

#include <utility>

#include "core/creators/csv.hpp"
#include "core/json/writer.hpp"
#include "core/values/lookup.hpp"
#include "program/cli/cli_values.hpp"
#include "serve/read/build.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

template <class Shown>
Answer json_answer(const Shown& shown) {
    return {.body = encode_json(shown)};
}

Answer csv_answer(std::string text) {
    return {.type = std::string(kCsvType), .body = std::move(text)};
}

// The texts of a cursor.
std::vector<std::string> texts_of(const std::string& place) {
    return {place};
}
std::vector<std::string> texts_of(const CreatorOrderPlace& place) {
    return {place.shop.str(), place.order.str()};
}
std::vector<std::string> texts_of(const ItemPlace& place) {
    return {place.program.str(), place.shop.str(), place.order.str()};
}

/// Returns the texts of the request's cursor, or nothing on the first page.
std::optional<std::vector<std::string>> place_of(const PageRequest& request, std::size_t parts) {
    const auto cursor = request.arguments.text("after");
    if (!cursor) {
        return std::nullopt;
    }
    return key_parts(from_cursor(open_cursor(request.query, *cursor)), parts);
}

template <class Place>
std::optional<std::string> cursor_of(const PageRequest& request, const std::optional<Place>& next) {
    return next ? std::optional(make_cursor(request.query, join_key(texts_of(*next))))
                : std::nullopt;
}

/// Adds `Link: <...>; rel="next"`, unless the list ends here: CSV has no other sign that it goes
/// on.
Answer with_next(const PageRequest& request, const std::optional<std::string>& cursor,
                 Answer answer) {
    if (cursor) {
        answer.with("Link", "<" + next_target(request.path, request.arguments, *cursor) +
                                ">; rel=\"next\"");
    }
    return answer;
}

/// Returns `{"items": [...], "next": ...}`.
/// @param more  Writes further members, or null.
template <class Row, class Place>
Answer list_answer(const PageRequest& request, const std::vector<Row>& rows,
                   const std::optional<Place>& next,
                   const std::function<void(MemberWriter&)>& more = nullptr) {
    const auto cursor = cursor_of(request, next);
    Answer answer;
    JsonWriter json(answer.body);
    json.begin_object();
    MemberWriter members(json);
    members("items", rows);
    members.or_null("next", cursor);
    if (more) {
        more(members);
    }
    json.end_object();
    return with_next(request, cursor, std::move(answer));
}

Answer show_home(CreatorLedger& ledger, const PageRequest& request) {
    return json_answer(ledger.home(request.now));
}

Answer list_orders(CreatorLedger& ledger, const PageRequest& request) {
    const auto texts = place_of(request, 2);
    const auto after =
        texts ? std::optional(CreatorOrderPlace{ShopId((*texts)[0]), OrderId((*texts)[1])})
              : std::nullopt;
    const auto page = from_cursor(ledger.orders(after, request.now));
    return request.arguments.is("format", "csv") ? with_next(request, cursor_of(request, page.next),
                                                             csv_answer(creator_csv(page.rows)))
                                                 : list_answer(request, page.rows, page.next);
}

Answer show_order(CreatorLedger& ledger, const PageRequest& request) {
    const auto detail = ledger.order(ShopId(request.arguments.required("shop")),
                                     OrderId(request.arguments.required("order")), request.now);
    return detail ? json_answer(*detail) : problem("not_found");
}

Answer list_payments(CreatorLedger& ledger, const PageRequest& request) {
    const auto after = place_of(request, 1);
    const auto page =
        from_cursor(ledger.payments(after ? std::optional(after->front()) : std::nullopt));
    return list_answer(request, page.rows, page.next, [&ledger](MemberWriter& members) {
        members("left_out", ledger.left_out());
    });
}

Answer show_payment(CreatorLedger& ledger, const PageRequest& request) {
    const std::string id = request.arguments.required("id");
    const auto texts = place_of(request, 3);
    const auto after = texts ? std::optional(ItemPlace{ProgramId((*texts)[0]), ShopId((*texts)[1]),
                                                       OrderId((*texts)[2])})
                             : std::nullopt;
    const auto payment = ledger.payment(id);
    const auto page = ledger.items(id, after);
    if (!payment || !page) {
        return problem("not_found");
    }
    return list_answer(request, page->rows, page->next,
                       [&payment](MemberWriter& members) { members("payment", *payment); });
}

Answer show_statement(CreatorLedger& ledger, const PageRequest& request) {
    const auto month = cli::parse_month(request.arguments.required("month"));
    const CreatorStatement statement = ledger.statement(month->from, month->to);
    return request.arguments.is("format", "csv") ? csv_answer(creator_csv(statement.entries))
                                                 : json_answer(statement);
}

Answer show_performance(CreatorLedger& ledger, const PageRequest& request) {
    static const std::map<std::string, FiguresBy, std::less<>> ways{{"day", FiguresBy::kDay},
                                                                    {"month", FiguresBy::kMonth},
                                                                    {"link", FiguresBy::kLink},
                                                                    {"code", FiguresBy::kCode}};
    const FiguresBy by = ways.at(request.arguments.required("by"));
    const auto month = request.arguments.text("month");
    const auto texts = place_of(request, 1);
    const auto page =
        ledger.figures(by, month ? std::optional(*cli::parse_month(*month)) : std::nullopt,
                       texts ? std::optional(texts->front()) : std::nullopt, request.now);
    return list_answer(request, page.rows, page.next);
}

Answer find_order(CreatorLedger& ledger, const PageRequest& request) {
    const Arguments& given = request.arguments;
    MissedOrder missed{ShopId(given.required("shop")), given.text("number"), {}, {}};
    const auto day = given.text("day"), total = given.text("total");
    if (day.has_value() != total.has_value() || (!missed.number && !day)) {
        const std::string what = "expected the number, or the day and the total, or all three";
        throw Refusal{parameter_problem({{!day && total ? "day"
                                          : day         ? "total"
                                                        : "number",
                                          what}})};
    }
    if (day) {
        missed.day = Timestamp::parse(*day + "T00:00:00Z");
        missed.total = Decimal::parse(*total);
    }
    const CreatorFound found = ledger.find(missed, request.now, request.is_behind);
    request.found.add(found.cause);
    return json_answer(found);
}

Parameter after() {
    return {"after", ValueKind::kCursor, "`next` of the page before"};
}
Parameter format() {
    return word_parameter("format", "Format of the answer", {"json", "csv"});
}

}  // namespace

const std::vector<CreatorPath>& creator_paths() {
    static const std::vector<CreatorPath> all{
        {"home", {}, show_home},
        {"orders", {after(), format()}, list_orders},
        {"order",
         {{"shop", ValueKind::kId, "Shop", true}, {"order", ValueKind::kWireId, "Order", true}},
         show_order},
        {"find",
         {{"shop", ValueKind::kId, "Shop", true},
          {"number", ValueKind::kNumber, "Number of the order"},
          {"day", ValueKind::kDate, "Day of the order, such as 2026-01-31"},
          {"total", ValueKind::kAmount, "What the customer paid"}},
         find_order},
        {"payments", {after()}, list_payments},
        {"payment", {{"id", ValueKind::kId, "Payment", true}, after()}, show_payment},
        {"performance",
         {{"by",
           ValueKind::kWord,
           "What the figures are grouped by",
           true,
           {"day", "month", "link", "code"}},
          {"month", ValueKind::kMonth, "Month in UTC (default: the last 30 days, or 12 months)"},
          after()},
         show_performance},
        {"statement",
         {{"month", ValueKind::kMonth, "Month in UTC, such as 2026-01", true}, format()},
         show_statement}};
    return all;
}

const CreatorPath* find_creator_path(std::string_view path) {
    return find_item(creator_paths(), path, &CreatorPath::path);
}

void FoundCounts::add(std::string_view cause) {
    const std::lock_guard lock(mutex_);
    ++counts_[std::string(cause)];
}

std::map<std::string, std::uint64_t> FoundCounts::all() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

Answer answer_path(const CreatorPath& path, LedgerReader& ledger, const CreatorScope& scope,
                   PageRequest request) {
    std::string& query = request.query;
    query = "creators/" + std::string(path.path) + "?" + std::to_string(scope.account().value) +
            "/" + scope.creator().str();
    for (const auto& [name, value] : request.arguments.all()) {
        if (name != "after" && name != "format") {
            query += "&" + name + "=" + encoded(value);
        }
    }
    CreatorLedger own(ledger, scope);
    try {
        return path.read(own, request);
    } catch (const Refusal& refusal) {
        return refusal.answer;
    }
}

}  // namespace sluice::serve
