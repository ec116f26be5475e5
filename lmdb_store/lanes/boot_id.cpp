#include "lmdb_store/lanes/boot_id.hpp"

#include "os/files/file_io.hpp"

namespace sluice::store {

Result<Uuid> read_boot_id() {
    constexpr const char* kPath = "/proc/sys/kernel/random/boot_id";
    const Result<std::string> text = read_proc(kPath);
    if (!text) {
        return text.error();
    }
    const auto boot = parse_uuid(std::string_view(*text).substr(0, 36));
    if (!boot) {
        return Error{ErrorCode::kInternal, std::string("\"") + kPath + "\" is no UUID"};
    }
    return *boot;
}

}  // namespace sluice::store
