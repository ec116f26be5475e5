#include "notify/destination_url.hpp"

#include <algorithm>

#include "program/system/libcurl.hpp"

namespace sluice::notify {
namespace {

Error refused_url(std::string_view why) {
    return invalid("the URL " + std::string(why));
}

bool is_plain_ascii(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string_view without_brackets(std::string_view host) noexcept {
    return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

Result<DestinationUrl> parse_destination_url(std::string_view text, const AddressJudge& judge) {
    if (text.empty() || text.size() > kUrlBytesMax || !is_plain_ascii(text)) {
        return refused_url(
            "must have 1 to 2048 printable ASCII characters (a name with others is written xn--)");
    }
    const auto read = CurlUrl::read(std::string(text));
    if (!read.ok()) {
        return read.error();
    }
    const CurlUrl& url = *read;
    if (!url.is_valid()) {
        return refused_url("is not valid");
    }
    const std::string scheme = url.part(CURLUPART_SCHEME);
    const bool is_encrypted = scheme == "https";
    if (!is_encrypted && scheme != "http") {
        return refused_url("must begin with https://");
    }
    // libcurl would also take one slash or three, and read the path as the host.
    const std::size_t slashes = text.find(":/");
    const bool has_two = slashes != std::string_view::npos && text.substr(slashes, 3) == "://" &&
                         text.substr(slashes + 3, 1) != "/";
    if (!has_two) {
        return refused_url("is not valid");
    }
    if (!is_encrypted && !judge.allows_any()) {
        return refused_url("must begin with https://; --allow-private CIDR admits http within it");
    }
    if (url.has(CURLUPART_USER) || url.has(CURLUPART_PASSWORD)) {
        return refused_url("must not have a user name or password; see --header-from");
    }
    if (url.has(CURLUPART_FRAGMENT)) {
        return refused_url("must not have a fragment (#)");
    }
    if (url.has(CURLUPART_ZONEID)) {
        return refused_url("must not have a zone of an address (%)");
    }
    if (url.part(CURLUPART_PORT) == "0") {
        return refused_url("must not have port 0");
    }
    DestinationUrl parsed;
    parsed.is_encrypted = is_encrypted;
    parsed.host = without_brackets(url.part(CURLUPART_HOST));
    if (parsed.host.empty() || !is_plain_ascii(parsed.host)) {
        return refused_url("has no valid host");
    }
    if (const auto address = IpAddress::parse(parsed.host);
        address && !judge.admits(*address, is_encrypted)) {
        const std::string_view range = refused_range(*address);
        return refused_url(range.empty() ? "must begin with https://, because its address is in no "
                                           "--allow-private block"
                                         : "has an address that is refused (" + std::string(range) +
                                               "); see --allow-private");
    }
    parsed.text = url.part(CURLUPART_URL);
    return parsed;
}

std::string host_of_url(std::string_view url) {
    constexpr std::string_view kSlashes = "//";
    const std::size_t begin = url.find(kSlashes) + kSlashes.size();
    return std::string(
        url.substr(begin, std::min(url.find_first_of("/?", begin), url.size()) - begin));
}

}  // namespace sluice::notify
