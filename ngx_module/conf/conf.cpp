#include "ngx_module/conf/conf.hpp"

#include <algorithm>

namespace sluice::ngx {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return result;
}

}  // namespace

RateLimit limit_here(const MainConf& conf, std::optional<RateLimit> own) noexcept {
    const RateLimit configured{static_cast<std::uint32_t>(conf.limit_requests),
                               static_cast<std::uint32_t>(conf.limit_window_seconds)};
    // Without a number each node takes the part of the last one: the smallest.
    const ngx_uint_t index = conf.share_index == 0 ? conf.share_nodes : conf.share_index;
    return node_part(own.value_or(configured), {static_cast<std::uint32_t>(index),
                                                static_cast<std::uint32_t>(conf.share_nodes)});
}

ScanNames::ScanNames(std::string_view prefix)
    : names(prefix), shop_lower(lower(names.shop)), topic_lower(lower(names.topic)) {}

MainConf* main_conf(const ngx_http_request_t* r) noexcept {
    return static_cast<MainConf*>(ngx_http_get_module_main_conf(r, ngx_http_sluice_module));
}

LocConf* loc_conf(const ngx_http_request_t* r) noexcept {
    return static_cast<LocConf*>(ngx_http_get_module_loc_conf(r, ngx_http_sluice_module));
}

MainConf* main_conf(ngx_cycle_t* cycle) noexcept {
    return static_cast<MainConf*>(
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_sluice_module));
}

MainConf& main_conf(ngx_conf_t* cf) noexcept {
    return *static_cast<MainConf*>(ngx_http_conf_get_module_main_conf(cf, ngx_http_sluice_module));
}

}  // namespace sluice::ngx
