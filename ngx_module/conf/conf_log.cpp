#include "ngx_module/conf/conf_log.hpp"

namespace sluice::ngx {

void log_at(ngx_log_t* log, ngx_uint_t level, const ConfLine& line,
            std::string_view text) noexcept {
    ngx_str_t message = to_ngx(text);
    ngx_log_error(level, log, 0, "%V in %s:%ui", &message, line.file, line.line);
}

}  // namespace sluice::ngx
