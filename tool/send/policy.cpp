#include "tool/send/policy.hpp"

#include <algorithm>

#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

constexpr std::int64_t kWaitFirstMs = 250;
constexpr std::int64_t kWaitMaxMs = 30'000;
constexpr std::chrono::minutes kFailingMax{2};
constexpr unsigned kFailuresMin = 3;

bool is_temporary(long status) {
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

using Element = simdjson::dom::element;

/// Returns `field: CODE: message`, without the parts that are not there.
std::string problem_text(Element problem) {
    std::string text;
    for (const char* const name : {"field", "code", "message"}) {
        const std::string part = text_member(problem, name);
        text += part.empty() || text.empty() ? part : ": " + part;
    }
    return printable(text);
}

std::vector<RecordProblem> problems_in(const std::string& body, const char* list_name) {
    std::vector<RecordProblem> problems;
    JsonDocument answer;
    simdjson::dom::array list;
    if (!answer.parse(body) || answer.root()[list_name].get(list) != simdjson::SUCCESS) {
        return problems;
    }
    for (const Element item : list) {
        RecordProblem problem;
        std::uint64_t index = 0;
        if (item["index"].get(index) == simdjson::SUCCESS) {
            problem.index = index;
        }
        problem.text = problem_text(item);
        problems.push_back(std::move(problem));
    }
    return problems;
}

/// Describes a temporary failure. A 503 of sluice itself always has Retry-After.
std::string temporary_text(const HttpResponse& response) {
    if (response.status == 429) {
        return "rate limited";
    }
    std::string text = "the server answers " + std::to_string(response.status);
    if (response.status == 503 && !response.retry_after_s) {
        text += " without Retry-After (limit_req, limit_conn or a proxy in front of sluice?)";
    }
    return text;
}

Judgement fatal(std::string why) {
    return {Verdict::kFatal, std::move(why), {}, false};
}

/// Judges the answers that all endpoints have in common.
Judgement judge_status(const HttpResponse& response) {
    if (response.status == 0) {
        return {Verdict::kRetry, response.error, {}, true};
    }
    if (is_temporary(response.status)) {
        const bool all_wait = response.status == 429 || response.status == 503;
        return {Verdict::kRetry, temporary_text(response), {}, all_wait};
    }
    if (response.status == 413) {
        return {Verdict::kTooLarge, "413: larger than the server accepts", {}, false};
    }
    JsonDocument answer;
    const std::string said =
        answer.parse(response.body) ? text_member(answer.root(), "message") : std::string();
    return fatal("the server answers " + std::to_string(response.status) +
                 (said.empty() ? "" : " (" + printable(said) + ")") +
                 (response.status == 404 && said.empty()
                      ? ": there is no endpoint below that address; --url is the base address, as "
                        "in https://shop.example.com"
                      : ""));
}

}  // namespace

std::string text_member(Element object, const char* name) {
    std::string_view text;
    return object[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

Judgement judge_event(const HttpResponse& response) {
    switch (response.status) {
        case 200:
            return response.body == "success"
                       ? Judgement{Verdict::kDone, {}, {}, false}
                       : fatal("the server answers 200 without `success`: is the address right?");
        case 400: {
            Judgement judgement{Verdict::kRejected, "400", problems_in(response.body, "details"),
                                false};
            if (judgement.problems.empty()) {
                judgement.problems.push_back({0, "400 without a reason"});
            }
            for (RecordProblem& problem : judgement.problems) {
                problem.index = 0;
            }
            return judgement;
        }
        case 401:
            return fatal("the server answers 401: the shop, the token or its scope is wrong");
        default:
            return judge_status(response);
    }
}

Judgement judge_batch(const HttpResponse& response, std::size_t records_count) {
    if (response.status == 200) {
        JsonDocument answer;
        bool success = false;
        std::uint64_t processed = 0;
        const bool counted = answer.parse(response.body) &&
                             answer.root()["success"].get(success) == simdjson::SUCCESS &&
                             answer.root()["processedCount"].get(processed) == simdjson::SUCCESS;
        return counted && success && processed == records_count
                   ? Judgement{Verdict::kDone, {}, {}, false}
                   : fatal("the server answers 200 without success: is the address right?");
    }
    if (response.status != 422) {
        return judge_status(response);
    }
    Judgement judgement{Verdict::kRejected, "422", problems_in(response.body, "recordErrors"),
                        false};
    for (RecordProblem& problem : judgement.problems) {
        problem.text = without_place(problem.text, "products");
    }
    const bool placed = std::ranges::all_of(judgement.problems, [&](const RecordProblem& problem) {
        return problem.index < records_count;
    });
    return judgement.problems.empty() || !placed
               ? fatal("the server answers 422 without saying which records")
               : judgement;
}

namespace {

/// Returns the number in `clicks[3]`, or nothing.
std::optional<std::uint64_t> place_in(std::string_view problem, std::string_view list) {
    const std::size_t end = problem.find(']');
    if (!problem.starts_with(std::string(list) + "[") || end == std::string_view::npos) {
        return std::nullopt;
    }
    return parse_digits(problem.substr(list.size() + 1, end - list.size() - 1));
}

}  // namespace

Judgement judge_clicks(const HttpResponse& response, std::size_t records_count) {
    Judgement judgement = judge_event(response);
    if (judgement.verdict != Verdict::kRejected) {
        return judgement;
    }
    for (RecordProblem& problem : judgement.problems) {
        const std::optional<std::uint64_t> index = place_in(problem.text, "clicks");
        if (!index || *index >= records_count) {
            return fatal("the server answers 400: " + problem.text);
        }
        problem.index = *index;
        problem.text = without_place(problem.text, "clicks");
    }
    return judgement;
}

bool gives_up(unsigned failures, std::chrono::milliseconds failing_for, bool reached) noexcept {
    return failures >= kFailuresMin && (!reached || failing_for >= kFailingMax);
}

std::string without_place(const std::string& problem, std::string_view list) {
    const std::size_t end = problem.find(']');
    if (!problem.starts_with(std::string(list) + "[") || end == std::string::npos) {
        return problem;
    }
    const std::size_t rest = problem.find_first_not_of(".: ", end + 1);
    return rest == std::string::npos ? std::string() : problem.substr(rest);
}

std::int64_t retry_wait_ms(unsigned failures, std::optional<std::int64_t> retry_after_s) noexcept {
    const unsigned doublings = std::min(failures == 0 ? 0 : failures - 1, 16u);
    const std::int64_t wait = std::min(kWaitFirstMs << doublings, kWaitMaxMs);
    return std::max(wait, std::clamp<std::int64_t>(retry_after_s.value_or(0), 0, 86'400) * 1000);
}

}  // namespace sluice::cli
