#include "core/values/payee_mask.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string masked_payee(std::string_view payee) {
    constexpr std::string_view kDots = "••••";
    constexpr std::size_t kShownAtEnd = 4, kShortest = 8;
    const auto count = std::ranges::count_if(payee, [](char c) { return !is_continuation(c); });
    if (static_cast<std::size_t>(count) < kShortest) {
        return std::string(kDots);
    }
    std::size_t at = payee.size();
    for (std::size_t shown = 0; shown < kShownAtEnd;
         shown += is_continuation(payee[at]) ? 0U : 1U) {
        --at;
    }
    return std::string(kDots) + std::string(payee.substr(at));
}

}  // namespace sluice
