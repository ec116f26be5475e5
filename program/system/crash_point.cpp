#include "program/system/crash_point.hpp"

#ifdef SLUICE_CRASH_POINTS
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace sluice::worker {
namespace {

/// Names and hits of a plan. Threads count hits; none runs while a test makes a new plan.
struct Plan {
    std::string name;
    std::atomic<std::uint64_t> hits_left = 0;

    void parse(std::string_view text) {
        const std::size_t colon = text.find(':');
        const bool is_counted = !text.empty() && colon != std::string_view::npos;
        name = text.substr(0, colon);
        const std::uint64_t once = text.empty() ? 0 : 1;
        hits_left = is_counted
                        ? std::strtoull(std::string(text.substr(colon + 1)).c_str(), nullptr, 10)
                        : once;
    }
};

Plan& the_plan() {
    static Plan plan;
    static const bool is_read = [] {
        const char* const text = std::getenv("SLUICE_CRASH_AT");
        plan.parse(text == nullptr ? "" : text);
        return true;
    }();
    static_cast<void>(is_read);
    return plan;
}

}  // namespace

void plan_crash(std::string_view plan) {
    the_plan().parse(plan);
}

void crash_point(std::string_view name) noexcept {
    Plan& plan = the_plan();
    if (plan.hits_left != 0 && name == plan.name && --plan.hits_left == 0) {
        std::raise(SIGKILL);
    }
}

}  // namespace sluice::worker

#else

namespace sluice::worker {

void crash_point(std::string_view /*name*/) noexcept {}

}  // namespace sluice::worker

#endif  // SLUICE_CRASH_POINTS
