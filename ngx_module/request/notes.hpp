// Notes: lines of the error log that senders or a broken disk can cause, each at a limited rate.
#pragma once

#include <optional>

#include "core/intake/intake.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "ngx_module/nginx/log_limit.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class Notes {
public:
    explicit Notes(ngx_log_t* log) noexcept : log_(log) {}

    /// Once a minute at most: the configuration leads requests here that cannot be taken. Event
    /// loop.
    void not_servable(const ngx_http_request_t* r, const char* why) noexcept;
    /// Once a minute at most: an account's slot has no cell, so that its limit cannot be held. Any
    /// thread.
    void slot_beyond_zone() noexcept;
    /// Once a second at most. Any thread.
    void store_error(const Error& error) noexcept;

    /// One line of all processes when orders get 503 from now on, and one when they are taken
    /// again; one a second at most, where it goes to and fro.
    /// @param why  Nothing: a record was stored.
    void admission(store::ControlWords& words, std::optional<Reason> why) noexcept;

private:
    ngx_log_t* log_;
    LogLimit not_servable_{60};
    LogLimit beyond_zone_{60};
    LogLimit store_error_{1};
};

}  // namespace sluice::ngx
