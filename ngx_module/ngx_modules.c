/* What nginx's load_module looks up, as its own configure would write it. */

/* clang-format off */

#include <ngx_config.h>
#include <ngx_core.h>


extern ngx_module_t  ngx_http_sluice_module;
extern ngx_module_t  ngx_http_sluice_guard_module;
extern ngx_module_t  *ngx_modules[];
extern char          *ngx_module_names[];
extern char          *ngx_module_order[];


__attribute__((visibility("default")))
ngx_module_t  *ngx_modules[] = {
    &ngx_http_sluice_module,
    &ngx_http_sluice_guard_module,
    NULL
};


__attribute__((visibility("default")))
char  *ngx_module_names[] = {
    "ngx_http_sluice_module",
    "ngx_http_sluice_guard_module",
    NULL
};


__attribute__((visibility("default")))
char  *ngx_module_order[] = {
    /* An answer passes it after all that may follow it here have changed it: nginx calls filters
     * from the last to the first. Those that compress and frame it come before it in the list. */
    "ngx_http_sluice_guard_module",
    "ngx_http_postpone_filter_module",
    "ngx_http_ssi_filter_module",
    "ngx_http_charset_filter_module",
    "ngx_http_addition_filter_module",
    "ngx_http_sub_filter_module",
    "ngx_http_headers_filter_module",
    "ngx_http_copy_filter_module",
    NULL
};
