// The fence: the only C++ file that includes nginx's headers, and what C++ needs to use them:
// strings, exceptions, nginx's own configuration, objects in pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

// clang-format off
extern "C" {
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <ngx_thread_pool.h>
}
// clang-format on

#if !(NGX_THREADS)
#error "sluice commits on a thread: configure nginx with --with-threads"
#endif

extern "C" {
extern ngx_module_t ngx_http_sluice_module;
}

namespace sluice::ngx {

// -- Strings: the only place for conversions between ngx_str_t and std::string_view ---------------

[[nodiscard]] inline std::string_view to_view(const ngx_str_t& text) noexcept {
    return {reinterpret_cast<const char*>(text.data), text.len};
}
[[nodiscard]] inline std::string_view to_view(const u_char* first, const u_char* last) noexcept {
    return {reinterpret_cast<const char*>(first), static_cast<std::size_t>(last - first)};
}
std::string_view to_view(const char*) = delete;

/// nginx's structures have no const, but nginx does not write through the pointer.
[[nodiscard]] inline u_char* to_bytes(std::string_view text) noexcept {
    return const_cast<u_char*>(reinterpret_cast<const u_char*>(text.data()));
}
[[nodiscard]] inline ngx_str_t to_ngx(std::string_view text) noexcept {
    return {text.size(), to_bytes(text)};
}

// -- Exceptions: none may reach nginx's C frames --------------------------------------------------

inline void log_caught(ngx_log_t* log, const char* what) noexcept {
    ngx_log_error(NGX_LOG_CRIT, log, 0, "sluice: unexpected error: %s", what);
}

/// Runs the body of a callback that nginx calls. Logs what the body throws and returns `on_error`.
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
    guarded(log, false, [&] {
        std::forward<Body>(body)();
        return true;
    });
}

// -- nginx's own configuration --------------------------------------------------------------------

[[nodiscard]] inline const ngx_http_core_loc_conf_t& core_conf(
    const ngx_http_request_t* r) noexcept {
    return *static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
}
[[nodiscard]] inline ngx_http_core_loc_conf_t& core_conf(ngx_conf_t* cf) noexcept {
    return *static_cast<ngx_http_core_loc_conf_t*>(
        ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module));
}
/// Returns the settings of the server block around the block that is read.
[[nodiscard]] inline const ngx_http_core_srv_conf_t& core_server_conf(ngx_conf_t* cf) noexcept {
    return *static_cast<const ngx_http_core_srv_conf_t*>(
        ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module));
}
/// Returns the settings of a request to the server before nginx selects a location.
[[nodiscard]] inline const ngx_http_core_loc_conf_t& core_conf(
    const ngx_http_core_srv_conf_t& server) noexcept {
    return *static_cast<const ngx_http_core_loc_conf_t*>(
        server.ctx->loc_conf[ngx_http_core_module.ctx_index]);
}
[[nodiscard]] inline const ngx_core_conf_t& core_conf(const ngx_cycle_t* cycle) noexcept {
    return *reinterpret_cast<const ngx_core_conf_t*>(
        ngx_get_conf(cycle->conf_ctx, ngx_core_module));
}

// -- Requests -------------------------------------------------------------------------------------

/// Calls `visit(name, value)` for each header of a request, in their order. `name` is in lower
/// case.
template <class Visit>
void each_header(const ngx_http_request_t* r, Visit&& visit) {
    for (const ngx_list_part_t* part = &r->headers_in.headers.part; part != nullptr;
         part = part->next) {
        const auto* headers = static_cast<const ngx_table_elt_t*>(part->elts);
        for (ngx_uint_t i = 0; i < part->nelts; ++i) {
            const auto* name = reinterpret_cast<const char*>(headers[i].lowcase_key);
            visit(std::string_view(name, headers[i].key.len), to_view(headers[i].value));
        }
    }
}

// -- Objects in pools -----------------------------------------------------------------------------

namespace detail {
template <class T>
void destroy(void* object) noexcept {
    delete static_cast<T*>(object);
}
}  // namespace detail

/// Constructs a T that is destroyed with `pool`. Throws std::bad_alloc.
template <class T, class... Args>
T* make_in_pool(ngx_pool_t* pool, Args&&... args) {
    ngx_pool_cleanup_t* cleanup = ngx_pool_cleanup_add(pool, 0);
    if (cleanup == nullptr) {
        throw std::bad_alloc();
    }
    T* object = new T(std::forward<Args>(args)...);
    cleanup->data = object;
    cleanup->handler = &detail::destroy<T>;
    return object;
}

}  // namespace sluice::ngx
