// C++ objects that live and die with an nginx pool.
#pragma once

#include <new>
#include <utility>

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

namespace detail {
template <class T>
void destroy(void* object) noexcept {
    delete static_cast<T*>(object);
}
}  // namespace detail

/// A T that is destroyed when `pool` is. Throws std::bad_alloc.
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
