#include "ngx_module/conf/link_directives.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/links/destination.hpp"
#include "core/values/ids.hpp"
#include "core/values/texts.hpp"
#include "ngx_module/conf/conf_log.hpp"

namespace sluice::ngx {
namespace {

constexpr time_t kCookieSecondsMin = 3600, kCookieSecondsMax = 400 * 86'400;
constexpr time_t kCookieSeconds = 30 * 86'400;
constexpr ngx_int_t kClickBufferMin = 64, kClickBufferMax = 65'536, kClickBuffer = 4096;
constexpr ngx_int_t kFlushMsMin = 10, kFlushMsMax = 5000, kFlushMs = 200;

bool is_domain(std::string_view name) noexcept {
    return !name.empty() && name.size() < 254 && name.front() != '.' && name.front() != '-' &&
           std::ranges::all_of(
               name, [](char c) { return is_ascii_letter_or_digit(c) || c == '-' || c == '.'; });
}

/// The words of a cookie besides the device id.
struct CookieWords {
    time_t seconds = kCookieSeconds;
    std::string_view domain;
    bool is_http_only = false;
};

/// Returns `; Max-Age=2592000; Path=/; Secure; SameSite=Lax`, or nothing without memory.
std::optional<ngx_str_t> cookie_rest(ngx_pool_t* pool, const CookieWords& cookie) noexcept {
    constexpr std::size_t kFixedBytes = 128;
    const std::size_t size = kFixedBytes + cookie.domain.size();
    auto* text = static_cast<u_char*>(ngx_pnalloc(pool, size));
    if (text == nullptr) {
        return std::nullopt;
    }
    ngx_str_t domain = to_ngx(cookie.domain);
    u_char* end = ngx_snprintf(text, size, "; Max-Age=%T; Path=/; Secure; SameSite=Lax%s%V%s",
                               cookie.seconds, cookie.domain.empty() ? "" : "; Domain=", &domain,
                               cookie.is_http_only ? "; HttpOnly" : "");
    return ngx_str_t{static_cast<std::size_t>(end - text), text};
}

bool read_cookie_words(ngx_conf_t* cf, CookieWords& cookie) noexcept {
    constexpr std::string_view kDomain = "domain=";
    for (ngx_uint_t i = 2; i < cf->args->nelts; ++i) {
        const std::string_view text = to_view(*argument(cf, i));
        if (text == "httponly") {
            cookie.is_http_only = true;
        } else if (text.starts_with(kDomain) && is_domain(text.substr(kDomain.size()))) {
            cookie.domain = text.substr(kDomain.size());
        } else {
            (void)refuse(cf, *argument(cf, i), "expected domain=NAME or httponly");
            return false;
        }
    }
    return true;
}

/// Returns the one value `$http_sec_gpc`, or nullptr without memory.
ngx_array_t* default_skip(ngx_conf_t* cf) noexcept {
    ngx_array_t* values = ngx_array_create(cf->pool, 1, sizeof(ngx_http_complex_value_t));
    auto* value = values != nullptr ? static_cast<ngx_http_complex_value_t*>(ngx_array_push(values))
                                    : nullptr;
    return compile_value(cf, "$http_sec_gpc", value) ? values : nullptr;
}

/// Returns whether browsers write an origin so: scheme, host in small letters, a port if not the
/// usual one.
bool is_origin(std::string_view text) noexcept {
    const Result<Destination> url = parse_destination(text);
    const bool has_usual_port =
        text.starts_with("https://") ? text.ends_with(":443") : text.ends_with(":80");
    return url.ok() && url->base.size() == text.size() && !has_usual_port &&
           std::ranges::count(text, '/') == 2 &&
           std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_prefix_location(const ngx_http_core_loc_conf_t& core) noexcept {
#if defined(NGX_PCRE) && NGX_PCRE
    if (core.regex != nullptr) {
        return false;
    }
#endif
    return !core.exact_match && !core.named && core.name.len != 0 && core.name.data[0] == '/';
}

}  // namespace

char* take_location(ngx_conf_t* cf, ngx_http_handler_pt handler) noexcept {
    ngx_http_core_loc_conf_t& core = core_conf(cf);
    if (core.handler != nullptr) {
        ngx_conf_log_error(
            NGX_LOG_EMERG, cf, 0,
            "\"%V\" in a location that has another content handler: give it a location of its own",
            argument(cf, 0));
        return kConfFailed;
    }
    core.handler = handler;
    return NGX_CONF_OK;
}

char* set_link(ngx_conf_t* cf, ngx_command_t*, void* location) noexcept {
    constexpr std::string_view kAccount = "account=", kFallback = "fallback=";
    auto& conf = *static_cast<LocConf*>(location);
    if (conf.link != 0) {
        return refuse_duplicate();
    }
    conf.link = 1;
    conf.link_line = here(cf);
    for (ngx_uint_t i = 1; i < cf->args->nelts; ++i) {
        const std::string_view text = to_view(*argument(cf, i));
        if (text.starts_with(kAccount) && is_admin_id(text.substr(kAccount.size()))) {
            conf.link_account = to_ngx(text.substr(kAccount.size()));
        } else if (text.starts_with(kFallback) &&
                   parse_destination(text.substr(kFallback.size())).ok()) {
            conf.link_fallback = to_ngx(text.substr(kFallback.size()));
        } else {
            return refuse(cf, *argument(cf, i),
                          "expected account=ID, or fallback=URL with http:// or https://");
        }
    }
    return refuse_repeated(cf, 1) == NGX_CONF_OK ? take_location(cf, main_conf(cf).handlers.link)
                                                 : kConfFailed;
}

char* set_link_cookie(ngx_conf_t* cf, ngx_command_t*, void* location) noexcept {
    auto& conf = *static_cast<LocConf*>(location);
    if (conf.link_cookie_seconds != NGX_CONF_UNSET) {
        return refuse_duplicate();
    }
    const ngx_str_t& first = *argument(cf, 1);
    if (to_view(first) == "off") {
        conf.link_cookie_seconds = 0;
        return cf->args->nelts == 2
                   ? NGX_CONF_OK
                   : refuse(cf, *argument(cf, 2), "\"off\" takes no further parameter");
    }
    CookieWords cookie;
    ngx_str_t time = first;
    cookie.seconds = ngx_parse_time(&time, 1);
    if (cookie.seconds < kCookieSecondsMin || cookie.seconds > kCookieSecondsMax) {
        return refuse(cf, first, "expected \"off\", or a time of 1h to 400d");
    }
    if (!read_cookie_words(cf, cookie) || refuse_repeated(cf, 2) != NGX_CONF_OK) {
        return kConfFailed;
    }
    const std::optional<ngx_str_t> rest = cookie_rest(cf->pool, cookie);
    if (!rest) {
        return kConfFailed;
    }
    conf.link_cookie_seconds = cookie.seconds;
    conf.link_cookie_rest = *rest;
    return NGX_CONF_OK;
}

char* set_device_id(ngx_conf_t* cf, ngx_command_t*, void* location) noexcept {
    constexpr std::string_view kOrigin = "origin=";
    auto& conf = *static_cast<LocConf*>(location);
    if (conf.device_id != 0) {
        return refuse_duplicate();
    }
    conf.device_id = 1;
    conf.device_id_origins = ngx_array_create(cf->pool, 1, sizeof(ngx_str_t));
    for (ngx_uint_t i = 1; i < cf->args->nelts; ++i) {
        const std::string_view text = to_view(*argument(cf, i));
        const std::string_view origin = text.substr(std::min(kOrigin.size(), text.size()));
        if (!text.starts_with(kOrigin) || !is_origin(origin)) {
            return refuse(cf, *argument(cf, i),
                          "expected origin=https://HOST, in small letters and without a path");
        }
        auto* const added = conf.device_id_origins != nullptr
                                ? static_cast<ngx_str_t*>(ngx_array_push(conf.device_id_origins))
                                : nullptr;
        if (added == nullptr) {
            return kConfFailed;
        }
        *added = to_ngx(origin);
    }
    return take_location(cf, main_conf(cf).handlers.device_id);
}

char* set_click_buffer(ngx_conf_t* cf, ngx_command_t*, void* main) noexcept {
    constexpr std::string_view kFlush = "flush=";
    auto& conf = *static_cast<MainConf*>(main);
    if (conf.click_buffer != 0) {
        return refuse_duplicate();
    }
    const ngx_str_t& first = *argument(cf, 1);
    const ngx_int_t count = ngx_atoi(first.data, first.len);
    if (count < kClickBufferMin || count > kClickBufferMax) {
        return refuse(cf, first, "expected 64 to 65536 clicks");
    }
    conf.click_buffer = static_cast<ngx_uint_t>(count);
    if (cf->args->nelts > 2) {
        const std::string_view text = to_view(*argument(cf, 2));
        ngx_str_t time = to_ngx(text.substr(std::min(kFlush.size(), text.size())));
        const ngx_int_t ms =
            text.starts_with(kFlush) && time.len != 0 ? ngx_parse_time(&time, 0) : NGX_ERROR;
        if (ms < kFlushMsMin || ms > kFlushMsMax) {
            return refuse(cf, *argument(cf, 2), "expected flush=TIME of 10ms to 5s");
        }
        conf.click_flush_ms = static_cast<ngx_msec_t>(ms);
    }
    return NGX_CONF_OK;
}

void init_link_values(LocConf& conf) noexcept {
    conf.link_cookie_seconds = NGX_CONF_UNSET;
    conf.link_parameter = NGX_CONF_UNSET;
    conf.link_skip = static_cast<ngx_array_t*>(NGX_CONF_UNSET_PTR);
}

void init_link_values(MainConf& conf) noexcept {
    conf.click_buffer = conf.click_buffer == 0 ? kClickBuffer : conf.click_buffer;
    conf.click_flush_ms = conf.click_flush_ms == 0 ? kFlushMs : conf.click_flush_ms;
}

bool merge_link_values(ngx_conf_t* cf, const LocConf& parent, LocConf& conf) noexcept {
    if (conf.link_cookie_seconds == NGX_CONF_UNSET) {
        conf.link_cookie_seconds = parent.link_cookie_seconds;
        conf.link_cookie_rest = parent.link_cookie_rest;
    }
    ngx_conf_merge_value(conf.link_parameter, parent.link_parameter, 1);
    if (conf.link_skip == NGX_CONF_UNSET_PTR) {
        conf.link_skip = parent.link_skip;
    }
    if (conf.link == 0) {
        return true;  // what is not given stays so, for the locations inside
    }
    if (conf.link_skip == NGX_CONF_UNSET_PTR) {
        conf.link_skip = default_skip(cf);
    }
    if (conf.link_cookie_seconds == NGX_CONF_UNSET) {
        const std::optional<ngx_str_t> rest = cookie_rest(cf->pool, {});
        conf.link_cookie_seconds = kCookieSeconds;
        conf.link_cookie_rest = rest.value_or(ngx_str_t{});
        return rest && conf.link_skip != nullptr;
    }
    return conf.link_skip != nullptr;
}

bool check_link(ngx_conf_t* cf, const MainConf& main, const LocConf& conf,
                const ngx_http_core_loc_conf_t& core) noexcept {
    if (main.store_path.data == nullptr) {
        return refuse_at(
            cf->log, conf.link_line,
            "sluice_link needs a store: add \"sluice_store DIRECTORY;\" to the http block");
    }
    if (core.handler != main.handlers.link) {
        return refuse_at(cf->log, conf.link_line,
                         "sluice_link in a location that has another content handler: give it a "
                         "location of its own");
    }
    if (!is_prefix_location(core)) {
        return refuse_at(cf->log, conf.link_line,
                         "sluice_link needs a location with a prefix, because the link's id "
                         "follows it: location /l/ { sluice_link; }");
    }
    if (conf.link_cookie_seconds == 0 && conf.link_parameter == 0) {
        return refuse_at(
            cf->log, conf.link_line,
            "sluice_link with \"sluice_link_cookie off\" and \"sluice_link_parameter off\": "
            "nothing would carry the id of the device into the order; leave one of them on");
    }
    return true;
}

}  // namespace sluice::ngx
