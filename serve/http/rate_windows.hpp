// Rate windows of callers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/intake/rate_window.hpp"

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

}  // namespace sluice::serve
