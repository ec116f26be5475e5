// Filters that make an answer this module's own, whatever else is configured.
//
// Late errors: while it reads a body for the module, nginx may find it too long (a chunked one
// shows that late) or fail to spool it. It would send its own page; the endpoints' 413 and 500 look
// otherwise. What nginx refuses before any module is asked stays nginx's.
// Guard: a sender knows success by the exact body. Modules that add to bodies or rewrite them
// (sub_filter, add_after_body, a script) do not reach it. One that replaces the whole answer by
// another status, as a firewall does, has its way.
#pragma once

namespace sluice::ngx {

/// Where every answer passes first. In postconfiguration.
void install_late_error_filter() noexcept;
/// Where an answer passes after all filters that rewrite bodies, and before those that compress and
/// frame them: in the postconfiguration of a module that stands there.
void install_guard_filters() noexcept;

}  // namespace sluice::ngx
