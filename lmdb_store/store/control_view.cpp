#include "lmdb_store/store/control_view.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kControlBytes = 4096;

}  // namespace

ControlView::ControlView(const void* page) noexcept
    : words_(static_cast<const ControlWords*>(page)) {}

ControlView::~ControlView() {
    if (words_ != nullptr) {
        ::munmap(const_cast<ControlWords*>(words_), kControlBytes);
    }
}

Result<ControlView> ControlView::open(const StorePaths& paths) {
    const Result<Fd> file = open_plain(paths.control, O_RDONLY);
    if (!file) {
        return file.error();
    }
    struct stat info {};
    if (::fstat(file->get(), &info) != 0 || info.st_size < off_t{kControlBytes}) {
        return damaged_hints(paths.control, "is too short", kControlBytes);
    }
    void* const page = ::mmap(nullptr, kControlBytes, PROT_READ, MAP_SHARED, file->get(), 0);
    if (page == MAP_FAILED) {
        return system_error(errno, "map", paths.control);
    }
    return ControlView(page);
}

bool ControlView::is_of(std::string_view queue_uuid) const noexcept {
    const std::uint64_t seq = words_->applied_seq.load();
    return seq != 0 && words_->applied_check.load() == mix_bits(seq ^ queue_key(queue_uuid));
}

std::uint64_t ControlView::waiting() const noexcept {
    const std::uint64_t last = words_->queue_last_seq.load(std::memory_order_relaxed);
    const std::uint64_t applied = words_->applied_seq.load();
    return last > applied ? last - applied : 0;
}

std::uint64_t ControlView::queue_noted_ms() const noexcept {
    return words_->queue_noted_ms.load(std::memory_order_relaxed);
}

WorkerState ControlView::worker_state() const noexcept {
    const std::uint64_t state = words_->worker_state.load(std::memory_order_relaxed);
    return state <= static_cast<std::uint64_t>(WorkerState::kStopped)
               ? static_cast<WorkerState>(state)
               : WorkerState::kUnknown;
}

std::uint64_t ControlView::heartbeat_ms() const noexcept {
    return words_->heartbeat_ms.load(std::memory_order_relaxed);
}

std::string ControlView::worker_version() const {
    constexpr std::uint64_t kPart = 1'000;
    const std::uint64_t packed = words_->worker_version.load(std::memory_order_relaxed);
    return packed == 0
               ? ""
               : std::to_string(packed / kPart / kPart) + "." +
                     std::to_string(packed / kPart % kPart) + "." + std::to_string(packed % kPart);
}

}  // namespace sluice::store
