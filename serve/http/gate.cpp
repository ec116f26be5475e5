#include "serve/http/gate.hpp"

#include <cstdio>

#include "os/clock/clock.hpp"

namespace sluice::serve {

Answer Gate::finish(const Request& request, const Admitted& admitted, Answer answer) {
    std::optional<Answer> refused = refusal(request, admitted);
    return with_headers(refused ? *std::move(refused) : std::move(answer), admitted);
}

bool Gate::is_own(std::string_view path) noexcept {
    return path == "/health" || path == "/ready" || path == "/metrics";
}

Answer Gate::own_answer(std::string_view path, bool is_ready) {
    if (path == "/ready" && !is_ready) {
        return problem("ledger_unavailable");
    }
    if (path != "/metrics") {
        return text_answer("ok\n");
    }
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics()};
}

void Gate::log_answer(const std::string& caller, const Request& request, const Outcome& outcome,
                      unsigned status, std::chrono::microseconds took, const std::string& more) {
    std::fprintf(stderr, "%s %s %s %s %s %u %lld us%s%s\n", now_ms().to_string().c_str(),
                 caller.empty() ? "-" : caller.c_str(),
                 outcome.account.empty() ? "-" : outcome.account.c_str(),
                 request.method == "HEAD" ? "HEAD" : "GET", outcome.path.c_str(), status,
                 static_cast<long long>(took.count()), more.empty() ? "" : " ", more.c_str());
}

std::optional<Answer> tell_rate(const RateVerdict& verdict, Admitted& admitted) {
    admitted.headers.insert(admitted.headers.end(),
                            {{"X-RateLimit-Limit", std::to_string(verdict.limit)},
                             {"X-RateLimit-Remaining", std::to_string(verdict.remaining)},
                             {"X-RateLimit-Reset", std::to_string(verdict.reset_second)}});
    return verdict.allowed
               ? std::nullopt
               : std::optional(problem("rate_limited")
                                   .with("Retry-After", std::to_string(verdict.retry_after)));
}

Answer with_headers(Answer answer, const Admitted& admitted) {
    answer.headers.insert(answer.headers.end(), admitted.headers.begin(), admitted.headers.end());
    return answer;
}

Answer text_answer(std::string text) {
    return {.type = "text/plain; charset=utf-8", .body = std::move(text)};
}

}  // namespace sluice::serve
