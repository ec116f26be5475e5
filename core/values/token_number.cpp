#include "core/values/token_number.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace sluice {
namespace {

constexpr std::string_view kPrefix = "tok_";
constexpr std::size_t kDigitsCount = 16;

}  // namespace

std::uint64_t token_number(std::string_view token_id) noexcept {
    constexpr int kHex = 16;
    if (token_id.size() != kPrefix.size() + kDigitsCount || !token_id.starts_with(kPrefix)) {
        return 0;
    }
    const char* const end = token_id.data() + token_id.size();
    std::uint64_t number = 0;
    const auto read = std::from_chars(token_id.data() + kPrefix.size(), end, number, kHex);
    return read.ec == std::errc() && read.ptr == end ? number : 0;
}

std::string token_id_of(std::uint64_t number) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string id = std::string(kPrefix) + std::string(kDigitsCount, '0');
    for (std::size_t at = id.size(); number != 0; number >>= 4) {
        id[--at] = kDigits[number & 0xF];
    }
    return id;
}

}  // namespace sluice
