#include "core/links/redirect.hpp"

#include <algorithm>
#include <cstdint>

#include "core/shops/device_id.hpp"
#include "core/values/ids.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

/// Returns whether a path, once it is decoded, has a segment `.` or `..`. A backslash counts as a
/// slash, because browsers read it so.
bool has_dot_segment(std::string_view path) noexcept {
    std::size_t dots = 0;
    bool only_dots = true;
    const auto is_dots = [&] { return only_dots && (dots == 1 || dots == 2); };
    for (std::size_t at = 0; at < path.size();) {
        char c = path[at];
        const std::size_t length = c == '%' ? 3 : 1;
        if (length == 3) {
            c = static_cast<char>(hex_digit(path[at + 1]) * 16 + hex_digit(path[at + 2]));
        }
        at += length;
        if (c == '/' || c == '\\') {
            if (is_dots()) {
                return true;
            }
            dots = 0;
            only_dots = true;
        } else if (c == '.') {
            ++dots;
        } else {
            only_dots = false;
        }
    }
    return is_dots();
}

bool is_path(std::string_view rest) noexcept {
    for (std::size_t at = 0; at < rest.size();) {
        const std::size_t length = url_character(rest, at);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return !has_dot_segment(rest);
}

void append_encoded(std::string& text, std::string_view parameter) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (std::size_t at = 0; at < parameter.size();) {
        const std::size_t length = url_character(parameter, at);
        if (length != 0) {
            text.append(parameter.substr(at, length));
            at += length;
            continue;
        }
        const auto byte = static_cast<std::uint8_t>(parameter[at++]);
        text += '%';
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
}

/// Appends parameters to an address, the first of them with `?`.
class Parameters {
public:
    explicit Parameters(std::string& address) noexcept : address_(address) {}

    void add(std::string_view parameter) {
        if (!parameter.empty()) {
            separate();
            append_encoded(address_, parameter);
        }
    }
    void add(std::string_view name, std::string_view value) {
        separate();
        address_.append(name).append("=").append(value);
    }

private:
    void separate() {
        address_ += has_some_ ? '&' : '?';
        has_some_ = true;
    }

    std::string& address_;
    bool has_some_ = false;
};

/// Calls `visit` with each parameter of a query.
template <class Visit>
void each_parameter(std::string_view query, Visit visit) {
    for (std::size_t at = 0; at < query.size();) {
        const std::size_t end = std::min(query.find('&', at), query.size());
        visit(query.substr(at, end - at));
        at = end + 1;
    }
}

void add_without(Parameters& parameters, std::string_view query, std::string_view name) {
    each_parameter(query, [&](std::string_view parameter) {
        if (!is_named(parameter, name)) {
            parameters.add(parameter);
        }
    });
}

/// Adds a destination's query as it stands. `link create` does not know the name of the device's
/// parameter in nginx: a destination that has it would say who is paid.
void add_stored(Parameters& parameters, std::string_view query, std::string_view name) {
    bool is_taken = false;
    if (name != kDeviceName) {
        each_parameter(query, [&](std::string_view parameter) {
            is_taken = is_taken || is_named(parameter, name);
        });
    }
    if (is_taken) {
        add_without(parameters, query, name);
    } else {
        parameters.add(query);
    }
}

}  // namespace

std::optional<LinkTarget> parse_link_target(std::string_view raw,
                                            std::string_view prefix) noexcept {
    LinkTarget target;
    const std::size_t mark = std::min(raw.find('?'), raw.size());
    target.query = raw.substr(std::min(mark + 1, raw.size()));
    std::string_view path = raw.substr(0, mark);
    if (!path.starts_with(prefix)) {
        return std::nullopt;
    }
    path.remove_prefix(prefix.size());
    const std::size_t slash = std::min(path.find('/'), path.size());
    target.id = path.substr(0, slash);
    target.rest = path.substr(slash);
    return is_link_id(target.id) ? std::optional(target) : std::nullopt;
}

bool fits_link(const LinkTarget& target, bool is_deep) noexcept {
    if (!is_deep) {
        return target.rest.empty() || target.rest == "/";
    }
    return target.rest.size() + target.query.size() <= kLinkRestBytesMax && is_path(target.rest);
}

std::string redirect_address(const Destination& to, const RedirectParts& parts) {
    std::string address;
    address.reserve(to.base.size() + to.query.size() + to.fragment.size() + parts.rest.size() +
                    parts.query.size() + parts.device_name.size() + parts.device.size() + 4);
    address.append(to.base).append(parts.rest);
    Parameters parameters(address);
    add_stored(parameters, to.query, parts.device_name);
    add_without(parameters, parts.query, parts.device_name);
    if (!parts.device.empty()) {
        parameters.add(parts.device_name, parts.device);
    }
    return address.append(to.fragment);
}

std::string_view find_device(std::string_view cookies, std::string_view name) noexcept {
    while (!cookies.empty()) {
        const std::size_t end = std::min(cookies.find(';'), cookies.size());
        const std::string_view cookie = without_space(cookies.substr(0, end), " \t");
        cookies.remove_prefix(std::min(end + 1, cookies.size()));
        if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('=')) {
            const std::string_view value = cookie.substr(name.size() + 1);
            if (is_device_id(value)) {
                return value;
            }
        }
    }
    return {};
}

bool FetchHeaders::is_speculative() const noexcept {
    constexpr std::string_view kPrefetch = "prefetch";
    return equals_ignoring_case(sec_purpose.substr(0, kPrefetch.size()), kPrefetch) ||
           equals_ignoring_case(purpose, kPrefetch) || equals_ignoring_case(x_moz, kPrefetch) ||
           equals_ignoring_case(x_purpose, "preview");
}

bool FetchHeaders::is_embedded() const noexcept {
    return !sec_fetch_dest.empty() && !equals_ignoring_case(sec_fetch_dest, "document");
}

}  // namespace sluice
