#include "ngx_module/conf/directives.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/intake/rate_window.hpp"
#include "core/values/texts.hpp"
#include "ngx_module/conf/link_directives.hpp"

namespace sluice::ngx {
namespace {

constexpr ngx_int_t kShareMax = 1000;
/// A smaller map may never have room for the largest record, whose pages must follow one another.
constexpr off_t kMapBytesMin = off_t{4} << 20;
constexpr std::size_t kPrefixBytesMax = 64;

/// Has `read` read each argument from `first` on, and refuses one that is given twice.
char* read_parameters(ngx_conf_t* cf, MainConf& conf, ngx_uint_t first,
                      char* (*read)(ngx_conf_t*, MainConf&, const ngx_str_t&) noexcept) noexcept {
    for (ngx_uint_t i = first; i < cf->args->nelts; ++i) {
        if (read(cf, conf, *argument(cf, i)) != NGX_CONF_OK) {
            return kConfFailed;
        }
    }
    return refuse_repeated(cf, first);
}

std::optional<off_t> parse_offset(std::string_view text) noexcept {
    ngx_str_t value = to_ngx(text);
    const off_t bytes = value.len == 0 ? NGX_ERROR : ngx_parse_offset(&value);
    return bytes == NGX_ERROR ? std::nullopt : std::optional<off_t>(bytes);
}

/// Parses whole seconds in nginx's notation (90, 90s, 5m, 24h), at least 1.
std::optional<time_t> parse_seconds(std::string_view text) noexcept {
    ngx_str_t value = to_ngx(text);
    const ngx_int_t seconds = value.len == 0 ? NGX_ERROR : ngx_parse_time(&value, 1);
    return seconds < 1 ? std::nullopt : std::optional<time_t>(seconds);
}

/// Reads one `name=value` parameter of sluice_store.
char* store_parameter(ngx_conf_t* cf, MainConf& conf, const ngx_str_t& parameter) noexcept {
    const std::string_view text = to_view(parameter);
    if (text.starts_with("map_size=")) {
        const std::optional<off_t> bytes = parse_offset(text.substr(9));
        if (!bytes || *bytes < kMapBytesMin) {
            return refuse(cf, parameter,
                          "expected map_size=SIZE of 4m or more, for example map_size=16g");
        }
        conf.map_bytes = *bytes;
    } else if (text == "sync=on" || text == "sync=off") {
        conf.sync = text == "sync=on";
    } else if (text.starts_with("thread_pool=") && text.size() > 12) {
        conf.commit_pool_name = to_ngx(text.substr(12));
    } else if (text.starts_with("offload_pool=") && text.size() > 13) {
        conf.offload_pool_name = to_ngx(text.substr(13));
    } else {
        return refuse(cf, parameter,
                      "expected map_size=SIZE, sync=on|off, thread_pool=NAME or offload_pool=NAME");
    }
    return NGX_CONF_OK;
}

char* set_store(ngx_conf_t* cf, ngx_command_t*, void* main) noexcept {
    auto& conf = *static_cast<MainConf*>(main);
    if (conf.store_path.data != nullptr) {
        return refuse_duplicate();
    }
    conf.store_path = *argument(cf, 1);
    conf.store_line = here(cf);
    if (conf.store_path.len == 0) {
        return refuse(cf, conf.store_path, "expected the directory that \"sluice init\" made");
    }
    if (ngx_conf_full_name(cf->cycle, &conf.store_path, 0) != NGX_OK) {
        return kConfFailed;
    }
    if (read_parameters(cf, conf, 2, store_parameter) != NGX_CONF_OK) {
        return kConfFailed;
    }
    if (conf.sync == 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "sluice_store sync=off: acknowledged events are lost when the machine "
                           "loses power; for benchmarks only");
    }
    return NGX_CONF_OK;
}

/// Reads `share=N` or `node=I` of sluice_rate_limit.
char* share_parameter(ngx_conf_t* cf, MainConf& conf, const ngx_str_t& parameter) noexcept {
    const std::string_view text = to_view(parameter);
    const bool share = text.starts_with("share=");
    if (!share && !text.starts_with("node=")) {
        return refuse(cf, parameter, "expected share=N or node=I");
    }
    const std::string_view digits = text.substr(text.find('=') + 1);
    const ngx_int_t number = ngx_atoi(to_ngx(digits).data, digits.size());
    if (number < 1 || number > kShareMax) {
        return refuse(cf, parameter, "expected 1 to 1000 nodes, as in \"share=3 node=1\"");
    }
    (share ? conf.share_nodes : conf.share_index) = static_cast<ngx_uint_t>(number);
    return NGX_CONF_OK;
}

/// Returns false if this node is not one of those that share the limit, or if the nodes outnumber
/// the requests.
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

/// Reads "N WINDOW" of sluice_rate_limit or sluice_failure_limit.
char* read_requests(ngx_conf_t* cf, ngx_uint_t& limit, ngx_uint_t& window_seconds) noexcept {
    const ngx_str_t& first = *argument(cf, 1);
    if (cf->args->nelts == 2) {
        return refuse(cf, first, "expected \"off\", or N WINDOW as in \"600 60s\"");
    }
    static_assert(kRateRequestsMax == 268'435'455 && kRateWindowSecondsMax == 366 * 86'400);
    const ngx_int_t requests = ngx_atoi(first.data, first.len);
    if (requests < 1 || requests > ngx_int_t{kRateRequestsMax}) {
        return refuse(cf, first, "expected 1 to 268435455 requests");
    }
    const ngx_str_t& second = *argument(cf, 2);
    const std::optional<time_t> window = parse_seconds(to_view(second));
    if (!window || *window > time_t{kRateWindowSecondsMax}) {
        return refuse(cf, second, "expected a window of 1s to 366d, in whole seconds");
    }
    limit = static_cast<ngx_uint_t>(requests);
    window_seconds = static_cast<ngx_uint_t>(*window);
    return NGX_CONF_OK;
}

char* set_rate_limit(ngx_conf_t* cf, ngx_command_t*, void* main) noexcept {
    auto& conf = *static_cast<MainConf*>(main);
    if (conf.limit_given) {
        return refuse_duplicate();
    }
    conf.limit_given = 1;
    const bool off = to_view(*argument(cf, 1)) == "off";
    if (!off && read_requests(cf, conf.limit_requests, conf.limit_window_seconds) != NGX_CONF_OK) {
        return kConfFailed;
    }
    if (read_parameters(cf, conf, off ? 2 : 3, share_parameter) != NGX_CONF_OK) {
        return kConfFailed;
    }
    return check_share(cf, conf) ? NGX_CONF_OK : kConfFailed;
}

/// Reads `key=VALUE` of sluice_failure_limit, which may contain variables.
char* read_failure_key(ngx_conf_t* cf, MainConf& conf, const ngx_str_t& parameter) noexcept {
    const std::string_view text = to_view(parameter);
    if (!text.starts_with("key=") || text.size() == 4) {
        return refuse(cf, parameter, "expected key=VALUE, as in \"key=$http_x_client\"");
    }
    conf.failure_key = static_cast<ngx_http_complex_value_t*>(
        ngx_pcalloc(cf->pool, sizeof(ngx_http_complex_value_t)));
    return compile_value(cf, text.substr(4), conf.failure_key) ? NGX_CONF_OK : kConfFailed;
}

char* set_failure_limit(ngx_conf_t* cf, ngx_command_t*, void* main) noexcept {
    auto& conf = *static_cast<MainConf*>(main);
    if (conf.failure_limit_given) {
        return refuse_duplicate();
    }
    conf.failure_limit_given = 1;
    const bool off = to_view(*argument(cf, 1)) == "off";
    if (off) {
        return cf->args->nelts == 2
                   ? NGX_CONF_OK
                   : refuse(cf, *argument(cf, 2), "\"off\" takes no further parameter");
    }
    if (read_requests(cf, conf.failure_requests, conf.failure_window_seconds) != NGX_CONF_OK) {
        return kConfFailed;
    }
    return read_parameters(cf, conf, 3, read_failure_key);
}

/// Returns true for a prefix such as X-SVC-, which begins the names of headers and of the anonymous
/// id's field.
bool is_header_prefix(std::string_view prefix) noexcept {
    const bool alphabet =
        std::ranges::all_of(prefix, [](char c) { return is_ascii_letter_or_digit(c) || c == '-'; });
    std::string_view rest = prefix;
    if (rest.starts_with("X-") || rest.starts_with("x-")) {
        rest.remove_prefix(2);
    }
    return alphabet && prefix.size() <= kPrefixBytesMax && rest.size() >= 2 && rest.back() == '-' &&
           rest.front() != '-';
}

constexpr std::array<std::pair<std::string_view, ngx_uint_t>, 5> kIngestNames{{
    {"events", kIngestEvents},
    {"catalog", kIngestCatalog},
    {"clicks", kIngestClicks},
    {"shopify", kIngestShopify},
    {"woocommerce", kIngestWooCommerce},
}};

char* set_ingest(ngx_conf_t* cf, ngx_command_t*, void* location) noexcept {
    auto& conf = *static_cast<LocConf*>(location);
    if (conf.ingest != kIngestNone) {
        return refuse_duplicate();
    }
    const ngx_str_t& value = *argument(cf, 1);
    for (const auto& [name, ingest] : kIngestNames) {
        conf.ingest = to_view(value) == name ? ingest : conf.ingest;
    }
    if (conf.ingest == kIngestNone) {
        return refuse(cf, value,
                      "expected \"events\", \"catalog\", \"clicks\", \"shopify\" or "
                      "\"woocommerce\"");
    }
    conf.ingest_line = here(cf);
    return take_location(cf, main_conf(cf).handlers.ingest);
}

char* set_status(ngx_conf_t* cf, ngx_command_t*, void* conf) noexcept {
    auto& location = *static_cast<LocConf*>(conf);
    if (location.status != 0) {
        return refuse_duplicate();
    }
    location.status = 1;
    MainConf& main = main_conf(cf);
    ++main.status_locations;
    return take_location(cf, main.handlers.status);
}

// -- Checks after nginx's own setters -------------------------------------------------------------

char* check_size(ngx_conf_t*, void*, void* field) noexcept {
    return *static_cast<off_t*>(field) < 1 ? message("expects a SIZE of 1 or more, for example 1g")
                                           : NGX_CONF_OK;
}

char* check_time(ngx_conf_t*, void*, void* field) noexcept {
    return *static_cast<time_t*>(field) < 1
               ? message("expects a time of 1s or more, for example 24h")
               : NGX_CONF_OK;
}

char* check_zone_size(ngx_conf_t* cf, void*, void* field) noexcept {
    main_conf(cf).zone_line = here(cf);
    return *static_cast<off_t*>(field) < static_cast<off_t>(8 * ngx_pagesize)
               ? message("expects a SIZE of 32k or more, for example 5m")
               : NGX_CONF_OK;
}

char* check_key_file(ngx_conf_t* cf, void*, void* field) noexcept {
    auto& path = *static_cast<ngx_str_t*>(field);
    main_conf(cf).key_line = here(cf);
    if (path.len == 0) {
        return message("expects the path of the store's master key");
    }
    return ngx_conf_full_name(cf->cycle, &path, 0) == NGX_OK ? NGX_CONF_OK : kConfFailed;
}

char* check_header_prefix(ngx_conf_t*, void*, void* field) noexcept {
    return is_header_prefix(to_view(*static_cast<ngx_str_t*>(field)))
               ? NGX_CONF_OK
               : message(
                     "expects letters, digits and hyphens with a hyphen at the end, for example "
                     "X-SVC-");
}

ngx_conf_post_t size_post = {check_size};
ngx_conf_post_t time_post = {check_time};
ngx_conf_post_t zone_post = {check_zone_size};
ngx_conf_post_t key_file_post = {check_key_file};
ngx_conf_post_t header_prefix_post = {check_header_prefix};

constexpr ngx_uint_t kEverywhere = NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF;

}  // namespace

}  // namespace sluice::ngx

using namespace sluice::ngx;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // the ngx_string() macro
#pragma GCC diagnostic ignored "-Wcast-qual"

ngx_command_t ngx_http_sluice_commands[] = {
    {ngx_string("sluice_store"), NGX_HTTP_MAIN_CONF | NGX_CONF_1MORE, set_store,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_key_file"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_str_slot,
     NGX_HTTP_MAIN_CONF_OFFSET, offsetof(MainConf, key_path), &key_file_post},
    {ngx_string("sluice_zone"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_off_slot,
     NGX_HTTP_MAIN_CONF_OFFSET, offsetof(MainConf, zone_bytes), &zone_post},
    {ngx_string("sluice_rate_limit"), NGX_HTTP_MAIN_CONF | NGX_CONF_1MORE, set_rate_limit,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_failure_limit"), NGX_HTTP_MAIN_CONF | NGX_CONF_1MORE, set_failure_limit,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_idempotency_ttl"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1,
     ngx_conf_set_sec_slot, NGX_HTTP_MAIN_CONF_OFFSET, offsetof(MainConf, idempotency_ttl),
     &time_post},
    {ngx_string("sluice_large_memory"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_off_slot,
     NGX_HTTP_MAIN_CONF_OFFSET, offsetof(MainConf, large_memory), &size_post},
    {ngx_string("sluice_header_prefix"), kEverywhere | NGX_CONF_TAKE1, ngx_conf_set_str_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, header_prefix), &header_prefix_post},
    {ngx_string("sluice_ingest"), NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1, set_ingest,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_offload_threshold"), kEverywhere | NGX_CONF_TAKE1, ngx_conf_set_size_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, offload_threshold), nullptr},
    {ngx_string("sluice_retry_after"), kEverywhere | NGX_CONF_TAKE1, ngx_conf_set_sec_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, retry_after), &time_post},
    {ngx_string("sluice_dry_run"), kEverywhere | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, dry_run), nullptr},
    {ngx_string("sluice_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, set_status,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_link"), NGX_HTTP_LOC_CONF | NGX_CONF_ANY, set_link,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_link_cookie"), kEverywhere | NGX_CONF_TAKE123, set_link_cookie,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_link_parameter"), kEverywhere | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, link_parameter), nullptr},
    {ngx_string("sluice_link_skip"), kEverywhere | NGX_CONF_1MORE, ngx_http_set_predicate_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, link_skip), nullptr},
    {ngx_string("sluice_device_id"), NGX_HTTP_LOC_CONF | NGX_CONF_ANY, set_device_id,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_click_buffer"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE12, set_click_buffer,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    ngx_null_command};

#pragma GCC diagnostic pop
