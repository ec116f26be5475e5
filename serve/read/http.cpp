#include "serve/read/http.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url_view.hpp>

#include "core/json/value.hpp"
#include "core/values/assert.hpp"
#include "core/values/lookup.hpp"

namespace sluice::serve {
namespace {

namespace urls = boost::urls;

std::string decoded(urls::pct_string_view text) {
    urls::encoding_opts options;
    options.space_as_plus = true;
    return text.decode(options);
}

/// @param name, more  A further member of the problem, unless it is null.
Answer problem_of(std::string_view code, std::string_view name, Json more) {
    const ProblemKind* const kind = find_item(problem_kinds(), code, &ProblemKind::code);
    SLUICE_ASSERT(kind != nullptr);
    Json object{{"type", "about:blank"},
                {"title", kind->title},
                {"status", kind->status},
                {"code", kind->code}};
    if (!more.is_null()) {
        object[name] = std::move(more);
    }
    return {.status = kind->status, .type = "application/problem+json", .body = object.compact()};
}

}  // namespace

Parsed<Target> parse_target(std::string_view text) {
    const auto url = urls::parse_origin_form({text.data(), text.size()});
    if (!url) {
        return std::nullopt;
    }
    Target target;
    target.path = std::string(url->encoded_path());
    for (const auto& parameter : url->encoded_params()) {
        if (!parameter.key.empty() || !parameter.value.empty()) {  // as in `?` and `&&`
            target.parameters.emplace_back(decoded(parameter.key), decoded(parameter.value));
        }
    }
    return target;
}

std::string decoded_part(std::string_view part) {
    return urls::pct_string_view(part.data(), part.size()).decode();
}

std::string encoded(std::string_view text) {
    return urls::encode({text.data(), text.size()}, urls::unreserved_chars);
}

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
    Answer answer = problem_of(code, "detail", text_or_null(detail));
    if (answer.status == 503) {
        answer.with("Retry-After", "1");
    } else if (answer.status == 405) {
        answer.with("Allow", "GET, HEAD");
    }
    return answer;
}

Answer parameter_problem(const std::vector<ParameterError>& errors) {
    return problem_of("parameter", "errors",
                      Json::list(errors, [](const ParameterError& error) -> Json {
                          return {{"parameter", error.parameter}, {"message", error.message}};
                      }));
}

}  // namespace sluice::serve
