#include "core/payouts/payout_id.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kNumberDigitsMin = 4;

}  // namespace

std::string payout_id(std::string_view run, std::uint64_t number) {
    std::string digits = std::to_string(number);
    digits.insert(0, kNumberDigitsMin - std::min(kNumberDigitsMin, digits.size()), '0');
    return "P" + std::string(run.substr(1)) + "-" + digits;
}

}  // namespace sluice
