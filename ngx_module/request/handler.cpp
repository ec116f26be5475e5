#include "ngx_module/request/handler.hpp"

#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "core/intake/intake.hpp"
#include "core/intake/request_head.hpp"
#include "lmdb_store/files/store_failure.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/process/edge.hpp"
#include "ngx_module/request/answer.hpp"
#include "ngx_module/request/body_deadline.hpp"
#include "ngx_module/request/request.hpp"

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
void open(IngestRequest& request, RegistryView* registry) {
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
        Edge::current()->note_store_error(failure.error());
        settle_unavailable(request, Reason::kStoreUnavailable);
    }
}

/// open(), or, when memory is short, settled as an internal error.
void open_guarded(IngestRequest& request) noexcept {
    const bool opened = guarded(request.r->connection->log, false, [&] {
        open(request, Edge::current()->store().registry());
        return true;
    });
    if (!opened) {
        settle_internal_error(request);
    }
}

/// A rewrite, try_files or a named location may lead here. Not what was answered or read before,
/// which would be stored on behalf of another location, perhaps twice; and not an error page whose
/// status is settled, which would tell the sender something else than this location's answer.
bool is_first_hand(const ngx_http_request_t* r) noexcept {
    return r == r->main && !r->header_sent && r->request_body == nullptr && !r->discard_body &&
           r->err_status == 0;
}

ngx_int_t begin(ngx_http_request_t* r, IngestRequest& request) noexcept {
    request.head.is_post = r->method == NGX_HTTP_POST;
    scan_headers(r, *request.conf->scan, request.head);
    open_guarded(request);
    if (request.answer) {
        return send_early_answer(request);
    }
    request.request_id = request_id_of(r, request.main->request_id_index);
    const ngx_int_t rc = ngx_http_read_client_request_body(r, ngx_http_sluice_body_read);
    if (rc == NGX_AGAIN) {
        start_body_deadline(request);
    }
    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_handler(ngx_http_request_t* r) noexcept {
    Edge* edge = Edge::current();
    if (!is_first_hand(r)) {
        if (edge != nullptr) {
            edge->note_redirect(r);
        }
        return NGX_HTTP_NOT_FOUND;
    }
    IngestRequest* request = nullptr;
    if (edge != nullptr) {
        guarded(r->connection->log, [&] { request = &edge->acquire(r); });
    }
    return request != nullptr ? begin(r, *request) : NGX_HTTP_INTERNAL_SERVER_ERROR;
}

void ngx_http_sluice_body_read(ngx_http_request_t* r) noexcept {
    IngestRequest& request = *request_of(r);
    if (request.body_timer.timer_set) {
        // The body took its time: whoever was revoked meanwhile is refused.
        stop_body_deadline(request);
        open_guarded(request);
    }
    request.body.take(r);
    go_on(request);
}
