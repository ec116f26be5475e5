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

}  // namespace sluice::ngx
