// Late errors: what nginx refuses by itself after the module was asked, in this module's form.
//
// While it reads a body for the module, nginx may find it too long (a chunked one shows that late)
// or fail to spool it. It would send its own page; the endpoints' 413 and 500 look otherwise. Two
// filters put that right. What nginx refuses before any module is asked stays its own.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// In postconfiguration. Event loop afterwards.
void install_late_error_filters() noexcept;

}  // namespace sluice::ngx
