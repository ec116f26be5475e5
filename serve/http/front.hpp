// Front: everything about a request that needs no ledger. The checks come in this order: target,
// path, method, caller, rate, scope, origin, parameters, account.
//
// One thread. Looks the caller up before and after the read, so that a token or user that is
// revoked meanwhile gets no answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

#include "core/intake/rate_window.hpp"
#include "serve/http/metrics.hpp"
#include "serve/read/build.hpp"
#include "serve/read/caller.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {

/// Windows of callers. Forgets windows that have ended.
class RateWindows {
public:
    explicit RateWindows(RateLimit limit) : limit_(limit) {}
    [[nodiscard]] RateVerdict count(const std::string& caller, std::int64_t now_second);

private:
    RateLimit limit_;
    std::unordered_map<std::string, std::uint64_t> words_;
    std::int64_t swept_second_ = 0;
};

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
};

class Front {
public:
    /// @param silence  Must outlive the front.
    Front(const store::StorePaths& paths, RateLimit limit, SilenceWatch& silence)
        : paths_(paths), callers_(paths), rates_(limit), silence_(silence) {}
    [[nodiscard]] Status open() { return callers_.open(); }

    /// Returns another number once a caller may have been revoked, or 0 if that is not known.
    [[nodiscard]] std::uint64_t registry_generation() const { return callers_.generation(); }

    /// @param is_ready  Whether the ledger can be read.
    [[nodiscard]] Outcome admit(const Request& request, bool is_ready);
    /// Returns the answer that refuses an admitted request because its caller was revoked
    /// meanwhile, or nothing.
    [[nodiscard]] std::optional<Answer> refusal(const Request& request, const Admitted& admitted);
    /// Returns the answer of an admitted request, or its refusal().
    [[nodiscard]] Answer finish(const Request& request, const Admitted& admitted, Answer answer);
    /// Counts an answered request, and writes its line of the log.
    void note(const Request& request, const Outcome& outcome, unsigned status,
              std::chrono::microseconds took);
    [[nodiscard]] Figures& figures() noexcept { return figures_; }

private:
    void admit_resource(const Request& request, const Resource& resource,
                        const std::vector<std::pair<std::string, std::string>>& parameters,
                        Outcome& outcome);

    store::StorePaths paths_;
    Callers callers_;
    RateWindows rates_;
    SilenceWatch& silence_;
    Figures figures_;
};

}  // namespace sluice::serve
