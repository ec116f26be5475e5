#include "core/intake/request_head.hpp"

#include "core/protocol/order_event.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::string_view kBlanks = " \t";

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
    return without_space(text, kBlanks);
}

HeaderNames::HeaderNames(std::string_view prefix)
    : shop(std::string(prefix) + "SHOP-ID"),
      topic(std::string(prefix) + "TOPIC"),
      anon_field(anon_field_name(prefix)) {}

HeaderState state_of(const HeaderValue& header) noexcept {
    if (header.count > 1) {
        return HeaderState::kRepeated;
    }
    return header.count == 0 || trimmed(header.value).empty() ? HeaderState::kMissing
                                                              : HeaderState::kOnce;
}

std::optional<Topic> topic_of(const HeaderValue& header, bool (*is_of)(Topic)) {
    const std::optional<Topic> topic =
        state_of(header) == HeaderState::kOnce ? parse_name<Topic>(header.value) : std::nullopt;
    return topic && is_of(*topic) ? topic : std::nullopt;
}

std::optional<TraceParent> trace_of(const RequestHead& head) noexcept {
    return head.traceparent.count == 1 ? parse_traceparent(head.traceparent.value) : std::nullopt;
}

bool is_json_media_type(std::string_view content_type) noexcept {
    return equals_ignoring_case(trimmed(content_type.substr(0, content_type.find(';'))),
                                "application/json");
}

bool is_identity_encoded(const HeaderValue& content_encoding) noexcept {
    switch (state_of(content_encoding)) {
        case HeaderState::kMissing:
            return true;
        case HeaderState::kRepeated:
            return false;
        case HeaderState::kOnce:
            return equals_ignoring_case(trimmed(content_encoding.value), "identity");
    }
    return false;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) noexcept {
    const std::string_view credentials = trimmed(authorization);
    const std::size_t scheme_end = credentials.find_first_of(kBlanks);
    if (scheme_end == std::string_view::npos ||
        !equals_ignoring_case(credentials.substr(0, scheme_end), "bearer")) {
        return std::nullopt;
    }
    return trimmed(credentials.substr(scheme_end));
}

}  // namespace sluice
