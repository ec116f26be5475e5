// `sluice store upgrade`: makes this release's format of an older one's.
#include "lmdb_store/store/control_file.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kModuleAliveMs = 10'000;

}  // namespace

Status upgrade_store(const StorePaths& paths, std::uint64_t now_ms) {
    Result<StoreFormat> format = read_store_format(paths);
    if (!format) {
        return format.error();
    }
    if (Status ok = check_writable_format(*format); !ok) {
        return ok;
    }
    Result<ControlFile> control = ControlFile::open(paths);
    if (!control) {
        return control.error();
    }
    const ControlWords& words = control->words();
    const std::uint64_t heartbeat = words.module_heartbeat_ms.load();
    if (now_ms < heartbeat + kModuleAliveMs && words.module_format.load() < kStoreFormat) {
        return Error{ErrorCode::kConflict,
                     "an nginx with an older sluice module is running on this store: restart "
                     "nginx first (a reload keeps the old module)"};
    }
    if (format->format >= kStoreFormat) {
        return Status::success();
    }
    format->format = format->min_reader = format->min_writer = kStoreFormat;
    return write_store_format(paths, *format);
}

}  // namespace sluice::store
