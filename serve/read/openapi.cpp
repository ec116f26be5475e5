// The OpenAPI document, made of the table that routes requests and checks parameters.
#include <map>

#include "serve/read/resource.hpp"

namespace sluice::serve {
namespace {

constexpr std::string_view kIdPattern = "^[A-Za-z0-9._:@+/=-]{1,128}$";
constexpr std::string_view kLinkPattern = "^[A-Za-z0-9._~-]{1,64}$";
constexpr std::string_view kMonthPattern = "^[0-9]{4}-(0[1-9]|1[0-2])$";
constexpr std::string_view kMonthEndPattern = "^[0-9]{4}-(0[1-9]|1[0-2])-01T00:00:00Z$";

Json text_schema(std::string_view pattern) {
    return {{"type", "string"}, {"pattern", pattern}};
}

Json schema_of(const Parameter& parameter) {
    using enum ValueKind;
    static const Json text{{"type", "string"}, {"minLength", 1}, {"maxLength", 1024}};
    static const Json time{{"type", "string"}, {"format", "date-time"}};
    static const std::map<ValueKind, Json> schemas{
        {kId, text_schema(kIdPattern)},
        {kLink, text_schema(kLinkPattern)},
        {kWireId, text},
        {kText, text},
        {kTime, time},
        {kMonth, text_schema(kMonthPattern)},
        {kMonthEnd, text_schema(kMonthEndPattern)},
        {kDay, time},
        {kNumber, {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}}},
        {kDate, {{"type", "string"}, {"format", "date"}}},
        {kAmount, text_schema("^[0-9]{1,15}([.][0-9]{1,6})?$")},
        {kFuture, time},
        {kCurrency, text_schema("^[A-Z]{3}$")},
        {kFlag, {{"type", "boolean"}}},
        {kVersion, {{"type", "integer"}, {"minimum", 1}, {"maximum", 4294967295}}},
        {kLimit, {{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}, {"default", 100}}},
        {kCursor, {{"type", "string"}, {"minLength", 1}}},
        {kSeconds, {{"type", "integer"}, {"minimum", 0}, {"maximum", kWaitSecondsMax}}},
        {kMinutes, {{"type", "integer"}, {"minimum", 1}, {"maximum", kLinkMinutesMax}}}};
    if (parameter.kind != kWord) {
        return schemas.at(parameter.kind);
    }
    return {{"type", "string"},
            {"enum", Json::list(parameter.words, [](std::string_view word) { return word; })}};
}

std::string_view type_name(lists::ColumnType type) {
    using enum lists::ColumnType;
    switch (type) {
        case kTexts:
        case kObjects:
            return "array";
        case kObject:
        case kJson:
            return "object";
        case kInteger:
            return "integer";
        case kFlag:
            return "boolean";
        case kText:
        case kAmount:
        case kRate:
        case kDate:
        case kTime:
            break;
    }
    return "string";
}

Json type_of(const lists::Column& column) {
    return Json::array({type_name(column.type), "null"});
}

/// With the members of objects, as far as they are declared.
Json column_schema(const lists::Column& column) {
    Json schema{{"type", type_of(column)}};
    if (column.members.empty()) {
        return schema;
    }
    Json properties = Json::object();
    for (const lists::Column& member : column.members) {
        properties[member.name] = column_schema(member);
    }
    if (column.type == lists::ColumnType::kObjects) {
        schema["items"] = {{"type", "object"}, {"properties", std::move(properties)}};
    } else {
        schema["properties"] = std::move(properties);
    }
    return schema;
}

/// The members of a product are those that the shop sent.
Json row_schema(const Resource& resource) {
    if (resource.path == "products") {
        return {{"type", "object"},
                {"properties", {{"shop_id", {{"type", "string"}}}}},
                {"required", Json::array({"shop_id"})}};
    }
    Json properties = Json::object();
    Json required = Json::array();
    for (const lists::Column& column : resource.columns) {
        properties[column.name] = column_schema(column);
        if (resource.path != "payees" ||
            (column.name == "account_id" || column.name == "creator_id")) {  // two kinds of rows
            required.push_back(column.name);
        }
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)}};
}

/// The marks of cuts.
Json cut_schema() {
    const Json number{{"type", "integer"}};
    return {{"type", Json::array({"array", "null"})},
            {"items",
             {{"type", "object"},
              {"properties",
               {{"member", {{"type", "string"}}},
                {"from", number},
                {"shown", number},
                {"total", number},
                {"next", {{"type", Json::array({"string", "null"})}}}}},
              {"required", Json::array({"member", "from", "shown", "total", "next"})}}}};
}

Json body_schema(const Resource& resource) {
    if (!resource.is_list()) {
        Json schema = row_schema(resource);
        if (resource.is_cut()) {
            schema["properties"]["cut"] = cut_schema();
        }
        return schema;
    }
    Json properties{{"items", {{"type", "array"}, {"items", row_schema(resource)}}},
                    {"next", {{"type", Json::array({"string", "null"})}}}};
    properties["cut"] = cut_schema();
    for (const lists::Column& extra : resource.extras) {
        properties[extra.name] = {{"type", type_of(extra)}};
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", Json::array({"items", "next"})}};
}

Json parameters_json(const Resource& resource) {
    return Json::list(parameters_of(resource), [](const Parameter& parameter) -> Json {
        return {{"name", parameter.name},
                {"in", "query"},
                {"required", parameter.required},
                {"description", parameter.description},
                {"schema", schema_of(parameter)}};
    });
}

Json problem_answer(const std::string& description) {
    return {
        {"description", description},
        {"content",
         {{"application/problem+json", {{"schema", {{"$ref", "#/components/schemas/Problem"}}}}}}}};
}

/// Errors by status, with their codes.
Json with_problems(Json answers) {
    std::map<unsigned, std::string> codes;
    for (const ProblemKind& kind : problem_kinds()) {
        if (kind.status != 405) {
            codes[kind.status] += (codes[kind.status].empty() ? "" : ", ") + std::string(kind.code);
        }
    }
    for (const auto& [status, names] : codes) {
        answers[std::to_string(status)] = problem_answer(names);
    }
    return answers;
}

Json answers_of(const Resource& resource) {
    Json content{{"application/json", {{"schema", body_schema(resource)}}}};
    if (resource.has(kCsv) || resource.path == "statement") {
        content["text/csv"] = {{"schema", {{"type", "string"}}}};
    }
    if (resource.path == "statement") {
        content["text/html"] = {{"schema", {{"type", "string"}}}};
    }
    return with_problems({{"200", {{"description", resource.summary}, {"content", content}}},
                          {"304", {{"description", "The client has this answer"}}}});
}

std::string operation_id(std::string_view path) {
    std::string id = "get_";
    for (const char c : path) {
        id += c == '/' || c == '-' ? '_' : c;
    }
    return id;
}

std::string scope_words(const Resource& resource) {
    if (resource.scope == 0) {
        return "Needs any token or login.";
    }
    if (resource.has(kMakesLink)) {
        return "Needs the scope `creator_pages`, and a server with --creators-config.";
    }
    const bool is_of_creators = (resource.scope & kReadCreators) != 0;
    return std::string("Needs the scope `") +
           ((resource.scope & kReadLedger) != 0 ? "read_ledger" : "read_orders") + "`" +
           (is_of_creators ? ", or the role support." : ".");
}

Json problem_schema() {
    const Json text{{"type", "string"}};
    return {{"type", "object"},
            {"properties",
             {{"type", text},
              {"title", text},
              {"status", {{"type", "integer"}}},
              {"code", text},
              {"detail", text},
              {"errors",
               {{"type", "array"},
                {"items",
                 {{"type", "object"},
                  {"properties", {{"parameter", text}, {"message", text}}},
                  {"required", Json::array({"parameter", "message"})}}}}}}},
            {"required", Json::array({"type", "title", "status", "code"})}};
}

Json document() {
    Json paths = Json::object();
    for (const Resource& resource : resources()) {
        paths["/v1/" + std::string(resource.path)] = {
            {"get",
             {{"operationId", operation_id(resource.path)},
              {"summary", resource.summary},
              {"description", scope_words(resource)},
              {"parameters", parameters_json(resource)},
              {"responses", answers_of(resource)}}}};
    }
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", "sluice read API"},
              {"version", "1"},
              {"description",
               "Read-only view of the commission ledger. Amounts are decimal strings, times are "
               "RFC 3339 in UTC. Clients ignore members that they do not know."},
              {"license", {{"name", "BSD-2-Clause"}, {"identifier", "BSD-2-Clause"}}}}},
            {"servers", Json::array({{{"url", "/"}}})},
            {"security", Json::array({{{"bearer", Json::array()}}})},
            {"paths", std::move(paths)},
            {"components",
             {{"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}},
              {"schemas", {{"Problem", problem_schema()}}}}}};
}

}  // namespace

const std::string& openapi_json() {
    static const std::string text = document().pretty() + "\n";
    return text;
}

}  // namespace sluice::serve
