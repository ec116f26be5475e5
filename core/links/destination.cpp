#include "core/links/destination.hpp"

#include <algorithm>
#include <cstdint>

#include "core/values/texts.hpp"

namespace sluice {
namespace {

Error fault_at(std::size_t at, const std::string& what) {
    return {ErrorCode::kInvalid, "byte " + std::to_string(at + 1) + " of the URL: " + what};
}

/// Requires: `begin` is where the text of the host begins in the URL.
Status check_host(std::string_view host, std::size_t begin) {
    for (std::size_t at = 0; at < host.size(); ++at) {
        if (!is_ascii_letter_or_digit(host[at]) && host[at] != '-' && host[at] != '.') {
            return fault_at(begin + at, "expected a host of letters, digits, dots and hyphens");
        }
    }
    const bool is_name = !host.empty() && is_ascii_letter_or_digit(host.front()) &&
                         is_ascii_letter_or_digit(host.back()) &&
                         host.find("..") == std::string_view::npos;
    return is_name ? Status::success() : Status(fault_at(begin, "expected the name of a host"));
}

Status check_port(std::string_view port, std::size_t begin) {
    std::uint32_t number = 0;
    for (const char c : port) {
        if (c < '0' || c > '9' || number > UINT16_MAX) {
            return fault_at(begin, "expected a port from 1 to 65535");
        }
        number = number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    return number != 0 && number <= UINT16_MAX
               ? Status::success()
               : Status(fault_at(begin, "expected a port from 1 to 65535"));
}

Status check_authority(std::string_view authority, std::size_t begin, Destination& parts) {
    if (const std::size_t at = authority.find('@'); at != std::string_view::npos) {
        return fault_at(begin + at, "expected no user name and no password");
    }
    const std::size_t colon = authority.find(':');
    parts.host = authority.substr(0, colon);
    if (Status sound = check_host(parts.host, begin); !sound) {
        return sound;
    }
    return colon == std::string_view::npos
               ? Status::success()
               : check_port(authority.substr(colon + 1), begin + colon + 1);
}

/// Checks path, query and fragment, in which only `?` and one `#` stand for themselves.
Status check_rest(std::string_view url, std::size_t begin) {
    bool in_fragment = false;
    for (std::size_t at = begin; at < url.size();) {
        const std::size_t length = url_character(url, at);
        if (length == 0 && (url[at] != '#' || in_fragment)) {
            return fault_at(at,
                            "expected a character of RFC 3986; write others as %XX (a space is "
                            "%20)");
        }
        in_fragment = in_fragment || url[at] == '#';
        at += length == 0 ? 1 : length;
    }
    return Status::success();
}

Status check_parameters(std::string_view query, std::size_t begin) {
    for (std::size_t at = 0; at <= query.size();) {
        const std::size_t end = std::min(query.find('&', at), query.size());
        if (is_named(query.substr(at, end - at), kDeviceName)) {
            return fault_at(begin + at,
                            "expected no parameter svc_anon_id: nginx appends it, with the id of "
                            "the device");
        }
        at = end + 1;
    }
    return Status::success();
}

}  // namespace

int hex_digit(char c) noexcept {
    if (is_ascii_digit(c)) {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::size_t url_character(std::string_view text, std::size_t at) noexcept {
    constexpr std::string_view kOthers = "-._~!$&'()*+,;=:@/?";
    const char c = text[at];
    if (c == '%') {
        const bool is_escape =
            text.size() - at > 2 && hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
        return is_escape ? 3 : 0;
    }
    return is_ascii_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos ? 1 : 0;
}

bool is_named(std::string_view parameter, std::string_view name) noexcept {
    std::size_t at = 0;
    for (const char wanted : name) {
        if (at >= parameter.size()) {
            return false;
        }
        char found = parameter[at];
        std::size_t length = 1;
        if (found == '%' && url_character(parameter, at) == 3) {
            found =
                static_cast<char>(hex_digit(parameter[at + 1]) * 16 + hex_digit(parameter[at + 2]));
            length = 3;
        }
        if (found != wanted) {
            return false;
        }
        at += length;
    }
    return at == parameter.size() || parameter[at] == '=';
}

Result<Destination> parse_destination(std::string_view url) {
    constexpr std::string_view kHttps = "https://", kHttp = "http://";
    if (url.size() > kDestinationBytesMax) {
        return invalid("the URL: expected at most 2048 bytes");
    }
    const std::string_view scheme = url.starts_with(kHttps) ? kHttps : kHttp;
    if (!url.starts_with(scheme)) {
        return fault_at(0, "expected https://");
    }
    Destination parts{.scheme = scheme.substr(0, scheme.size() - 3)};
    const std::size_t authority_end = std::min(url.find_first_of("/?#", scheme.size()), url.size());
    Status sound = check_authority(url.substr(scheme.size(), authority_end - scheme.size()),
                                   scheme.size(), parts);
    sound = sound ? check_rest(url, authority_end) : sound;
    if (!sound) {
        return sound.error();
    }
    const std::size_t hash = std::min(url.find('#'), url.size());
    parts.fragment = url.substr(hash);
    const std::size_t mark = std::min(url.substr(0, hash).find('?'), hash);
    parts.base = url.substr(0, mark);
    const std::size_t query = std::min(mark + 1, hash);
    parts.query = url.substr(query, hash - query);
    if (Status fits = check_parameters(parts.query, query); !fits) {
        return fits.error();
    }
    return parts;
}

}  // namespace sluice
