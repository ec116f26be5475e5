// RequestTools: what the stages of a request work with. One of each worker process, handed to every
// request.
#pragma once

#include "core/intake/intake.hpp"
#include "core/status/metrics.hpp"
#include "lmdb_store/store/format.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/log_limit.hpp"
#include "ngx_module/offload/offload.hpp"
#include "ngx_module/request/key_renewal.hpp"
#include "ngx_module/request/notes.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

struct RequestTools {
    const MainConf& conf;

    // Event loop.
    StoreLink& store;
    GroupCommit& commits;
    Offload& offload;  ///< borrow() and give_back(): any thread.
    KeyRenewal& keys;
    IntakeScratch scratch;
    /// $sluice_reason hashes the body several times: ten times a second at most.
    PerSecond diagnoses{10};

    // Any thread.
    store::StorePaths paths;
    MetricsBlock& metrics;
    Notes notes;
};

}  // namespace sluice::ngx
