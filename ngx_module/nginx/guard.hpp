// guarded(): no C++ exception may reach nginx's C frames.
//
// Every callback that nginx calls has its body in guarded(); what is caught is logged once and
// becomes `on_error`.
#pragma once

#include <exception>
#include <utility>

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

inline void log_caught(ngx_log_t* log, const char* what) noexcept {
    ngx_log_error(NGX_LOG_CRIT, log, 0, "sluice: unexpected error: %s", what);
}

template <class Value, class Body>
Value guarded(ngx_log_t* log, Value on_error, Body&& body) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (const std::exception& error) {
        log_caught(log, error.what());
    } catch (...) {
        log_caught(log, "not a standard exception");
    }
    return on_error;
}

/// For callbacks without a result.
template <class Body>
void guarded(ngx_log_t* log, Body&& body) noexcept {
    try {
        std::forward<Body>(body)();
    } catch (const std::exception& error) {
        log_caught(log, error.what());
    } catch (...) {
        log_caught(log, "not a standard exception");
    }
}

}  // namespace sluice::ngx
