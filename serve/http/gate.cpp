#include "serve/http/gate.hpp"

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
    Answer answer = text_answer(metrics());
    answer.type = "text/plain; version=0.0.4; charset=utf-8";
    return answer;
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
    Answer answer;
    answer.type = "text/plain; charset=utf-8";
    answer.body = std::move(text);
    return answer;
}

}  // namespace sluice::serve
