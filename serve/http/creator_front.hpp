// Creator front: the requests of creators' pages, below /c/ACCOUNT/. No
// cookie, user or API token counts here, and no path of staff is served.
//
// One thread, but for what reading threads count.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "serve/creators/page_config.hpp"
#include "serve/creators/page_tokens.hpp"
#include "serve/creators/paths.hpp"
#include "serve/http/gate.hpp"
#include "serve/http/rate_windows.hpp"

namespace sluice::serve {

inline constexpr RateLimit kCreatorLimit{120, 60};

/// How often creators may look for orders: 30 times in a UTC day, and an account's creators
/// together 300 times in an hour. In the memory of this process.
class FindLimits {
public:
    /// Counts one, and returns nothing; or the seconds until the next one.
    [[nodiscard]] std::optional<std::int64_t> count(const std::string& account,
                                                    const std::string& caller,
                                                    std::int64_t now_second);

private:
    struct Window {
        std::int64_t begins = 0;
        unsigned count = 0;
    };
    std::map<std::string, Window> creators_, accounts_;
};

class CreatorFront final : public Gate {
public:
    CreatorFront(const store::StorePaths& paths, PageConfig pages, RateLimit limit)
        : pages_(std::move(pages)), tokens_(paths), rates_(limit) {}
    [[nodiscard]] Status open() { return tokens_.open(); }

    [[nodiscard]] std::uint64_t registry_generation() const override {
        return tokens_.generation();
    }
    [[nodiscard]] Outcome admit(const Request& request, bool is_ready) override;
    [[nodiscard]] std::optional<Answer> refusal(const Request& request,
                                                const Admitted& admitted) override;
    void note(const Request& request, const Outcome& outcome, unsigned status,
              std::chrono::microseconds took) override;

private:
    void admit_path(const Request& request, const AccountId& account, const CreatorPath& path,
                    const Target& target, Outcome& outcome);
    [[nodiscard]] std::string metrics() override;

    PageConfig pages_;
    PageTokens tokens_;
    RateWindows rates_;
    FindLimits finds_;
    std::map<std::string_view, std::uint64_t> refused_;  ///< By reason.
    std::shared_ptr<std::atomic<std::uint64_t>> foreign_rows_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::shared_ptr<FoundCounts> found_ = std::make_shared<FoundCounts>();
};

}  // namespace sluice::serve
