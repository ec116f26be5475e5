// Gate: what a server asks of each request before and after the ledger is read. The gate of staff
// and programs is Front, that of creators' pages CreatorFront.
//
// One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/intake/rate_window.hpp"
#include "core/values/interface.hpp"
#include "serve/http/metrics.hpp"
#include "serve/read/build.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {

/// A request that must be read from the ledger, and the headers that its answer has in any case.
struct Admitted {
    Job job;
    std::vector<std::pair<std::string, std::string>> headers;
};

/// Caller and path of a request for the log and the metrics, and its result.
struct Outcome {
    std::string path;     ///< A path of the table, or "other".
    std::string caller;   ///< As Caller::key(), or empty.
    std::string account;  ///< May be empty.
    std::variant<Answer, Admitted> result;
    std::string logged{};  ///< As Answer::logged.
};

class Gate : public Interface {
public:
    /// Returns another number once a caller may have been revoked, or 0 if that is not known.
    [[nodiscard]] virtual std::uint64_t registry_generation() const = 0;
    /// @param is_ready  Whether the ledger can be read.
    [[nodiscard]] virtual Outcome admit(const Request& request, bool is_ready) = 0;
    /// Returns the answer that refuses an admitted request because its caller was revoked
    /// meanwhile, or nothing.
    [[nodiscard]] virtual std::optional<Answer> refusal(const Request& request,
                                                        const Admitted& admitted) = 0;
    /// Returns the answer of an admitted request, or its refusal().
    [[nodiscard]] Answer finish(const Request& request, const Admitted& admitted, Answer answer);
    /// Counts an answered request, and writes its line of the log.
    virtual void note(const Request& request, const Outcome& outcome, unsigned status,
                      std::chrono::microseconds took) = 0;
    [[nodiscard]] Figures& figures() noexcept { return figures_; }

protected:
    /// Returns the figures as Prometheus reads them.
    [[nodiscard]] virtual std::string metrics() = 0;
    /// Returns the answer of a path that both gates have, /health, /ready or /metrics.
    [[nodiscard]] Answer own_answer(std::string_view path, bool is_ready);
    [[nodiscard]] static bool is_own(std::string_view path) noexcept;
    /// Writes one line for a request, without its parameters.
    /// @param more  A further word, or empty.
    static void log_answer(const std::string& caller, const Request& request,
                           const Outcome& outcome, unsigned status, std::chrono::microseconds took,
                           const std::string& more = {});

    Figures figures_;
};

/// Adds the headers that tell a caller its rate. Returns the refusal if it is used up.
[[nodiscard]] std::optional<Answer> tell_rate(const RateVerdict& verdict, Admitted& admitted);
/// Adds the headers that the answer of the request has in any case.
[[nodiscard]] Answer with_headers(Answer answer, const Admitted& admitted);
[[nodiscard]] Answer text_answer(std::string text);

}  // namespace sluice::serve
