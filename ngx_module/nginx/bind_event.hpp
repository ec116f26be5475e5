// What nginx's events and tasks need before they are used, the same for each of them.
#pragma once

#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// @param ident  Lives as long as the event; the handler finds `owner` in it.
inline void bind_event(ngx_event_t& event, EventIdent& ident, void* owner,
                       ngx_event_handler_pt handler, ngx_log_t* log) noexcept {
    ident.owner = owner;
    event.data = &ident;
    event.handler = handler;
    event.log = log;
}

using TaskBody = void (*)(void* data, ngx_log_t* log);

/// @param run        On a thread of the pool, with `owner`.
/// @param completed  On the event loop.
inline void bind_task(ngx_thread_task_t& task, EventIdent& ident, void* owner, TaskBody run,
                      ngx_event_handler_pt completed, ngx_log_t* log) noexcept {
    task.ctx = owner;
    task.handler = run;
    bind_event(task.event, ident, owner, completed, log);
}

}  // namespace sluice::ngx
