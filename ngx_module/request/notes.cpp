#include "ngx_module/request/notes.hpp"

namespace sluice::ngx {

void Notes::not_servable(const ngx_http_request_t* r, const char* why) noexcept {
    if (not_servable_.allow()) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "sluice_ingest cannot take a request that another part of the configuration "
                      "leads to \"%V\": %s",
                      &r->uri, why);
    }
}

void Notes::slot_beyond_zone() noexcept {
    if (beyond_zone_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0,
                      "sluice: an account lies beyond the shared zone, so that its limit cannot be "
                      "held: its requests get 503. Set a larger \"sluice_zone\" and reload nginx");
    }
}

void Notes::store_error(const Error& error) noexcept {
    if (store_error_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: %s", error.message.c_str());
    }
}

}  // namespace sluice::ngx
