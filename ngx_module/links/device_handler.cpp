// Device identification call: tells a page of the shop the device id of its visitor, which the
// cookie of a link carries. It sets no cookie.
#include "ngx_module/links/device_handler.hpp"

#include <string_view>

#include "core/links/redirect.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/response.hpp"

namespace sluice::ngx {
namespace {

struct DeviceHead {
    std::string_view device;  ///< From the first cookie that has one.
    std::string_view origin;
    bool is_refused = false;  ///< By Sec-GPC.
};

DeviceHead read_device_head(const ngx_http_request_t* r, std::string_view device_name) noexcept {
    DeviceHead head;
    each_header(r, [&](std::string_view name, std::string_view value) {
        if (name == "cookie" && head.device.empty()) {
            head.device = find_device(value, device_name);
        } else if (name == "origin") {
            head.origin = value;
        } else if (name == "sec-gpc") {
            head.is_refused = head.is_refused || value == "1";
        }
    });
    return head;
}

/// Returns whether pages of an origin may read the answer.
bool is_listed(const LocConf& conf, std::string_view origin) noexcept {
    const ngx_array_t* const origins = conf.device_id_origins;
    for (ngx_uint_t i = 0; origins != nullptr && i < origins->nelts; ++i) {
        if (to_view(static_cast<const ngx_str_t*>(origins->elts)[i]) == origin) {
            return true;
        }
    }
    return false;
}

/// Copies the body to the pool. Returns an empty text without memory.
std::string_view device_body(ngx_pool_t* pool, std::string_view device) noexcept {
    constexpr std::string_view kNull = R"({"svc_anon_id":null})";
    if (device.empty()) {
        return kNull;
    }
    ngx_str_t id = to_ngx(device);
    const std::size_t size = kNull.size() + id.len;
    auto* const text = static_cast<u_char*>(ngx_pnalloc(pool, size));
    if (text == nullptr) {
        return {};
    }
    const u_char* const end = ngx_snprintf(text, size, R"({"svc_anon_id":"%V"})", &id);
    return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(end - text)};
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_device_id_handler(ngx_http_request_t* r) noexcept {
    constexpr ngx_int_t kFailed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    if (!add_header(r, "Cache-Control", "no-store")) {
        return kFailed;
    }
    if ((r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)) == 0) {
        return add_header(r, "Allow", "GET, HEAD") ? NGX_HTTP_NOT_ALLOWED : kFailed;
    }
    if (const ngx_int_t rc = ngx_http_discard_request_body(r); rc != NGX_OK) {
        return rc;
    }
    const LocConf& conf = *loc_conf(r);
    const DeviceHead head = read_device_head(r, conf.scan->names.anon_field);
    const std::string_view body =
        device_body(r->pool, head.is_refused ? std::string_view() : head.device);
    bool is_complete = !body.empty() && add_header(r, "X-Content-Type-Options", "nosniff") &&
                       add_header(r, "Vary", "Origin");
    if (is_listed(conf, head.origin)) {
        is_complete = is_complete && add_header(r, "Access-Control-Allow-Origin", head.origin) &&
                      add_header(r, "Access-Control-Allow-Credentials", "true");
    }
    return is_complete ? send_text(r, NGX_HTTP_OK, "application/json", body) : kFailed;
}
