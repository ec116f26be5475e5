#include "notify/destination_url.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "program/system/libcurl.hpp"

namespace sluice::notify {
namespace {

struct UrlDeleter {
    void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct TextDeleter {
    void operator()(char* text) const noexcept { curl_free(text); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

Error refused_url(std::string_view why) {
    return {ErrorCode::kInvalid, "the URL " + std::string(why)};
}

/// Returns a part of the URL, or nothing if it has none.
std::optional<std::string> find_part(const Url& url, CURLUPart part) {
    char* text = nullptr;
    const bool there = curl_url_get(url.get(), part, &text, 0) == CURLUE_OK;
    const std::unique_ptr<char, TextDeleter> owned(text);
    return there ? std::optional<std::string>(text) : std::nullopt;
}

/// Returns a part of the URL, or an empty text.
std::string part_of(const Url& url, CURLUPart part) {
    return find_part(url, part).value_or("");
}

bool is_plain_ascii(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
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
    if (Status loaded = kLibcurl.load(); !loaded.ok()) {
        return loaded.error();
    }
    const Url url(curl_url());
    if (url == nullptr) {
        throw std::bad_alloc();
    }
    if (curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(),
                     CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
        return refused_url("is not valid");
    }
    const std::string scheme = part_of(url, CURLUPART_SCHEME);
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
    if (find_part(url, CURLUPART_USER) || find_part(url, CURLUPART_PASSWORD)) {
        return refused_url("must not have a user name or password; see --header-from");
    }
    if (find_part(url, CURLUPART_FRAGMENT)) {
        return refused_url("must not have a fragment (#)");
    }
    if (find_part(url, CURLUPART_ZONEID)) {
        return refused_url("must not have a zone of an address (%)");
    }
    if (part_of(url, CURLUPART_PORT) == "0") {
        return refused_url("must not have port 0");
    }
    DestinationUrl parsed;
    parsed.is_encrypted = is_encrypted;
    parsed.host = without_brackets(part_of(url, CURLUPART_HOST));
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
    parsed.text = part_of(url, CURLUPART_URL);
    return parsed;
}

std::string host_of_url(std::string_view url) {
    constexpr std::string_view kSlashes = "//";
    const std::size_t begin = url.find(kSlashes) + kSlashes.size();
    return std::string(
        url.substr(begin, std::min(url.find_first_of("/?", begin), url.size()) - begin));
}

}  // namespace sluice::notify
