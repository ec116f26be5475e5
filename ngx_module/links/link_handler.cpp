// One request for a link, from its head to its answer. The first rule that applies answers:
//   a method other than GET and HEAD -> 405; a browser that only guesses -> 503; no links yet ->
//   fallback or 503; no such link -> fallback or 404; a link that is not to be counted -> 302; and
//   one that counts -> 302 with the device.
#include "ngx_module/links/link_handler.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/links/link_result.hpp"
#include "core/links/redirect.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/values/base64.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/links/link_service.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/response.hpp"
#include "os/random/random_bytes.hpp"

extern "C" {
extern ngx_module_t ngx_http_sluice_guard_module;
}

namespace sluice::ngx {
namespace {

constexpr std::string_view kNoStore = "no-store";

/// A request for a link; lives in its memory pool.
struct LinkRequest {
    ngx_http_request_t* r;
    LinkService* service;
    LinkWaiter waiter;
    ngx_str_t id;  ///< In the pool; empty without one.
    LinkResult result;
    bool has_result;
};

void on_pool_gone(void* /*request*/) noexcept {}

/// Returns the link's request of `r`, even after a redirect took it to another location.
LinkRequest* link_request_of(const ngx_http_request_t* r) noexcept {
    auto* request =
        static_cast<LinkRequest*>(ngx_http_get_module_ctx(r, ngx_http_sluice_guard_module));
    if (request != nullptr) {
        return request;
    }
    for (ngx_pool_cleanup_t* cleanup = r->internal ? r->pool->cleanup : nullptr; cleanup != nullptr;
         cleanup = cleanup->next) {
        if (cleanup->handler == &on_pool_gone) {
            return static_cast<LinkRequest*>(cleanup->data);
        }
    }
    return nullptr;
}

/// Returns nullptr without memory.
LinkRequest* make_link_request(ngx_http_request_t* r, LinkService& service) noexcept {
    ngx_pool_cleanup_t* cleanup = ngx_pool_cleanup_add(r->pool, sizeof(LinkRequest));
    if (cleanup == nullptr) {
        return nullptr;
    }
    auto* request =
        new (cleanup->data) LinkRequest{r, &service, {}, {}, LinkResult::kUnknown, false};
    cleanup->handler = &on_pool_gone;
    ngx_http_set_ctx(r, request, ngx_http_sluice_guard_module);
    return request;
}

void settle_link(LinkRequest& request, LinkResult result) noexcept {
    request.result = result;
    request.has_result = true;
    request.service->metrics.count_link(result);
}

// -- The head -------------------------------------------------------------------------------------

struct LinkHead {
    FetchHeaders fetch;
    std::string_view device;  ///< From the first cookie that has one.
};

LinkHead read_link_head(const ngx_http_request_t* r, std::string_view device_name) noexcept {
    LinkHead head;
    struct Field {
        std::string_view name;
        std::string_view FetchHeaders::*value;
    };
    static constexpr std::array<Field, 5> kFields{{
        {"sec-purpose", &FetchHeaders::sec_purpose},
        {"purpose", &FetchHeaders::purpose},
        {"x-moz", &FetchHeaders::x_moz},
        {"x-purpose", &FetchHeaders::x_purpose},
        {"sec-fetch-dest", &FetchHeaders::sec_fetch_dest},
    }};
    each_header(r, [&](std::string_view name, std::string_view value) {
        if (name == "cookie" && head.device.empty()) {
            head.device = find_device(value, device_name);
            return;
        }
        for (const Field& field : kFields) {
            if (name == field.name && (head.fetch.*field.value).empty()) {
                head.fetch.*field.value = value;
            }
        }
    });
    return head;
}

// -- Answers --------------------------------------------------------------------------------------

/// Copies a text to the pool. Throws std::bad_alloc.
std::string_view keep(ngx_pool_t* pool, std::string_view text) {
    auto* copy = static_cast<char*>(ngx_pnalloc(pool, text.size()));
    if (copy == nullptr) {
        throw std::bad_alloc();
    }
    text.copy(copy, text.size());
    return {copy, text.size()};
}

/// Answers with nginx's page of a status, which an error_page may replace.
ngx_int_t refuse_link(ngx_http_request_t* r, ngx_uint_t status) noexcept {
    return add_header(r, "Cache-Control", kNoStore) ? static_cast<ngx_int_t>(status)
                                                    : NGX_HTTP_INTERNAL_SERVER_ERROR;
}

ngx_int_t send_redirect(ngx_http_request_t* r, std::string_view address) noexcept {
    const bool is_complete = add_header(r, "Location", address) &&
                             add_header(r, "Cache-Control", kNoStore) &&
                             add_header(r, "X-Robots-Tag", "noindex, nofollow");
    return is_complete ? send_text(r, NGX_HTTP_MOVED_TEMPORARILY, {}, {})
                       : NGX_HTTP_INTERNAL_SERVER_ERROR;
}

/// Answers as if there were no such link, whatever the cause.
ngx_int_t answer_without_link(LinkRequest& request, LinkResult result) noexcept {
    ngx_http_request_t* r = request.r;
    const LocConf& conf = *loc_conf(r);
    settle_link(request, result);
    if (conf.link_fallback.len != 0) {
        return send_redirect(r, to_view(conf.link_fallback));
    }
    if (result == LinkResult::kUnknown) {
        return refuse_link(r, NGX_HTTP_NOT_FOUND);
    }
    return add_header(r, "Retry-After", conf.retry_after)
               ? refuse_link(r, NGX_HTTP_SERVICE_UNAVAILABLE)
               : NGX_HTTP_INTERNAL_SERVER_ERROR;
}

// -- The link -------------------------------------------------------------------------------------

/// The device of a click: that of the cookie, or a new one.
std::string device_of_click(const LinkHead& head, const LocConf& conf) {
    if (!head.device.empty() && conf.link_cookie_seconds != 0) {
        return std::string(head.device);
    }
    std::array<std::uint8_t, 16> random{};
    fill_random(random);
    return to_base64url({reinterpret_cast<const char*>(random.data()), random.size()});
}

/// Returns why a request does not count, or nothing.
std::optional<LinkResult> why_uncounted(ngx_http_request_t* r, const LinkHead& head,
                                        const PublishedLink& link) {
    if (r->method == NGX_HTTP_HEAD) {
        return LinkResult::kHead;
    }
    if (link.is_stopped) {
        return LinkResult::kStopped;
    }
    if (head.fetch.is_embedded()) {
        return LinkResult::kEmbedded;
    }
    if (ngx_http_test_predicates(r, loc_conf(r)->link_skip) != NGX_OK) {
        return LinkResult::kSkipped;
    }
    return std::nullopt;
}

/// Returns the link that the request asks for, or nullptr if this location has none for it.
const PublishedLink* find_link(const LinkRequest& request, const LinkTarget& target,
                               const store::LinkSnapshot& links) {
    const PublishedLink* const link = links.links->find(target.id);
    const store::LinkAccount* const account = link != nullptr ? links.account_of(*link) : nullptr;
    const std::string_view wanted = to_view(loc_conf(request.r)->link_account);
    const bool is_here = account != nullptr && !account->is_suspended &&
                         (wanted.empty() || account->id.view() == wanted) &&
                         fits_link(target, link->is_deep);
    return is_here ? link : nullptr;
}

ngx_int_t answer_link(LinkRequest& request, const LinkHead& head, const LinkTarget& target,
                      const LinkSnapshotPtr& links, const PublishedLink& link) {
    ngx_http_request_t* r = request.r;
    const LocConf& conf = *loc_conf(r);
    const std::string& device_name = conf.scan->names.anon_field;
    RedirectParts parts{.device_name = device_name};
    if (link.is_deep) {
        parts.rest = target.rest;
        parts.query = target.query;
    }
    if (const std::optional<LinkResult> why = why_uncounted(r, head, link)) {
        settle_link(request, *why);
        return send_redirect(r, keep(r->pool, redirect_address(link.to, parts)));
    }
    const std::string device = device_of_click(head, conf);
    if (conf.link_parameter != 0) {
        parts.device = device;
    }
    const std::string_view address = keep(r->pool, redirect_address(link.to, parts));
    if (conf.link_cookie_seconds != 0) {
        const std::string cookie =
            device_name + "=" + device + std::string(to_view(conf.link_cookie_rest));
        if (!add_header(r, "Set-Cookie", keep(r->pool, cookie))) {
            throw std::bad_alloc();
        }
    }
    const bool is_kept = request.service->buffer.add(links, link, anon_digest(device));
    settle_link(request, is_kept ? LinkResult::kClick : LinkResult::kDropped);
    return send_redirect(r, address);
}

void on_links_read(LinkWaiter& waiter) noexcept {
    resume(static_cast<LinkRequest*>(waiter.owner)->r);
}

extern "C" {
static void on_link_woken(ngx_http_request_t* r) noexcept;
}

/// @return the result for ngx_http_finalize_request(), or NGX_DONE if the request waits.
ngx_int_t answer_link_request(LinkRequest& request) {
    ngx_http_request_t* r = request.r;
    const LinkSnapshotPtr links = request.service->table.current();
    const std::optional<LinkTarget> target =
        parse_link_target(to_view(r->unparsed_uri), to_view(core_conf(r).name));
    if (links != nullptr && target) {
        links->links->prefetch(target->id);  // while the headers are read
    }
    const LinkHead head = read_link_head(r, loc_conf(r)->scan->names.anon_field);
    if (head.fetch.is_speculative()) {
        settle_link(request, LinkResult::kSpeculative);
        return refuse_link(r, NGX_HTTP_SERVICE_UNAVAILABLE);
    }
    if (links == nullptr) {
        const bool has_waited = std::exchange(request.waiter.owner, &request) != nullptr;
        request.waiter.resumed = &on_links_read;
        if (!has_waited && request.service->table.wait(request.waiter)) {
            r->main->count++;
            park(r, &on_link_woken);
            return NGX_DONE;
        }
        return answer_without_link(request, LinkResult::kUnavailable);
    }
    if (!target) {
        return answer_without_link(request, LinkResult::kUnknown);
    }
    request.id = to_ngx(target->id);  // nginx keeps the request's line as long as the request
    const PublishedLink* const link = find_link(request, *target, *links);
    return link != nullptr ? answer_link(request, head, *target, links, *link)
                           : answer_without_link(request, LinkResult::kUnknown);
}

ngx_int_t guarded_answer(LinkRequest& request) noexcept {
    const ngx_int_t failed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    return guarded(request.r->connection->log, failed,
                   [&] { return answer_link_request(request); });
}

extern "C" {
static void on_link_woken(ngx_http_request_t* r) noexcept {
    if (r->aio) {
        return;  // the socket became writable while the request waits
    }
    r->write_event_handler = ngx_http_request_empty_handler;
    ngx_http_finalize_request(r, guarded_answer(*link_request_of(r)));
}
}

// -- Variables ------------------------------------------------------------------------------------

enum LinkVariable : uintptr_t { kLinkResult, kLinkId };

extern "C" {
static ngx_int_t get_link_variable(ngx_http_request_t* r, ngx_http_variable_value_t* value,
                                   uintptr_t data) noexcept {
    const LinkRequest* const request = link_request_of(r->main);
    std::string_view text;
    if (request != nullptr && data == kLinkResult && request->has_result) {
        text = to_string(request->result);
    } else if (request != nullptr && data == kLinkId) {
        text = to_view(request->id);
    }
    value->not_found = text.empty() ? 1 : 0;
    if (!text.empty()) {
        value->valid = 1;
        value->no_cacheable = 0;
        value->len = static_cast<unsigned>(text.size()) & 0x0fffffff;
        value->data = to_bytes(text);
    }
    return NGX_OK;
}
}

}  // namespace

ngx_int_t add_link_variables(ngx_conf_t* cf) noexcept {
    constexpr std::array<std::pair<std::string_view, LinkVariable>, 2> kVariables{
        {{"sluice_link", kLinkResult}, {"sluice_link_id", kLinkId}}};
    for (const auto& [text, number] : kVariables) {
        ngx_str_t name = to_ngx(text);
        ngx_http_variable_t* variable = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_NOCACHEABLE);
        if (variable == nullptr) {
            return NGX_ERROR;
        }
        variable->get_handler = get_link_variable;
        variable->data = number;
    }
    return NGX_OK;
}

}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_link_handler(ngx_http_request_t* r) noexcept {
    LinkService* const service = main_conf(r)->links;
    if (service == nullptr) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    if (r != r->main || r->header_sent) {
        return r->header_sent ? NGX_OK : NGX_HTTP_NOT_FOUND;
    }
    LinkRequest* request = link_request_of(r);
    request = request != nullptr ? request : make_link_request(r, *service);
    if (request == nullptr) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    if ((r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)) == 0) {
        settle_link(*request, sluice::LinkResult::kMethod);
        return add_header(r, "Allow", "GET, HEAD") ? refuse_link(r, NGX_HTTP_NOT_ALLOWED)
                                                   : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    if (const ngx_int_t rc = ngx_http_discard_request_body(r); rc != NGX_OK) {
        return rc;
    }
    return guarded_answer(*request);
}
