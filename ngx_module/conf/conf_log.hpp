// How setters and checks of directives say that one is wrong. Internal to this folder.
#pragma once

#include <string_view>

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Return value of a setter that has logged the mistake.
inline char* const kConfFailed = static_cast<char*>(NGX_CONF_ERROR);

/// Logs "<text> in <file>:<line>", as nginx does for a directive that it is reading.
void log_at(ngx_log_t* log, ngx_uint_t level, const ConfLine& line, std::string_view text) noexcept;
/// Logs why the configuration is refused. Returns false.
bool refuse_at(ngx_log_t* log, const ConfLine& line, std::string_view text) noexcept;

// For setters: the words of the directive that is read, and what they return.

[[nodiscard]] inline ngx_str_t* argument(ngx_conf_t* cf, ngx_uint_t index) noexcept {
    return static_cast<ngx_str_t*>(cf->args->elts) + index;
}
[[nodiscard]] inline ConfLine here(ngx_conf_t* cf) noexcept {
    return {cf->conf_file->file.name.data, cf->conf_file->line};
}
/// Logs `invalid value "X" in "sluice_y": <what was expected>`; nginx adds file and line.
char* refuse(ngx_conf_t* cf, const ngx_str_t& value, const char* expected) noexcept;
/// Refuses the first argument from `first` on that has the same name (what precedes `=`) as an
/// earlier one.
[[nodiscard]] char* refuse_repeated(ngx_conf_t* cf, ngx_uint_t first) noexcept;
/// Returns the rest of the message `"sluice_x" directive ...`, to which nginx adds file and line.
[[nodiscard]] inline char* message(const char* text) noexcept {
    return const_cast<char*>(text);
}
[[nodiscard]] inline char* refuse_duplicate() noexcept {
    return message("is duplicate");
}
/// Compiles a text that may contain variables, which stays in the configuration. Returns false
/// without memory, or if the text is wrong, which is logged.
[[nodiscard]] bool compile_value(ngx_conf_t* cf, std::string_view text,
                                 ngx_http_complex_value_t* to) noexcept;

}  // namespace sluice::ngx
