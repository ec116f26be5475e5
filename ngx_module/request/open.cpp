#include "ngx_module/request/open.hpp"

#include <exception>
#include <string_view>
#include <utility>

#include "core/intake/intake.hpp"
#include "core/intake/request_head.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/loop_clock.hpp"
#include "ngx_module/request/settle.hpp"

namespace sluice::ngx {
namespace {

/// The field of the head that a header's lower-case name belongs to, if any. By length first: most
/// headers of a request end here.
HeaderValue* field_of(std::string_view name, const ScanNames& scan, RequestHead& head) noexcept {
    if (name == scan.shop_lower) {
        return &head.shop;
    }
    if (name == scan.topic_lower) {
        return &head.topic;
    }
    switch (name.size()) {
        case 11:
            return name == "x-signature" ? &head.signature : nullptr;
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

/// Computed on the event loop, where nginx's variables live.
std::string_view request_id_of(ngx_http_request_t* r, ngx_int_t index) noexcept {
    if (index == NGX_ERROR) {
        return {};
    }
    const ngx_http_variable_value_t* value =
        ngx_http_get_indexed_variable(r, static_cast<ngx_uint_t>(index));
    if (value == nullptr || value->not_found) {
        return {};
    }
    return {reinterpret_cast<const char*>(value->data), value->len};
}

struct StoreClosed : std::exception {};

/// Stands in while the store is not open: what needs no registry is answered all the same.
class NoRegistry final : public RegistryView {
public:
    std::shared_ptr<const ShopView> find_shop(std::string_view) override { throw StoreClosed(); }
    BearerView find_bearer(std::string_view) override { throw StoreClosed(); }
};

Opened look_up(const IngestRequest& request, RegistryView& registry) {
    return request.is_events()
               ? open_event(request.head, registry)
               : open_catalog(request.head, request.conf->scan->names, registry, loop_time());
}

/// Settles the request, or fills in who claims to send it.
void find_sender(IngestRequest& request, RegistryView* registry) {
    NoRegistry none;
    try {
        Opened opened = look_up(request, registry != nullptr ? *registry : none);
        if (opened.answer) {
            settle(request, std::move(*opened.answer));
        }
        request.sender = std::move(opened.sender);
    } catch (const StoreClosed&) {
        settle_unavailable(request, Reason::kStoreUnavailable);
    } catch (const store::StoreFailure& failure) {
        request.tools->notes.store_error(failure.error());
        settle_unavailable(request, Reason::kStoreUnavailable);
    }
}

}  // namespace

/// One pass. nginx has no common answer to headers that are sent twice, so all are looked at.
void scan_headers(const ngx_http_request_t* r, const ScanNames& scan, RequestHead& head) noexcept {
    for (const ngx_list_part_t* part = &r->headers_in.headers.part; part != nullptr;
         part = part->next) {
        const auto* headers = static_cast<const ngx_table_elt_t*>(part->elts);
        for (ngx_uint_t i = 0; i < part->nelts; ++i) {
            const ngx_table_elt_t& header = headers[i];
            const auto* name = reinterpret_cast<const char*>(header.lowcase_key);
            HeaderValue* field = field_of({name, header.key.len}, scan, head);
            if (field == nullptr) {
                continue;
            }
            if (field->count == 0) {
                field->value = trimmed(to_view(header.value));
            }
            ++field->count;
        }
    }
}

void look_up_sender(IngestRequest& request) noexcept {
    const bool looked_up = guarded(request.r->connection->log, false, [&] {
        find_sender(request, request.tools->store.registry());
        return true;
    });
    if (!looked_up) {
        settle_internal_error(request);
    }
}

Step open(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    request.head.is_post = r->method == NGX_HTTP_POST;
    scan_headers(r, *request.conf->scan, request.head);
    look_up_sender(request);
    if (request.answer) {
        return Step::kAnswerEarly;
    }
    request.request_id = request_id_of(r, request.tools->conf.request_id_index);
    return Step::kReadBody;
}

}  // namespace sluice::ngx
