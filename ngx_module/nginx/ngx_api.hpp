// The fence: the only C++ file that includes nginx's headers. They are C, and SYSTEM includes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

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
