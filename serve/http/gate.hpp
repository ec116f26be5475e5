// Gate: what a server asks of each request before and after the ledger is read. The gate of staff
// and programs is Front, that of creators' pages CreatorFront.
//
// One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
    [[nodiscard]] virtual Answer finish(const Request& request, const Admitted& admitted,
                                        Answer answer) = 0;
    /// Counts an answered request, and writes its line of the log.
    virtual void note(const Request& request, const Outcome& outcome, unsigned status,
                      std::chrono::microseconds took) = 0;
    [[nodiscard]] virtual Figures& figures() noexcept = 0;
};

}  // namespace sluice::serve
