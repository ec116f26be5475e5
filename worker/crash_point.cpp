#include "worker/crash_point.hpp"

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

Plan read_plan() {
    const char* const text = std::getenv("SLUICE_CRASH_AT");
    if (text == nullptr) {
        return {};
    }
    const std::string_view plan(text);
    const std::size_t colon = plan.find(':');
    if (colon == std::string_view::npos) {
        return {std::string(plan), 1};
    }
    return {std::string(plan.substr(0, colon)), std::strtoull(text + colon + 1, nullptr, 10)};
}

}  // namespace

void crash_point(std::string_view name) noexcept {
    static Plan plan = read_plan();
    if (plan.hits_left != 0 && name == plan.name && --plan.hits_left == 0) {
        std::raise(SIGKILL);
    }
}

}  // namespace sluice::worker
