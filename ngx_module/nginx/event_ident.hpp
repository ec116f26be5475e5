// EventIdent: what an event's `data` points to.
//
// nginx's debug log reads `ident` as if it were a connection's file descriptor, which lies behind
// three pointers.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

struct EventIdent {
    void* pad[3] = {};
    ngx_int_t ident = -1;
    void* owner = nullptr;
};

}  // namespace sluice::ngx
