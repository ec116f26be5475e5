#include <array>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/intake/intake.hpp"
#include "core/intake/request_head.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {
namespace {

// -- Arrival --------------------------------------------------------------------------------------
//
// Most requests come straight from the client. Others come through a rewrite, a named location, an
// error page or X-Accel-Redirect, or with a body that another module has read (mirror, Lua, a
// firewall). Requests that arrive complete are served. The others get 413 if nginx found them too
// long, or else 503, which every sender repeats.

/// Returns true if a redirect to an address, which turns a POST into a GET, took the method.
bool lost_method(const ngx_http_request_t* r) noexcept {
    return r->internal && r->method != NGX_HTTP_POST &&
           to_view(r->request_line).substr(0, 5) == "POST ";
}

/// Returns true if nginx or an earlier module discarded the body, or what had arrived of it.
bool lost_body(const ngx_http_request_t* r) noexcept {
    if (r->discard_body) {
        return true;
    }
    if (r->request_body != nullptr) {
        return false;
    }
    // A discarded body that came with the head leaves no other trace.
    const ngx_http_headers_in_t& head = r->headers_in;
    if (head.chunked) {
        return head.content_length_n != -1;
    }
    return head.content_length != nullptr && head.content_length_n == 0 &&
           ngx_atoof(head.content_length->value.data, head.content_length->value.len) != 0;
}

bool is_file_gone(const ngx_buf_t* buffer) noexcept {
    return !ngx_buf_in_memory(buffer) && buffer->in_file &&
           (buffer->file == nullptr || buffer->file->fd == NGX_INVALID_FILE);
}

/// Returns true if the request has a body, which may be empty. nginx reads no other, and then
/// leaves -1 as the number of bytes that are to come.
bool has_body(const ngx_http_request_t* r) noexcept {
    return r->headers_in.chunked || r->headers_in.content_length_n >= 0;
}

/// Returns true if another module began to read the body and does not have all of it now.
bool has_part_of_body(const ngx_http_request_t* r) noexcept {
    const ngx_http_request_body_t* body = r->request_body;
    if (body == nullptr || !has_body(r)) {
        return false;
    }
    // Without buffering (proxy_request_buffering off), the bytes were passed on as they came.
    if (body->rest != 0 || r->reading_body || r->request_body_no_buffering) {
        return true;
    }
    for (const ngx_chain_t* link = body->bufs; link != nullptr; link = link->next) {
        if (is_file_gone(link->buf)) {
            return true;
        }
    }
    return false;
}

/// Returns true if nginx refused the request as too long (413) and an error page leads here. nginx
/// sets these two marks before it selects the page, and nothing else that an error page can follow
/// sets both. Once reading has begun, nginx finds only chunked bodies too long. A body that a proxy
/// streamed may have failed for any reason.
bool is_refused_length(const ngx_http_request_t* r) noexcept {
    if (!r->error_page || r->request_body == nullptr) {
        return r->error_page && r->expect_tested;
    }
    return r->headers_in.chunked && r->lingering_close && !r->request_body_no_buffering;
}

bool is_over_limit(const ngx_http_request_t* r) noexcept {
    const off_t limit = core_conf(r).client_max_body_size;
    return limit != 0 && r->headers_in.content_length_n > limit;
}

enum class Arrival {
    kWhole,      ///< The head as the client sent it, and its body, read already or not.
    kTooLarge,   ///< Longer than client_max_body_size, here or in the location it comes from.
    kIncomplete  ///< The body or the method is gone, or the status of the answer is settled.
};

Arrival arrival_of(const ngx_http_request_t* r) noexcept {
    if (lost_body(r) || has_part_of_body(r)) {
        return is_refused_length(r) ? Arrival::kTooLarge : Arrival::kIncomplete;
    }
    if (r->err_status != 0 || lost_method(r)) {
        return Arrival::kIncomplete;
    }
    return is_over_limit(r) ? Arrival::kTooLarge : Arrival::kWhole;
}

// -- Head and sender ------------------------------------------------------------------------------

/// Returns the field of the head for a header's lower-case name, or nullptr. Compares the length
/// first, which excludes most headers.
HeaderValue* field_of(std::string_view name, const ScanNames& scan, RequestHead& head) noexcept {
    if (name == scan.shop_lower) {
        return &head.shop;
    }
    if (name == scan.topic_lower) {
        return &head.topic;
    }
    switch (name.size()) {
        case 11:
            return name == "x-signature"   ? &head.signature
                   : name == "traceparent" ? &head.traceparent
                                           : nullptr;
        case 12:
            return name == "content-type" ? &head.content_type : nullptr;
        case 13:
            return name == "authorization" ? &head.authorization : nullptr;
        case 15:
            return name == "idempotency-key" ? &head.idempotency_key : nullptr;
        case 16:
            return name == "content-encoding" ? &head.content_encoding : nullptr;
        default:
            return nullptr;
    }
}

/// Returns the field of `head` for a header of a platform's webhooks, or nullptr.
HeaderValue* webhook_field_of(std::string_view name, Platform platform,
                              RequestHead& head) noexcept {
    struct Field {
        std::string_view name;
        HeaderValue RequestHead::*value;
    };
    static constexpr std::array<Field, 7> kShopify{{
        {"x-shopify-shop-domain", &RequestHead::shop},
        {"x-shopify-topic", &RequestHead::topic},
        {"x-shopify-hmac-sha256", &RequestHead::signature},
        {"x-shopify-triggered-at", &RequestHead::triggered_at},
        {"x-shopify-webhook-id", &RequestHead::delivery},
        {"x-shopify-event-id", &RequestHead::event},
        {"x-shopify-api-version", &RequestHead::api_version},
    }};
    static constexpr std::array<Field, 6> kWooCommerce{{
        {"x-wc-webhook-source", &RequestHead::shop},
        {"x-wc-webhook-topic", &RequestHead::topic},
        {"x-wc-webhook-signature", &RequestHead::signature},
        {"x-wc-webhook-delivery-id", &RequestHead::delivery},
        {"x-wc-webhook-id", &RequestHead::event},
        {"traceparent", &RequestHead::traceparent},
    }};
    const std::span<const Field> fields =
        platform == Platform::kShopify ? std::span<const Field>(kShopify) : kWooCommerce;
    for (const Field& field : fields) {
        if (field.name == name) {
            return &(head.*field.value);
        }
    }
    return name == "content-type"       ? &head.content_type
           : name == "content-encoding" ? &head.content_encoding
                                        : nullptr;
}

/// Returns the address behind the prefix of the location, without a `/` before it; empty if the
/// location has no prefix.
std::string_view shop_of_address(const ngx_http_request_t* r) noexcept {
    const ngx_http_core_loc_conf_t& core = core_conf(r);
    const std::string_view prefix = to_view(core.name);
    std::string_view rest = to_view(r->uri);
#if defined(NGX_PCRE) && NGX_PCRE
    if (core.regex != nullptr) {
        return {};
    }
#endif
    if (core.exact_match || prefix.empty() || !rest.starts_with(prefix)) {
        return {};
    }
    rest.remove_prefix(prefix.size());
    if (rest.starts_with('/')) {
        rest.remove_prefix(1);
    }
    return rest;
}

void on_store_opened(StoreWaiter& waiter) noexcept {
    wake(*static_cast<IngestRequest*>(waiter.owner), Step::kOpen);
}

/// Returns true if the request waits for the store, once. It keeps the count of the content
/// handler, which returns meanwhile.
bool waits_for_store(IngestRequest& request) noexcept {
    StoreWaiter& waiter = request.store_waiter;
    if (waiter.owner != nullptr || !request.tools.store.wait(waiter)) {
        return false;
    }
    waiter.owner = &request;
    waiter.resumed = on_store_opened;
    request.r->main->count++;
    return true;
}

struct StoreClosed : std::exception {};

/// Replaces the registry while the store is closed, so that requests that need no registry are
/// answered.
class NoRegistry final : public RegistryView {
public:
    std::shared_ptr<const ShopView> find_shop(std::string_view) override { throw StoreClosed(); }
    std::shared_ptr<const ShopView> find_platform_shop(Platform, std::string_view) override {
        throw StoreClosed();
    }
    BearerView find_bearer(std::string_view) override { throw StoreClosed(); }
};

Opened open_request(const IngestRequest& request, RegistryView& registry) {
    if (request.signing_scope()) {
        return open_event(request.head, registry);
    }
    return request.is_catalog()
               ? open_catalog(request.head, request.conf->scan->names, registry, loop_time())
               : open_webhook(request.head, request.platform(), registry);
}

/// Sets request.sender to the sender as the registry knows it now, or settles the request.
void look_up_sender(IngestRequest& request) {
    NoRegistry none;
    try {
        store::RegistryReader* open_registry = request.tools.store.registry();
        RegistryView& registry =
            open_registry != nullptr ? *open_registry : static_cast<RegistryView&>(none);
        Opened opened = open_request(request, registry);
        request.sender = std::move(opened.sender);
        if (opened.answer) {
            settle(request, std::move(*opened.answer));
        }
    } catch (const StoreClosed&) {
        settle_unavailable(request, Reason::kStoreUnavailable);
    } catch (const store::StoreFailure& failure) {
        settle_store_error(request, failure.error(), Reason::kStoreUnavailable);
    }
}

}  // namespace

/// Reads all headers in one pass, because nginx does not treat repeated headers uniformly.
void scan_headers(const ngx_http_request_t* r, const ScanNames& scan, RequestHead& head) noexcept {
    each_header(r, [&](std::string_view name, std::string_view value) {
        HeaderValue* field = scan.platform == Platform::kNone
                                 ? field_of(name, scan, head)
                                 : webhook_field_of(name, scan.platform, head);
        if (field == nullptr) {
            return;
        }
        if (field->count == 0) {
            field->value = trimmed(value);
        }
        ++field->count;
    });
}

void mark_refused_length(ngx_http_request_t* r) noexcept {
    r->request_body_no_buffering = 0;
}

Step open(IngestRequest& request) {
    ngx_http_request_t* r = request.r;
    if (const Arrival arrival = arrival_of(r); arrival != Arrival::kWhole) {
        r->err_status = 0;  // the client gets the status of this answer, not that of an error page
        arrival == Arrival::kTooLarge ? settle_too_large(request) : settle_not_servable(request);
        return Step::kAnswerEarly;
    }
    if (waits_for_store(request)) {
        return Step::kParked;
    }
    request.head.is_post = r->method == NGX_HTTP_POST;
    scan_headers(r, *request.conf->scan, request.head);
    if (request.platform() != Platform::kNone) {
        request.head.shop_of_address = shop_of_address(r);
    }
    look_up_sender(request);
    return request.answer ? Step::kAnswerEarly : Step::kReadBody;
}

Step look_up_again(IngestRequest& request) {
    look_up_sender(request);
    return request.answer ? Step::kDropPieces : Step::kCheck;
}

}  // namespace sluice::ngx
