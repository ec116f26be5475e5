#include "core/shops/device_id.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/protocol/signature.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::size_t kDeviceIdBytesMin = 8;
constexpr std::size_t kDeviceIdBytesMax = 128;

bool is_device_character(char c) noexcept {
    return is_ascii_letter_or_digit(c) || c == '.' || c == '_' || c == '~' || c == '-';
}

/// Decodes `%41`. Other text stays as it is.
std::string percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::array<std::uint8_t, 1> byte{};
        if (text[at] == '%' && read_hex(text.substr(at + 1, 2), byte, HexCase::kEither)) {
            plain += static_cast<char>(byte[0]);
            at += 2;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

}  // namespace

bool is_device_id(std::string_view text) noexcept {
    return text.size() >= kDeviceIdBytesMin && text.size() <= kDeviceIdBytesMax &&
           std::ranges::all_of(text, is_device_character);
}

bool names_device(std::string_view attribute, std::string_view field) noexcept {
    return attribute == field || (attribute.starts_with('_') && attribute.substr(1) == field);
}

std::string device_of_url(std::string_view url, std::string_view field) {
    url = url.substr(0, url.find('#'));
    const std::size_t question = url.find('?');
    std::string_view query =
        question == std::string_view::npos ? std::string_view() : url.substr(question + 1);
    while (!query.empty()) {
        const std::size_t end = query.find('&');
        const std::string_view pair = query.substr(0, end);
        query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos && percent_decoded(pair.substr(0, equals)) == field) {
            std::string id = percent_decoded(pair.substr(equals + 1));
            return is_device_id(id) ? id : std::string();
        }
    }
    return {};
}

}  // namespace sluice
