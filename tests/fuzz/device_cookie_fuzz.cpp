// Device cookie: of any Cookie header, either the first value that may be a device id is taken, or
// none. The other lines are the headers by which browsers say why they ask.
#include <algorithm>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/links/redirect.hpp"

namespace {

/// A second reading of RD5: 8 to 128 of `A-Z a-z 0-9 . _ ~ -`.
bool may_be_device(std::string_view value) {
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
    return value.size() >= 8 && value.size() <= 128 &&
           value.find_first_not_of(kAlphabet) == std::string_view::npos;
}

/// The pieces of a text between separators.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (std::size_t end = text.find(separator); end != std::string_view::npos;
         end = text.find(separator)) {
        pieces.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    pieces.push_back(text);
    return pieces;
}

std::string first_device(std::string_view cookies, std::string_view name) {
    for (std::string_view cookie : split(cookies, ';')) {
        while (!cookie.empty() && (cookie.front() == ' ' || cookie.front() == '\t')) {
            cookie.remove_prefix(1);
        }
        while (!cookie.empty() && (cookie.back() == ' ' || cookie.back() == '\t')) {
            cookie.remove_suffix(1);
        }
        const std::size_t equals = cookie.find('=');
        if (equals != std::string_view::npos && cookie.substr(0, equals) == name &&
            may_be_device(cookie.substr(equals + 1))) {
            return std::string(cookie.substr(equals + 1));
        }
    }
    return {};
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = sluice::fuzz::text_of(data, size);
    const std::vector<std::string_view> lines = split(input, '\n');
    for (const std::string_view name :
         {std::string_view("svc_anon_id"), std::string_view("oly_anon_id")}) {
        const std::string_view device = sluice::find_device(lines.front(), name);
        FUZZ_CHECK(device.empty() || may_be_device(device));
        FUZZ_CHECK(device == first_device(lines.front(), name));
    }
    sluice::FetchHeaders headers;
    std::string_view sluice::FetchHeaders::*const fields[] = {
        &sluice::FetchHeaders::sec_purpose, &sluice::FetchHeaders::purpose,
        &sluice::FetchHeaders::x_moz, &sluice::FetchHeaders::x_purpose,
        &sluice::FetchHeaders::sec_fetch_dest};
    std::string values[5];
    for (std::size_t i = 0; i < 5 && i + 1 < lines.size(); ++i) {
        headers.*fields[i] = lines[i + 1];
        values[i] = lower(lines[i + 1]);
    }
    FUZZ_CHECK(headers.is_speculative() == (values[0].starts_with("prefetch") ||
                                            values[1] == "prefetch" || values[2] == "prefetch" ||
                                            values[3] == "preview"));
    FUZZ_CHECK(headers.is_embedded() == (!values[4].empty() && values[4] != "document"));
    return 0;
}
