#include "program/system/crash_point.hpp"

#ifdef SLUICE_CRASH_POINTS
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace sluice::worker {
namespace {

struct Plan {
    std::string name;
    std::uint64_t hits_left = 0;
};

Plan parse_plan(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (text.empty() || colon == std::string_view::npos) {
        return {std::string(text), text.empty() ? std::uint64_t{0} : std::uint64_t{1}};
    }
    return {std::string(text.substr(0, colon)),
            std::strtoull(std::string(text.substr(colon + 1)).c_str(), nullptr, 10)};
}

Plan& the_plan() {
    static Plan plan = [] {
        const char* const text = std::getenv("SLUICE_CRASH_AT");
        return parse_plan(text == nullptr ? "" : text);
    }();
    return plan;
}

}  // namespace

void plan_crash(std::string_view plan) {
    the_plan() = parse_plan(plan);
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
