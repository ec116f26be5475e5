#include "ngx_module/conf/directives.hpp"

#include <algorithm>
#include <cstdarg>
#include <optional>
#include <string_view>

#include "core/intake/rate_window.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"

namespace sluice::ngx {
namespace {

char* const kFailed = static_cast<char*>(NGX_CONF_ERROR);
constexpr ngx_uint_t kRequestsMax = 268'435'455;
constexpr ngx_int_t kWindowMax = 86'400 * 366;
constexpr ngx_int_t kShareMax = 1000;
constexpr off_t kMapBytesMin = 1 << 20;
constexpr std::size_t kPrefixBytesMax = 64;

ngx_str_t* argument(ngx_conf_t* cf, ngx_uint_t index) noexcept {
    return static_cast<ngx_str_t*>(cf->args->elts) + index;
}

ConfLine here(ngx_conf_t* cf) noexcept {
    return {cf->conf_file->file.name.data, cf->conf_file->line};
}

/// "invalid value "X" in "sluice_y": <what was expected>", with nginx's own file:line.
char* refuse(ngx_conf_t* cf, const ngx_str_t& value, const char* expected) noexcept {
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid value \"%V\" in \"%V\": %s", &value,
                       argument(cf, 0), expected);
    return kFailed;
}

char* refuse_duplicate() noexcept {
    static char message[] = "is duplicate";
    return message;
}

std::optional<off_t> parse_offset(std::string_view text) noexcept {
    ngx_str_t value = to_ngx(text);
    const off_t bytes = value.len == 0 ? NGX_ERROR : ngx_parse_offset(&value);
    return bytes == NGX_ERROR ? std::nullopt : std::optional<off_t>(bytes);
}

/// Whole seconds in nginx's notation (90, 90s, 5m, 24h), at least 1.
std::optional<time_t> parse_seconds(std::string_view text) noexcept {
    ngx_str_t value = to_ngx(text);
    const ngx_int_t seconds = value.len == 0 ? NGX_ERROR : ngx_parse_time(&value, 1);
    return seconds < 1 ? std::nullopt : std::optional<time_t>(seconds);
}

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
    return text.substr(0, prefix.size()) == prefix;
}

/// One `name=value` parameter of sluice_store. False: refused and logged.
bool store_parameter(ngx_conf_t* cf, MainConf& conf, const ngx_str_t& parameter) noexcept {
    const std::string_view text = to_view(parameter);
    if (starts_with(text, "map_size=")) {
        const std::optional<off_t> bytes = parse_offset(text.substr(9));
        if (!bytes || *bytes < kMapBytesMin) {
            refuse(cf, parameter, "expected map_size=SIZE of 1m or more, for example map_size=16g");
            return false;
        }
        conf.map_bytes = *bytes;
        return true;
    }
    if (text == "sync=on" || text == "sync=off") {
        conf.sync = text == "sync=on";
        return true;
    }
    if (starts_with(text, "thread_pool=") && text.size() > 12) {
        conf.commit_pool_name = to_ngx(text.substr(12));
        return true;
    }
    if (starts_with(text, "offload_pool=") && text.size() > 13) {
        conf.offload_pool_name = to_ngx(text.substr(13));
        return true;
    }
    refuse(cf, parameter,
           "expected map_size=SIZE, sync=on|off, thread_pool=NAME or offload_pool=NAME");
    return false;
}

char* set_store(ngx_conf_t* cf, MainConf& conf) noexcept {
    if (conf.store_path.data != nullptr) {
        return refuse_duplicate();
    }
    conf.store_path = *argument(cf, 1);
    conf.store_line = here(cf);
    if (conf.store_path.len == 0) {
        return refuse(cf, conf.store_path, "expected the directory that \"sluice init\" made");
    }
    if (ngx_conf_full_name(cf->cycle, &conf.store_path, 0) != NGX_OK) {
        return kFailed;
    }
    for (ngx_uint_t i = 2; i < cf->args->nelts; ++i) {
        if (!store_parameter(cf, conf, *argument(cf, i))) {
            return kFailed;
        }
    }
    if (conf.sync == 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "sluice_store sync=off: acknowledged events are lost when the machine "
                           "loses power; for benchmarks only");
    }
    return NGX_CONF_OK;
}

char* set_zone(ngx_conf_t* cf, MainConf& conf) noexcept {
    if (conf.zone_bytes != NGX_CONF_UNSET) {
        return refuse_duplicate();
    }
    const ngx_str_t& value = *argument(cf, 1);
    const std::optional<off_t> bytes = parse_offset(to_view(value));
    if (!bytes || *bytes < static_cast<off_t>(8 * ngx_pagesize)) {
        return refuse(cf, value, "expected a SIZE of 32k or more, for example \"sluice_zone 5m;\"");
    }
    conf.zone_bytes = *bytes;
    conf.zone_line = here(cf);
    return NGX_CONF_OK;
}

/// `share=N` or `node=I` of sluice_rate_limit. False: refused and logged.
bool share_parameter(ngx_conf_t* cf, MainConf& conf, const ngx_str_t& parameter) noexcept {
    const std::string_view text = to_view(parameter);
    const bool share = starts_with(text, "share=");
    if (!share && !starts_with(text, "node=")) {
        refuse(cf, parameter, "expected share=N or node=I");
        return false;
    }
    const std::string_view digits = text.substr(text.find('=') + 1);
    const ngx_int_t number = ngx_atoi(to_ngx(digits).data, digits.size());
    if (number < 1 || number > kShareMax) {
        refuse(cf, parameter, "expected 1 to 1000 nodes, as in \"share=3 node=1\"");
        return false;
    }
    ngx_uint_t& field = share ? conf.share_nodes : conf.share_index;
    if (field != 0) {
        refuse(cf, parameter, "it is given twice");
        return false;
    }
    field = static_cast<ngx_uint_t>(number);
    return true;
}

/// False: this node is none of those that share, or they are more than the requests to share.
bool check_share(ngx_conf_t* cf, const MainConf& conf) noexcept {
    if (conf.share_index > conf.share_nodes) {
        const char* what = conf.share_nodes == 0 ? "node=%ui needs share=N, the number of nodes"
                                                 : "node=%ui is above share=%ui";
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, what, conf.share_index, conf.share_nodes);
        return false;
    }
    if (conf.limit_requests != 0 && conf.limit_requests < conf.share_nodes) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\": %ui requests cannot be shared by %ui nodes: the limit must be "
                           "share=N or more",
                           argument(cf, 0), conf.limit_requests, conf.share_nodes);
        return false;
    }
    return true;
}

/// "N WINDOW".
char* set_requests(ngx_conf_t* cf, MainConf& conf) noexcept {
    const ngx_str_t& first = *argument(cf, 1);
    if (cf->args->nelts == 2) {
        return refuse(cf, first, "expected \"off\", or N WINDOW as in \"600 60s\"");
    }
    const ngx_int_t requests = ngx_atoi(first.data, first.len);
    if (requests < 1 || static_cast<ngx_uint_t>(requests) > kRequestsMax) {
        return refuse(cf, first, "expected 1 to 268435455 requests");
    }
    const ngx_str_t& second = *argument(cf, 2);
    const std::optional<time_t> window = parse_seconds(to_view(second));
    if (!window || *window > kWindowMax) {
        return refuse(cf, second, "expected a window of 1s to 366d, in whole seconds");
    }
    conf.limit_requests = static_cast<ngx_uint_t>(requests);
    conf.limit_window_seconds = static_cast<ngx_uint_t>(*window);
    return NGX_CONF_OK;
}

char* set_rate_limit(ngx_conf_t* cf, MainConf& conf) noexcept {
    if (conf.limit_given) {
        return refuse_duplicate();
    }
    conf.limit_given = 1;
    const bool off = to_view(*argument(cf, 1)) == "off";
    if (!off && set_requests(cf, conf) != NGX_CONF_OK) {
        return kFailed;
    }
    for (ngx_uint_t i = off ? 2 : 3; i < cf->args->nelts; ++i) {
        if (!share_parameter(cf, conf, *argument(cf, i))) {
            return kFailed;
        }
    }
    return check_share(cf, conf) ? NGX_CONF_OK : kFailed;
}

/// X-SVC- and the like: it begins a header's name, and names the anonymous id's field.
bool is_header_prefix(std::string_view prefix) noexcept {
    const bool alphabet = std::all_of(prefix.begin(), prefix.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '-';
    });
    std::string_view rest = prefix;
    if (starts_with(rest, "X-") || starts_with(rest, "x-")) {
        rest.remove_prefix(2);
    }
    return alphabet && prefix.size() <= kPrefixBytesMax && rest.size() >= 2 && rest.back() == '-' &&
           rest.front() != '-';
}

char* set_header_prefix(ngx_conf_t* cf, LocConf& conf) noexcept {
    if (conf.header_prefix.data != nullptr) {
        return refuse_duplicate();
    }
    const ngx_str_t& value = *argument(cf, 1);
    if (!is_header_prefix(to_view(value))) {
        return refuse(cf, value,
                      "expected letters, digits and hyphens with a hyphen at the end, as in "
                      "\"X-SVC-\"");
    }
    conf.header_prefix = value;
    return NGX_CONF_OK;
}

/// A location has one content handler.
char* take_location(ngx_conf_t* cf, ngx_http_handler_pt handler) noexcept {
    auto* core = static_cast<ngx_http_core_loc_conf_t*>(
        ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module));
    if (core->handler != nullptr) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" in a location that has another content handler: give it a "
                           "location of its own",
                           argument(cf, 0));
        return kFailed;
    }
    core->handler = handler;
    return NGX_CONF_OK;
}

char* set_ingest(ngx_conf_t* cf, LocConf& conf) noexcept {
    if (conf.ingest != kIngestNone) {
        return refuse_duplicate();
    }
    const ngx_str_t& value = *argument(cf, 1);
    if (to_view(value) == "events") {
        conf.ingest = kIngestEvents;
    } else if (to_view(value) == "catalog") {
        conf.ingest = kIngestCatalog;
    } else {
        return refuse(cf, value, "expected \"events\" or \"catalog\"");
    }
    conf.ingest_line = here(cf);
    return take_location(cf, main_conf(cf).handlers.ingest);
}

char* set_seconds(ngx_conf_t* cf, time_t& field, const char* expected) noexcept {
    if (field != NGX_CONF_UNSET) {
        return refuse_duplicate();
    }
    const std::optional<time_t> seconds = parse_seconds(to_view(*argument(cf, 1)));
    if (!seconds) {
        return refuse(cf, *argument(cf, 1), expected);
    }
    field = *seconds;
    return NGX_CONF_OK;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

char* ngx_http_sluice_store(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_store(cf, *static_cast<MainConf*>(conf));
}

char* ngx_http_sluice_key_file(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    auto& main = *static_cast<MainConf*>(conf);
    if (main.key_path.data != nullptr) {
        return refuse_duplicate();
    }
    main.key_path = *argument(cf, 1);
    main.key_line = here(cf);
    if (main.key_path.len == 0) {
        return refuse(cf, main.key_path, "expected the path of the store's master key");
    }
    return ngx_conf_full_name(cf->cycle, &main.key_path, 0) == NGX_OK ? NGX_CONF_OK : kFailed;
}

char* ngx_http_sluice_zone(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_zone(cf, *static_cast<MainConf*>(conf));
}

char* ngx_http_sluice_rate_limit(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_rate_limit(cf, *static_cast<MainConf*>(conf));
}

char* ngx_http_sluice_idempotency_ttl(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_seconds(cf, static_cast<MainConf*>(conf)->idempotency_ttl,
                       "expected a time of 1s or more, for example 24h");
}

char* ngx_http_sluice_large_memory(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    auto& main = *static_cast<MainConf*>(conf);
    if (main.large_memory != NGX_CONF_UNSET) {
        return refuse_duplicate();
    }
    const std::optional<off_t> bytes = parse_offset(to_view(*argument(cf, 1)));
    if (!bytes || *bytes < 1) {
        return refuse(cf, *argument(cf, 1), "expected a SIZE, for example 1g");
    }
    main.large_memory = *bytes;
    return NGX_CONF_OK;
}

char* ngx_http_sluice_header_prefix(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_header_prefix(cf, *static_cast<LocConf*>(conf));
}

char* ngx_http_sluice_ingest(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_ingest(cf, *static_cast<LocConf*>(conf));
}

char* ngx_http_sluice_offload_threshold(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    auto& location = *static_cast<LocConf*>(conf);
    if (location.offload_threshold != NGX_CONF_UNSET_SIZE) {
        return refuse_duplicate();
    }
    const ssize_t bytes = ngx_parse_size(argument(cf, 1));
    if (bytes == NGX_ERROR) {
        return refuse(cf, *argument(cf, 1), "expected a SIZE, for example 64k");
    }
    location.offload_threshold = static_cast<std::size_t>(bytes);
    return NGX_CONF_OK;
}

char* ngx_http_sluice_retry_after(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    return set_seconds(cf, static_cast<LocConf*>(conf)->retry_after,
                       "expected a time of 1s or more, in whole seconds");
}

char* ngx_http_sluice_status(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    auto& location = *static_cast<LocConf*>(conf);
    if (location.status != 0) {
        return refuse_duplicate();
    }
    location.status = 1;
    MainConf& main = main_conf(cf);
    ++main.status_locations;
    return take_location(cf, main.handlers.status);
}
