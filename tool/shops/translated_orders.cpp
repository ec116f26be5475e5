#include "tool/shops/translated_orders.hpp"

#include <cstdio>
#include <utility>

#include "core/json/document.hpp"
#include "core/json/numbers.hpp"
#include "core/json/slices.hpp"
#include "core/values/texts.hpp"
#include "program/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// As the translator does.
bool parse(JsonDocument& json, std::string_view text) {
    return parse_any_numbers(json, text) != ParsedNumbers::kNone;
}

/// Returns whether the order's id is one of Shopify's GraphQL API.
bool is_of_graphql(std::string_view order) {
    JsonDocument json;
    const std::string_view id =
        parse(json, order) ? member_of(json_members(order), "id") : std::string_view();
    return !id.empty() && json_string(id).starts_with("gid://");
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
        return invalid(path +
                       ": expected orders as the platform's API returns them: an array, an "
                       "object with the member orders, or one order on each line");
    }
    if (is_of_graphql(file.orders_.front())) {
        return invalid(path +
                       ": the ids are those of Shopify's GraphQL API, whose exports cannot "
                       "have the lines of refunds; export the orders by the REST API");
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
    if (text.empty() || !parse(whole, text)) {
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
    if (!parse(first, without_space(text.substr(0, text.find('\n'))))) {
        return;
    }
    for (const std::string_view line : split(text, '\n')) {
        if (const std::string_view order = without_space(line); !order.empty()) {
            orders_.push_back(order);
        }
    }
}

TranslatedOrders::TranslatedOrders(PlatformFile file, const OrderSource& source,
                                   std::string anon_field)
    : file_(std::move(file)), source_(source), anon_field_(std::move(anon_field)) {}

Result<TranslatedOrders> TranslatedOrders::open(const std::string& path, const OrderSource& source,
                                                std::string anon_field) {
    return PlatformFile::open(path).and_then([&](PlatformFile file) {
        return Result(TranslatedOrders(std::move(file), source, std::move(anon_field)));
    });
}

bool TranslatedOrders::next(Translation& translation) {
    if (next_ >= file_.orders().size()) {
        return false;
    }
    SourceRequest request;
    request.platform = source_.platform;
    request.topic = !source_.topic.empty()                   ? std::string_view(source_.topic)
                    : source_.platform == Platform::kShopify ? "orders/updated"
                                                             : "order.updated";
    request.body = file_.orders()[next_++];
    request.anon_field = anon_field_;
    request.is_from_file = true;
    translation = translator_.translate(request, source_.settings);
    return true;
}

std::uint64_t TranslatedOrders::bytes_read() const noexcept {
    const std::string_view first = file_.orders().front();
    return next_ == 0 ? 0
                      : static_cast<std::uint64_t>(text().data() + text().size() - first.data());
}

std::string problem_of(const Translation& translation) {
    if (translation.kind == TranslationKind::kUnreadable) {
        return "not an order: " + std::string(translation.error);
    }
    if (translation.kind == TranslationKind::kOtherShop) {
        return "the links of the order are not those of the shop's --platform-shop";
    }
    const FieldError& first = translation.faults.front();
    const std::size_t more = translation.faults.size() - 1;
    return first.field + ": " + std::string(to_string(first.code)) + ": " + first.message +
           (more == 0 ? "" : " (and " + std::to_string(more) + " more)");
}

bool LeftOut::add(const Translation& translation) {
    if (translation.kind == TranslationKind::kIgnored) {
        ++ignored_[static_cast<std::size_t>(translation.ignored)];
        return true;
    }
    if (translation.kind == TranslationKind::kDeletion) {
        ++deleted_;
        return true;
    }
    return false;
}

void LeftOut::print() const {
    std::uint64_t all = deleted_;
    std::string reasons;
    const auto add = [&reasons](std::uint64_t count, std::string_view reason) {
        if (count != 0) {
            reasons += (reasons.empty() ? "" : ", ") + std::to_string(count) + " ";
            reasons += reason;
        }
    };
    for (std::size_t i = 0; i < ignored_.size(); ++i) {
        all += ignored_[i];
        add(ignored_[i], to_string(static_cast<IgnoredReason>(i)));
    }
    add(deleted_, "without lines");
    if (all != 0) {
        std::fprintf(stderr, "sluice: %llu orders left out: %s\n",
                     static_cast<unsigned long long>(all), reasons.c_str());
    }
}

}  // namespace sluice::cli
