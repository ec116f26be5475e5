// Request head: the headers that sluice reads, and how both endpoints interpret them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/topic.hpp"
#include "core/protocol/traceparent.hpp"

namespace sluice {

/// A request header: how often it was sent, and its (first) value.
struct HeaderValue {
    std::string_view value;
    std::uint32_t count = 0;
};

/// The headers that sluice reads. Views into the request.
struct RequestHead {
    bool is_post = true;
    HeaderValue shop;       ///< <prefix>SHOP-ID
    HeaderValue topic;      ///< <prefix>TOPIC
    HeaderValue signature;  ///< X-Signature
    HeaderValue content_type;
    HeaderValue content_encoding;
    HeaderValue authorization;    ///< Catalog
    HeaderValue idempotency_key;  ///< Catalog
    HeaderValue traceparent;
    HeaderValue triggered_at;  ///< Webhooks of Shopify.
    HeaderValue delivery;      ///< Webhooks: the platform's id of this delivery.
    HeaderValue event;         ///< Webhooks: see RecordSource::event.
    HeaderValue api_version;   ///< Webhooks of Shopify.
    /// Webhooks: the shop that the address names, behind the location's prefix.
    std::string_view shop_of_address;
};

/// Returns the request's trace context, or nothing if it has none, several or an invalid one: a
/// sender's mistake there is no reason to refuse an order.
[[nodiscard]] std::optional<TraceParent> trace_of(const RequestHead& head) noexcept;

/// Names that depend on `sluice_header_prefix`. Built once per location.
struct HeaderNames {
    explicit HeaderNames(std::string_view prefix);
    std::string shop;        ///< X-SVC-SHOP-ID
    std::string topic;       ///< X-SVC-TOPIC
    std::string anon_field;  ///< svc_anon_id
};

/// Removes blanks and tabs around a value, which are not part of it (RFC 9110, 5.5). nginx removes
/// only blanks, and none in HTTP/2.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

enum class HeaderState : std::uint8_t {
    kMissing,   ///< Absent or empty.
    kRepeated,  ///< Sent more than once, so that two readers could use different values.
    kOnce,
};
[[nodiscard]] HeaderState state_of(const HeaderValue& header) noexcept;
/// Returns the topic that the header names, sent once, if `is_of` returns true for it.
[[nodiscard]] std::optional<Topic> topic_of(const HeaderValue& header, bool (*is_of)(Topic));

/// Accepts `application/json` in any case, with any parameters.
[[nodiscard]] bool is_json_media_type(std::string_view content_type) noexcept;
/// Accepts no Content-Encoding or `identity`, because a body is signed and read as it came.
[[nodiscard]] bool is_identity_encoded(const HeaderValue& content_encoding) noexcept;
/// Returns the token of `Bearer <token>`, with the scheme in any case, or nothing.
[[nodiscard]] std::optional<std::string_view> bearer_token(std::string_view authorization) noexcept;

}  // namespace sluice
