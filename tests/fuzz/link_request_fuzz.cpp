// Link request: whatever path and query are sent, and whatever a destination is, the visitor goes
// to the origin of the destination, by bytes of RFC 3986, and with no other device than the one
// that nginx gives. A line each: the destination, the raw target.
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/links/redirect.hpp"

namespace {

constexpr std::string_view kPrefix = "/l/", kDevice = "0123456789abcdef";

int hex_of(char c) {
    const std::string_view digits = "0123456789abcdef";
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::size_t at = digits.find(lower);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// Decodes as a shop does: a percent sign without two digits stays.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_escape = text[at] == '%' && text.size() - at > 2 &&
                               hex_of(text[at + 1]) >= 0 && hex_of(text[at + 2]) >= 0;
        out += is_escape ? static_cast<char>(hex_of(text[at + 1]) * 16 + hex_of(text[at + 2]))
                         : text[at];
        at += is_escape ? 2 : 0;
    }
    return out;
}

/// Returns whether the text has only characters of RFC 3986.
bool is_rfc3986(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool is_plain =
            (std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<signed char>(c) > 0) ||
            (c != '\0' &&
             std::string_view("-._~:/?#@!$&'()*+,;=").find(c) != std::string_view::npos);
        const bool is_escape = c == '%' && text.size() - at > 2 && hex_of(text[at + 1]) >= 0 &&
                               hex_of(text[at + 2]) >= 0;
        if (!is_plain && !is_escape) {
            return false;
        }
    }
    return std::count(text.begin(), text.end(), '#') <= 1;
}

std::string_view origin_of(std::string_view url) {
    const std::size_t authority = url.find("://") + 3;
    return url.substr(0, std::min(url.find_first_of("/?#", authority), url.size()));
}

/// The raw values of the parameters whose decoded name is `name`.
std::vector<std::string_view> values_of(std::string_view url, std::string_view name) {
    url = url.substr(0, url.find('#'));
    const std::size_t mark = url.find('?');
    std::string_view query = mark == std::string_view::npos ? "" : url.substr(mark + 1);
    std::vector<std::string_view> found;
    while (!query.empty()) {
        const std::string_view parameter = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(parameter.size() + 1, query.size()));
        const std::string_view its_name = parameter.substr(0, parameter.find('='));
        if (decoded(its_name) == name) {
            found.push_back(parameter.substr(std::min(its_name.size() + 1, parameter.size())));
        }
    }
    return found;
}

/// Returns whether a browser or a shop that decodes twice would leave the path's folder.
bool has_dots(std::string_view path) {
    const std::string once = decoded(path);
    std::string segment;
    for (const char c : once + "/") {
        if (c != '/' && c != '\\') {
            segment += c;
            continue;
        }
        if (segment == "." || segment == "..") {
            return true;
        }
        segment.clear();
    }
    return false;
}

void check_address(const std::string& address, const sluice::Destination& to,
                   const sluice::RedirectParts& parts) {
    FUZZ_CHECK(is_rfc3986(address));
    FUZZ_CHECK(origin_of(address) == origin_of(to.base));
    FUZZ_CHECK(address.starts_with(std::string(to.base) + std::string(parts.rest)));
    FUZZ_CHECK(address.ends_with(to.fragment));
    const std::vector<std::string_view> devices = values_of(address, parts.device_name);
    FUZZ_CHECK(devices.size() == (parts.device.empty() ? 0 : 1));
    FUZZ_CHECK(devices.empty() || devices.front() == parts.device);
    // Nothing of the visitor's is lost but devices: a parameter stands or was encoded.
    FUZZ_CHECK(address.size() <= to.base.size() + to.query.size() + to.fragment.size() +
                                     parts.rest.size() + 3 * parts.query.size() +
                                     parts.device_name.size() + parts.device.size() + 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::string_view kShop = "https://shop.example/us?x=1#top";
    std::string_view input = sluice::fuzz::text_of(data, size);
    const unsigned choice = sluice::fuzz::take_choice(input);
    const std::string_view url = input.substr(0, input.find('\n'));
    const std::string_view raw = input.substr(std::min(url.size() + 1, input.size()));

    sluice::Result<sluice::Destination> to = sluice::parse_destination(url);
    FUZZ_CHECK(to.ok() || !to.error().message.empty());
    if (to.ok()) {
        FUZZ_CHECK(is_rfc3986(url) && url.size() <= sluice::kDestinationBytesMax);
        FUZZ_CHECK(origin_of(url).find('@') == std::string_view::npos && !to->host.empty());
        FUZZ_CHECK(values_of(url, sluice::kDeviceName).empty());
        FUZZ_CHECK(
            origin_of(url).starts_with(std::string(to->scheme) + "://" + std::string(to->host)));
    } else {
        to = sluice::parse_destination(kShop);
    }

    const auto target = sluice::parse_link_target(raw, kPrefix);
    if (!target) {
        return 0;
    }
    const std::string path =
        std::string(kPrefix) + std::string(target->id) + std::string(target->rest);
    FUZZ_CHECK(raw == path || raw == path + "?" + std::string(target->query));
    const bool is_deep = (choice & 1U) != 0;
    if (!sluice::fits_link(*target, is_deep)) {
        return 0;
    }
    FUZZ_CHECK(!has_dots(target->rest) || !is_deep);
    sluice::RedirectParts parts;
    parts.device = (choice & 2U) != 0 ? kDevice : "";
    if (is_deep) {
        parts.rest = target->rest;
        parts.query = target->query;
    }
    check_address(sluice::redirect_address(*to, parts), *to, parts);
    return 0;
}
