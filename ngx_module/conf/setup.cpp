#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

#include "core/json/document.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "ngx_module/conf/directives.hpp"
#include "ngx_module/conf/link_directives.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "os/files/file_io.hpp"
#include "os/libraries/bindings.hpp"

namespace sluice::ngx {
namespace {

constexpr std::string_view kDefaultPrefix = "X-SVC-";
constexpr std::string_view kDefaultPool = "default";

/// Requests nginx's default pool, which exists only if a directive names it. Other pools may be
/// declared after the http block, so they are looked up when the whole configuration is read.
bool request_default_pool(ngx_conf_t* cf, ngx_str_t& name) noexcept {
    if (name.data != nullptr && to_view(name) != kDefaultPool) {
        return true;
    }
    name = to_ngx(kDefaultPool);
    return ngx_thread_pool_add(cf, &name) != nullptr;
}

ngx_str_t copy_to_pool(ngx_pool_t* pool, std::string_view text) {
    ngx_str_t copy{text.size(), static_cast<u_char*>(ngx_pnalloc(pool, text.size() + 1))};
    if (copy.data == nullptr) {
        throw std::bad_alloc();
    }
    *ngx_cpymem(copy.data, text.data(), text.size()) = '\0';
    return copy;
}

/// Closes the descriptor of the master key when its pool ends. nginx's own cleanup of a file would
/// write to the log of a cycle that has ended by then.
void close_key(void* fd) noexcept {
    ::close(*static_cast<int*>(fd));
}

/// Keeps the key's file open until the cycle ends.
bool keep_key_open(ngx_conf_t* cf, MainConf& conf) {
    ngx_pool_cleanup_t* cleanup = ngx_pool_cleanup_add(cf->pool, sizeof(int));
    if (cleanup == nullptr) {
        return false;
    }
    conf.key_fd = open_retrying(reinterpret_cast<const char*>(conf.key_path.data), O_RDONLY);
    if (conf.key_fd < 0) {
        const Error error = system_error(errno, "open", to_view(conf.key_path));
        return refuse_at(cf->log, conf.key_line, "the store's master key: " + error.message);
    }
    *static_cast<int*>(cleanup->data) = conf.key_fd;
    cleanup->handler = close_key;
    return true;
}

/// Refuses an nginx that has a library of the module inside and lacks some of its functions: the
/// module would pass structures of one library to functions of the other.
bool check_libraries(ngx_conf_t* cf, const MainConf& conf) {
    const auto mixed = find_mixed_library("libcrypto liblmdb libisal libzstd");
    if (mixed) {
        log_at(cf->log, NGX_LOG_EMERG, conf.store_line,
               "sluice_store: the module would call two libraries in place of one: " +
                   mixed->own_function + "() of \"" + mixed->own_object + "\", and " +
                   mixed->foreign_function + "() of \"" + mixed->foreign_object +
                   "\". Build nginx with " + mixed->library +
                   " as a shared library, or see docs/building.md, A library inside nginx");
    }
    return !mixed;
}

bool load_key(ngx_conf_t* cf, MainConf& conf) {
    const store::StorePaths paths(to_view(conf.store_path));
    const Result<store::StoreFormat> format = store::read_store_format(paths);
    if (!format) {
        return refuse_at(
            cf->log, conf.store_line,
            "sluice_store: " + format_problem(format.error(), paths, core_conf(cf->cycle)));
    }
    if (conf.key_path.data == nullptr) {
        conf.key_path = copy_to_pool(cf->pool, paths.master_key.string());
        conf.key_line = conf.store_line;
    }
    const Result<store::MasterKey> key = store::MasterKey::load(to_view(conf.key_path));
    if (!key) {
        return refuse_at(cf->log, conf.key_line, "the store's master key: " + key.error().message);
    }
    prepare_json();                      // now, because a worker may lack the memory
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no core dump, because the master has read the key
    return keep_key_open(cf, conf);
}

void set_defaults(MainConf& conf) noexcept {
    ngx_conf_init_value(conf.map_bytes, off_t{16} << 30);
    ngx_conf_init_value(conf.large_memory, off_t{1} << 30);
    ngx_conf_init_value(conf.idempotency_ttl, 86'400);
    ngx_conf_init_value(conf.sync, 1);
    init_link_values(conf);
    if (conf.zone_bytes == NGX_CONF_UNSET) {
        conf.zone_bytes = static_cast<off_t>(5) << 20;
        conf.zone_line = conf.store_line;
    }
    if (conf.limit_given == 0) {
        const RateLimit standard;
        conf.limit_requests = standard.requests;
        conf.limit_window_seconds = standard.window_seconds;
    }
}

/// Returns true for a reload without a master process, which would start pools without threads.
bool is_single_process_reload(const ngx_conf_t* cf) noexcept {
    const ngx_cycle_t* old = cf->cycle->old_cycle;
    return ngx_process == NGX_PROCESS_SINGLE && old != nullptr && !ngx_is_init_cycle(old);
}

/// Windows and figures are those of one store's accounts, which have their place in the zone by
/// number. So a reload to another store, or to one that replaced it at its path, gets a zone of
/// its own: the file `format` is written once in the life of a store.
ngx_str_t zone_name(ngx_conf_t* cf, const MainConf& conf) {
    const std::string path(to_view(conf.store_path));
    struct stat made {};
    static_cast<void>(::stat((path + "/format").c_str(), &made));
    return copy_to_pool(cf->pool, "ngx_http_sluice:" + path + ":" +
                                      std::to_string(made.st_mtim.tv_sec) + "." +
                                      std::to_string(made.st_mtim.tv_nsec));
}

char* init_main(ngx_conf_t* cf, MainConf& conf) {
    if (conf.store_path.data == nullptr) {
        return NGX_CONF_OK;
    }
    set_defaults(conf);
    if (ngx_process == NGX_PROCESS_SIGNALLER) {
        return NGX_CONF_OK;  // `nginx -s` reads the configuration only to find the pid file
    }
    if (is_single_process_reload(cf)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "sluice does not reload with \"master_process off\", which is for debugging: "
                      "stop and start nginx");
        return kConfFailed;
    }
    if (!check_libraries(cf, conf) || !request_default_pool(cf, conf.commit_pool_name) ||
        !request_default_pool(cf, conf.offload_pool_name) || !load_key(cf, conf)) {
        return kConfFailed;
    }
    ngx_str_t name = zone_name(cf, conf);
    conf.zone = ngx_shared_memory_add(cf, &name, static_cast<std::size_t>(conf.zone_bytes),
                                      &ngx_http_sluice_module);
    if (conf.zone == nullptr) {
        return kConfFailed;
    }
    conf.zone->init = ngx_http_sluice_init_zone;
    conf.zone->data = &conf;
    return NGX_CONF_OK;
}

void merge_values(ngx_conf_t* cf, const LocConf& parent, LocConf& conf) {
    if (conf.header_prefix.data == nullptr) {
        conf.header_prefix = parent.header_prefix;
        conf.scan = parent.scan;
    }
    if (conf.header_prefix.data == nullptr) {
        conf.header_prefix = to_ngx(kDefaultPrefix);
    }
    const Platform platform = platform_of(conf.ingest);
    if (conf.scan == nullptr || conf.scan->platform != platform) {
        conf.scan = make_in_pool<ScanNames>(cf->pool, to_view(conf.header_prefix), platform);
    }
    ngx_conf_merge_size_value(conf.offload_threshold, parent.offload_threshold, 64 * 1024);
    ngx_conf_merge_sec_value(conf.retry_after, parent.retry_after, 1);
    ngx_conf_merge_value(conf.dry_run, parent.dry_run, 0);
}

/// Completes the settings of links of a location by those of its parent.
void inherit_link(const Handlers& handlers, ngx_http_core_loc_conf_t& core, const LocConf& parent,
                  LocConf& conf) noexcept {
    conf.link = parent.link;
    conf.link_line = parent.link_line;
    conf.link_account = parent.link_account;
    conf.link_fallback = parent.link_fallback;
    conf.device_id = parent.device_id;
    conf.device_id_origins = parent.device_id_origins;
    if (core.lmt_excpt && (conf.link != 0 || conf.device_id != 0)) {
        core.handler = conf.link != 0 ? handlers.link : handlers.device_id;
    }
}

/// Inherits the handler in `if` and `limit_except` blocks, which are nameless locations and serve
/// what the surrounding location serves.
void inherit_handler(const Handlers& handlers, ngx_http_core_loc_conf_t& core,
                     const LocConf& parent, LocConf& conf) noexcept {
    if (!core.noname || conf.ingest != kIngestNone || core.handler != nullptr) {
        return;
    }
    inherit_link(handlers, core, parent, conf);
    conf.ingest = parent.ingest;
    conf.scan = parent.scan;
    conf.ingest_line = parent.ingest_line;
    conf.status = parent.status;
    if (core.lmt_excpt && conf.ingest != kIngestNone) {
        core.handler = handlers.ingest;
    }
    if (core.lmt_excpt && conf.status != 0) {
        core.handler = handlers.status;
    }
}

char* merge_location(ngx_conf_t* cf, const LocConf& parent, LocConf& conf) {
    ngx_http_core_loc_conf_t& core = core_conf(cf);
    MainConf& main = main_conf(cf);
    const bool own = conf.ingest != kIngestNone;
    const bool serves_links = conf.link != 0;
    merge_values(cf, parent, conf);
    inherit_handler(main.handlers, core, parent, conf);
    if (!merge_link_values(cf, parent, conf)) {
        return kConfFailed;
    }
    if (serves_links) {
        ++main.link_locations;
        return check_link(cf, main, conf, core) ? NGX_CONF_OK : kConfFailed;
    }
    if (!own) {
        return NGX_CONF_OK;
    }
    ++main.ingest_locations;
    return check_ingest(cf, main, conf, core) ? NGX_CONF_OK : kConfFailed;
}

/// Returns the index of $request_id if the configuration uses it, for example in a log format.
/// Otherwise it is not stored with the record, because it costs random bytes for every request.
ngx_int_t request_id_in_use(ngx_conf_t* cf) noexcept {
    const auto* core = static_cast<ngx_http_core_main_conf_t*>(
        ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module));
    const auto* used = static_cast<ngx_http_variable_t*>(core->variables.elts);
    for (ngx_uint_t i = 0; i < core->variables.nelts; ++i) {
        if (to_view(used[i].name) == "request_id") {
            return static_cast<ngx_int_t>(i);
        }
    }
    return NGX_ERROR;
}

}  // namespace

MainConf* create_main_conf(ngx_conf_t* cf, const Handlers& handlers) noexcept {
    auto* conf = static_cast<MainConf*>(ngx_pcalloc(cf->pool, sizeof(MainConf)));
    if (conf == nullptr) {
        return nullptr;
    }
    conf->cycle = cf->cycle;
    conf->handlers = handlers;
    conf->map_bytes = NGX_CONF_UNSET;
    conf->sync = NGX_CONF_UNSET;
    conf->zone_bytes = NGX_CONF_UNSET;
    conf->idempotency_ttl = NGX_CONF_UNSET;
    conf->large_memory = NGX_CONF_UNSET;
    conf->request_id_index = NGX_ERROR;
    return conf;
}

void finish_configuration(ngx_conf_t* cf) noexcept {
    main_conf(cf).request_id_index = request_id_in_use(cf);
}

}  // namespace sluice::ngx

using namespace sluice::ngx;

char* ngx_http_sluice_init_main_conf(ngx_conf_t* cf, void* conf) noexcept {
    return guarded(cf->log, kConfFailed,
                   [&] { return init_main(cf, *static_cast<MainConf*>(conf)); });
}

void* ngx_http_sluice_create_loc_conf(ngx_conf_t* cf) noexcept {
    auto* conf = static_cast<LocConf*>(ngx_pcalloc(cf->pool, sizeof(LocConf)));
    if (conf == nullptr) {
        return nullptr;
    }
    conf->offload_threshold = NGX_CONF_UNSET_SIZE;
    conf->retry_after = NGX_CONF_UNSET;
    conf->dry_run = NGX_CONF_UNSET;
    init_link_values(*conf);
    return conf;
}

char* ngx_http_sluice_merge_loc_conf(ngx_conf_t* cf, void* parent, void* child) noexcept {
    return guarded(cf->log, kConfFailed, [&] {
        return merge_location(cf, *static_cast<LocConf*>(parent), *static_cast<LocConf*>(child));
    });
}
