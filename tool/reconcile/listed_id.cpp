#include "tool/reconcile/listed_id.hpp"

#include <algorithm>

namespace sluice::cli {
namespace {

constexpr std::size_t kSpreadsheetDigits = 15;  ///< More are lost.

bool is_number(std::string_view text) noexcept {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
}

/// 5.8387E+17, 5,8387E+17, 5E+17
bool is_in_exponent_form(std::string_view text) noexcept {
    const std::size_t at = text.find_first_of("eE");
    if (at == std::string_view::npos || !is_number(text.substr(0, std::min<std::size_t>(at, 1)))) {
        return false;
    }
    const std::string_view fraction = text.substr(1, at - 1);
    std::string_view exponent = text.substr(at + 1);
    exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
    return is_number(exponent) &&
           (fraction.empty() || ((fraction.front() == '.' || fraction.front() == ',') &&
                                 is_number(fraction.substr(1))));
}

}  // namespace

std::string_view plain_id(std::string_view id) noexcept {
    constexpr std::string_view kAround = " \t\r\n'";
    constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
    for (bool again = true; again;) {
        const std::size_t before = id.size();
        id.remove_prefix(std::min(id.find_first_not_of(kAround), id.size()));
        id.remove_suffix(id.size() - std::min(id.find_last_not_of(kAround) + 1, id.size()));
        id.remove_prefix(id.starts_with(kNoBreakSpace) ? kNoBreakSpace.size() : 0);
        id.remove_suffix(id.ends_with(kNoBreakSpace) ? kNoBreakSpace.size() : 0);
        if (id.size() > 3 && id.starts_with("=\"") && id.ends_with('"')) {
            id = id.substr(2, id.size() - 3);
        }
        again = id.size() != before;
    }
    return id;
}

std::vector<std::string> ids_with_zeros(std::string_view id) {
    constexpr std::size_t kZerosMax = 12;
    std::vector<std::string> ids;
    for (std::size_t zeros = 1;
         zeros <= kZerosMax && is_number(id) && id.size() <= kSpreadsheetDigits; ++zeros) {
        ids.push_back(std::string(zeros, '0').append(id));
    }
    return ids;
}

std::optional<std::string> rounding_of(std::string_view id) {
    const bool is_rounded =
        is_number(id) && id.size() > kSpreadsheetDigits &&
        id.substr(kSpreadsheetDigits).find_first_not_of('0') == std::string_view::npos;
    if (!is_rounded && !is_in_exponent_form(id)) {
        return std::nullopt;
    }
    return "the ledger has no such order, and a spreadsheet rounds numbers like this: export the "
           "ids "
           "as text";
}

}  // namespace sluice::cli
