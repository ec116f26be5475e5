#include "worker/read/problem.hpp"

#include <algorithm>

#include "core/reports/json.hpp"
#include "core/values/assert.hpp"

namespace sluice::serve {
namespace {

using reports::Json;

const ProblemKind& kind_of(std::string_view code) {
    const auto& kinds = problem_kinds();
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [code](const ProblemKind& kind) { return kind.code == code; });
    SLUICE_ASSERT(found != kinds.end());
    return *found;
}

Json object_of(const ProblemKind& kind) {
    return {{"type", "about:blank"},
            {"title", kind.title},
            {"status", kind.status},
            {"code", kind.code}};
}

Answer answer_of(const ProblemKind& kind, const Json& object) {
    Answer answer;
    answer.status = kind.status;
    answer.type = "application/problem+json";
    answer.body = object.compact();
    return answer;
}

}  // namespace

const std::vector<ProblemKind>& problem_kinds() {
    static const std::vector<ProblemKind> kinds{
        {431, "head_too_large", "The request's head is larger than 16 KB"},
        {414, "uri_too_long", "The request's target is longer than 8 KB"},
        {400, "bad_request", "The request is not HTTP/1.0 or HTTP/1.1 without a body"},
        {404, "no_such_path", "There is no such path"},
        {405, "method_not_allowed", "Only GET and HEAD are allowed"},
        {401, "unauthorized", "A valid token or login is required"},
        {429, "rate_limited", "The rate limit is used up"},
        {403, "no_account", "The user has no account"},
        {403, "scope", "The caller lacks the scope that this path needs"},
        {403, "cross_site", "Requests from other sites are refused"},
        {400, "parameter", "A parameter is wrong"},
        {400, "cursor_invalid", "The cursor is not one of this query"},
        {410, "cursor_diverged", "The ledger is not the one that the cursor was taken from"},
        {404, "not_found", "There is no such row in this account"},
        {503, "busy", "Too many requests wait"},
        {503, "ledger_unavailable", "The ledger cannot be read now"},
        {500, "internal", "The server has failed"}};
    return kinds;
}

Answer problem(std::string_view code, std::string_view detail) {
    const ProblemKind& kind = kind_of(code);
    Json object = object_of(kind);
    if (!detail.empty()) {
        object["detail"] = detail;
    }
    Answer answer = answer_of(kind, object);
    if (kind.status == 503) {
        answer.with("Retry-After", "1");
    } else if (kind.status == 405) {
        answer.with("Allow", "GET, HEAD");
    }
    return answer;
}

Answer parameter_problem(const std::vector<ParameterError>& errors) {
    const ProblemKind& kind = kind_of("parameter");
    Json list = Json::array();
    for (const ParameterError& error : errors) {
        list.push_back({{"parameter", error.parameter}, {"message", error.message}});
    }
    Json object = object_of(kind);
    object["errors"] = std::move(list);
    return answer_of(kind, object);
}

}  // namespace sluice::serve
