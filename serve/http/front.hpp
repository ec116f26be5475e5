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
#include <utility>

#include "core/intake/rate_window.hpp"
#include "serve/creators/page_config.hpp"
#include "serve/http/gate.hpp"
#include "serve/http/metrics.hpp"
#include "serve/http/rate_windows.hpp"
#include "serve/read/build.hpp"
#include "serve/read/caller.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {

/// A platform makes a link whenever a creator opens its app.
inline constexpr RateLimit kLinkLimit{6000, 60};

class Front final : public Gate {
public:
    /// @param silence  Must outlive the front.
    /// @param pages  The creators' pages, to which links are made. Absent: to none.
    Front(const store::StorePaths& paths, RateLimit limit, SilenceWatch& silence,
          std::optional<PageConfig> pages)
        : paths_(paths),
          callers_(paths),
          rates_(limit),
          silence_(silence),
          pages_(std::move(pages)) {}
    [[nodiscard]] Status open() { return callers_.open(); }

    /// Returns another number once a caller may have been revoked, or 0 if that is not known.
    [[nodiscard]] std::uint64_t registry_generation() const override {
        return callers_.generation();
    }

    /// @param is_ready  Whether the ledger can be read.
    [[nodiscard]] Outcome admit(const Request& request, bool is_ready) override;
    /// Returns the answer that refuses an admitted request because its caller was revoked
    /// meanwhile, or nothing.
    [[nodiscard]] std::optional<Answer> refusal(const Request& request,
                                                const Admitted& admitted) override;
    /// Counts an answered request, and writes its line of the log.
    void note(const Request& request, const Outcome& outcome, unsigned status,
              std::chrono::microseconds took) override;

private:
    [[nodiscard]] std::string metrics() override;
    /// Returns nothing if no such resource is served.
    [[nodiscard]] const Resource* resource_of(const Request& request, std::string_view path) const;
    void admit_resource(const Request& request, const Resource& resource,
                        const std::vector<std::pair<std::string, std::string>>& parameters,
                        Outcome& outcome);

    store::StorePaths paths_;
    Callers callers_;
    RateWindows rates_;
    RateWindows link_rates_{kLinkLimit};
    SilenceWatch& silence_;
    std::optional<PageConfig> pages_;
};

}  // namespace sluice::serve
