/* What nginx's load_module looks up, as its own configure would write it. */

/* clang-format off */

#include <ngx_config.h>
#include <ngx_core.h>


extern ngx_module_t  ngx_http_sluice_module;
extern ngx_module_t  *ngx_modules[];
extern char          *ngx_module_names[];
extern char          *ngx_module_order[];


__attribute__((visibility("default")))
ngx_module_t  *ngx_modules[] = {
    &ngx_http_sluice_module,
    NULL
};


__attribute__((visibility("default")))
char  *ngx_module_names[] = {
    "ngx_http_sluice_module",
    NULL
};


__attribute__((visibility("default")))
char  *ngx_module_order[] = {
    NULL
};
