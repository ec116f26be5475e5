#include "pg_store/connection/url.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "pg_store/connection/libpq.hpp"

namespace sluice::pg {
namespace {

constexpr std::array<std::string_view, 2> kSchemes{"postgres://", "postgresql://"};
constexpr std::string_view kSecret = "password";

std::size_t scheme_bytes(std::string_view text) noexcept {
    for (const std::string_view scheme : kSchemes) {
        if (text.starts_with(scheme)) {
            return scheme.size();
        }
    }
    return 0;
}

/// A part of the text that holds a secret.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Finds USER:PASSWORD@ as libpq does, and password= and sslpassword=.
std::vector<Span> secrets_of(std::string_view url) {
    std::vector<Span> spans;
    const std::size_t begin = scheme_bytes(url);
    const std::size_t at = url.find_first_of("@/", begin);
    const std::size_t colon = url.find(':', begin);
    std::size_t from = begin;
    if (at != std::string_view::npos && url[at] == '@') {
        from = at;
        if (colon < at) {
            spans.push_back({colon + 1, at});
        }
    }
    for (from = std::min(url.find('?', from), url.size()); from < url.size();) {
        const std::size_t key = from + 1;
        const std::size_t end = std::min(url.find('&', key), url.size());
        const std::size_t equals = url.find('=', key);
        if (equals < end && url.substr(key, equals - key).ends_with(kSecret)) {
            spans.push_back({equals + 1, end});
        }
        from = end;
    }
    return spans;
}

std::string without_secrets(std::string_view url) {
    std::string shown(url);
    std::vector<Span> spans = secrets_of(url);
    std::ranges::sort(spans, [](Span a, Span b) { return a.begin > b.begin; });
    for (const Span& span : spans) {
        // USER:PASSWORD@ becomes USER@; password=... stays, without its value.
        const bool after_colon = shown[span.begin - 1] == ':';
        const std::size_t begin = span.begin - (after_colon ? 1 : 0);
        shown.erase(begin, span.end - begin);
    }
    return shown;
}

}  // namespace

bool Url::is_one(std::string_view text) noexcept {
    return scheme_bytes(text) != 0;
}

Result<Url> Url::parse(std::string_view text) {
    // libpq's own words could repeat a part of the password.
    const Error wrong{ErrorCode::kInvalid,
                      "expected postgres://USER@HOST[:PORT]/DATABASE[?PARAMETER=VALUE]"};
    if (!is_one(text)) {
        return wrong;
    }
    if (Status loaded = kLibpq.load(); !loaded.ok()) {
        return loaded.error();
    }
    const std::unique_ptr<PQconninfoOption, decltype(PQconninfoFree)&> options(
        PQconninfoParse(std::string(text).c_str(), nullptr), PQconninfoFree);
    if (!options) {
        return wrong;
    }
    Url url;
    url.shown_ = without_secrets(text);
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) {
            url.parameters_.emplace_back(option->keyword, option->val);
        }
    }
    return url;
}

void hide_passwords(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        std::string_view argument(argv[i]);
        const std::size_t url =
            std::min(argument.find("postgres://"), argument.find("postgresql://"));
        if (url == std::string_view::npos) {
            continue;
        }
        char* const text = argv[i] + url;
        const std::string_view whole = argument.substr(url);
        std::vector<Span> spans{{scheme_bytes(whole), whole.size()}};  // if it cannot be read
        if (Url::parse(whole)) {
            spans = secrets_of(whole);
        }
        for (const Span& span : spans) {
            std::fill(text + span.begin, text + span.end, '*');
        }
    }
}

}  // namespace sluice::pg
