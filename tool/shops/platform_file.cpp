#include "tool/shops/platform_file.hpp"

#include <algorithm>
#include <utility>

#include "core/json/document.hpp"
#include "core/json/slices.hpp"
#include "program/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kSpace = " \t\r\n";

std::string_view without_space(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    text.remove_suffix(text.size() - (text.find_last_not_of(kSpace) + 1));
    return text;
}

/// Returns whether the order's id is one of Shopify's GraphQL API.
bool is_of_graphql(std::string_view order) {
    JsonDocument json;
    if (!json.parse(order)) {
        return false;
    }
    for (const JsonMember& member : json_members(order)) {
        if (member.key == "id") {
            return json_string(member.value).starts_with("gid://");
        }
    }
    return false;
}

}  // namespace

PlatformFile::PlatformFile(std::string text)
    : text_(std::make_unique<const std::string>(std::move(text))) {
    find_orders();
}

Result<PlatformFile> PlatformFile::open(const std::string& path) {
    auto text = read_to_end(path == "-" ? "/dev/stdin" : path, kBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    PlatformFile file(std::move(text).value());
    if (file.orders_.empty()) {
        return Error{ErrorCode::kInvalid,
                     path +
                         ": expected orders as the platform's API returns them: an array, an "
                         "object with the member orders, or one order on each line"};
    }
    if (is_of_graphql(file.orders_.front())) {
        return Error{ErrorCode::kInvalid,
                     path +
                         ": the ids are those of Shopify's GraphQL API, whose exports cannot "
                         "have the lines of refunds; export the orders by the REST API"};
    }
    return file;
}

void PlatformFile::find_orders() {
    std::string_view text = *text_;
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    text = without_space(text);
    JsonDocument whole;
    if (text.empty() || !whole.parse(text)) {
        find_lines(text);
        return;
    }
    if (whole.root().is_array()) {
        orders_ = json_elements(text);
        return;
    }
    for (const JsonMember& member : json_members(text)) {
        if (member.key == "orders" && member.value.starts_with('[')) {
            orders_ = json_elements(member.value);
            return;
        }
    }
    if (whole.root().is_object()) {
        orders_.push_back(text);
    }
}

/// Takes each line for an order if the first one is JSON.
void PlatformFile::find_lines(std::string_view text) {
    JsonDocument first;
    if (!first.parse(without_space(text.substr(0, text.find('\n'))))) {
        return;
    }
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = without_space(text.substr(0, end));
        if (!line.empty()) {
            orders_.push_back(line);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace sluice::cli
