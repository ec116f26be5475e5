#include "ngx_module/conf/conf_log.hpp"

namespace sluice::ngx {

void log_at(ngx_log_t* log, ngx_uint_t level, const ConfLine& line,
            std::string_view text) noexcept {
    ngx_str_t message = to_ngx(text);
    ngx_log_error(level, log, 0, "%V in %s:%ui", &message, line.file, line.line);
}

bool refuse_at(ngx_log_t* log, const ConfLine& line, std::string_view text) noexcept {
    log_at(log, NGX_LOG_EMERG, line, text);
    return false;
}

char* refuse(ngx_conf_t* cf, const ngx_str_t& value, const char* expected) noexcept {
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid value \"%V\" in \"%V\": %s", &value,
                       argument(cf, 0), expected);
    return kConfFailed;
}

char* refuse_repeated(ngx_conf_t* cf, ngx_uint_t first) noexcept {
    const auto name = [cf](ngx_uint_t i) {
        const std::string_view text = to_view(*argument(cf, i));
        return text.substr(0, text.find('='));
    };
    for (ngx_uint_t i = first; i < cf->args->nelts; ++i) {
        for (ngx_uint_t earlier = first; earlier < i; ++earlier) {
            if (name(earlier) == name(i)) {
                return refuse(cf, *argument(cf, i), "it is given twice");
            }
        }
    }
    return NGX_CONF_OK;
}

bool compile_value(ngx_conf_t* cf, std::string_view text, ngx_http_complex_value_t* to) noexcept {
    ngx_str_t value = to_ngx(text);
    ngx_http_compile_complex_value_t compile{};
    compile.cf = cf;
    compile.value = &value;
    compile.complex_value = to;
    return to != nullptr && ngx_http_compile_complex_value(&compile) == NGX_OK;
}

}  // namespace sluice::ngx
