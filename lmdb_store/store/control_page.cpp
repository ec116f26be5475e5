#include "lmdb_store/store/control_page.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/values/shell_word.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kMagic = 0x314C525443434C53;  // "SLCCTRL1", little endian
constexpr std::uint64_t kControlFormat = 1;

// The page is shared between processes, so the futex must not be a private one.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
    return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

/// Returns a word that names the latch, its queue and its boot, and is never 0.
std::uint64_t latch_word(Latch latch, std::uint64_t key) noexcept {
    return mix_bits(key + 1 + static_cast<std::uint64_t>(latch)) | 1U;
}

}  // namespace

std::uint64_t queue_key(std::string_view queue_uuid) noexcept {
    std::uint64_t key = 0x736C75696365U;
    for (const char c : queue_uuid) {
        key = mix_bits(key + static_cast<unsigned char>(c));
    }
    return key;
}

void ControlPage::publish_applied(SequenceNumber seq) noexcept {
    // A reader between the two stores sees a mismatch and deletes nothing.
    words_->applied_seq.store(seq.value);
    words_->applied_check.store(mix_bits(seq.value ^ key_));
}

SequenceNumber ControlPage::applied() const noexcept {
    const std::uint64_t seq = words_->applied_seq.load();
    return {words_->applied_check.load() == mix_bits(seq ^ key_) ? seq : 0};
}

void ControlPage::set_latch(Latch latch, std::uint64_t boot, std::uint64_t now_ms,
                            std::string_view text) noexcept {
    words_->latched_at_ms.store(now_ms);
    if (latched(boot)) {
        return;
    }
    text = text.substr(0, words_->latch_text.size() - 1);
    *std::copy(text.begin(), text.end(), words_->latch_text.begin()) = '\0';
    words_->latch.store(latch_word(latch, key_ ^ boot));
}

const char* latch_remedy(Latch latch) noexcept {
    return latch == Latch::kIo
               ? "check the disk, then restart nginx or run \"sluice queue unlatch\""
               : "stop nginx and the worker for that, and start them again afterwards";
}

std::optional<Latch> ControlPage::latched(std::uint64_t boot) const noexcept {
    const std::uint64_t word = words_->latch.load();
    if (word == 0) [[likely]] {
        return std::nullopt;
    }
    for (const Latch latch : {Latch::kIo, Latch::kDamage}) {
        if (word == latch_word(latch, key_ ^ boot)) {
            return latch;
        }
    }
    return std::nullopt;
}

/// nginx's workers may write to the page, and the text reaches logs and terminals.
std::string ControlPage::latch_text() const {
    const auto& text = words_->latch_text;
    std::string shown(text.begin(), std::ranges::find(text, '\0'));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return shown;
}

void ControlPage::clear_latch() noexcept {
    words_->latch.store(0);
    words_->lanes_freed.fetch_add(1);  // a latched queue gives no lane
}

void ControlPage::opened_by_master(std::uint64_t started_ms) noexcept {
    const std::uint64_t latch = words_->latch.load();
    std::uint64_t fault_ms = words_->latched_at_ms.load();
    if (latch == 0 || started_ms <= fault_ms ||
        !words_->latched_at_ms.compare_exchange_strong(fault_ms, 0)) {
        return;
    }
    clear_latch();
    // A fault at this moment stores its time, and keeps the latch that it finds.
    if (words_->latched_at_ms.load() != 0) {
        words_->latch.store(latch);
    }
}

void ControlPage::notify_appended(std::uint64_t now_ms) noexcept {
    words_->last_append_ms.store(now_ms, std::memory_order_relaxed);
    words_->wake.fetch_add(1);
    if (words_->worker_sleeps.load() != 0) {
        futex(words_->wake, FUTEX_WAKE, 1, nullptr);
    }
}

void ControlPage::wait_for_append(std::uint32_t seen_wake, std::uint32_t timeout_ms) noexcept {
    const timespec timeout{static_cast<time_t>(timeout_ms / 1000),
                           static_cast<long>(timeout_ms % 1000) * 1'000'000};
    words_->worker_sleeps.store(1);
    futex(words_->wake, FUTEX_WAIT, seen_wake, &timeout);
    words_->worker_sleeps.store(0);
}

Status ControlFile::create(const StorePaths& paths, const FileOwner& owner) {
    std::string page(kPageBytes, '\0');
    std::memcpy(page.data(), &kMagic, sizeof(kMagic));
    std::memcpy(page.data() + sizeof(kMagic), &kControlFormat, sizeof(kControlFormat));
    return replace_file(paths.control, page, owner);
}

Result<ControlFile> ControlFile::open(const StorePaths& paths) {
    Result<MappedFile> mapped = map_hints(paths.control, kPageBytes);
    if (!mapped) {
        return mapped.error();
    }
    ControlFile file(std::move(*mapped));
    ControlWords& words = file.words();
    if (words.magic == 0 && words.format == 0) {  // a page of zeros is valid
        words.magic = kMagic;
        words.format = kControlFormat;
    }
    if (words.magic != kMagic || words.format != kControlFormat) {
        return damaged_hints(paths.control, "is no control page");
    }
    return file;
}

void ControlView::Unmap::operator()(const ControlWords* words) const noexcept {
    ::munmap(const_cast<ControlWords*>(words), kPageBytes);
}

Result<ControlView> ControlView::open(const StorePaths& paths) {
    const Result<Fd> file = open_plain(paths.control, O_RDONLY);
    if (!file) {
        return file.error();
    }
    struct stat info {};
    if (::fstat(file->get(), &info) != 0 || info.st_size < off_t{kPageBytes}) {
        return damaged_hints(paths.control, "is too short");
    }
    void* const page = ::mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, file->get(), 0);
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

std::uint64_t ControlView::last_append_ms() const noexcept {
    return words_->last_append_ms.load(std::memory_order_relaxed);
}

std::string ControlView::worker_version() const {
    constexpr std::uint64_t kPart = 1'000;
    const std::uint64_t packed = words_->worker_version.load(std::memory_order_relaxed);
    return packed == 0
               ? ""
               : std::to_string(packed / kPart / kPart) + "." +
                     std::to_string(packed / kPart % kPart) + "." + std::to_string(packed % kPart);
}

Result<MappedFile> map_hints(const std::filesystem::path& path, std::size_t bytes) {
    Result<MappedFile> file = MappedFile::open(path, bytes);
    if (file) {
        return file;
    }
    switch (file.error().code) {
        case ErrorCode::kNotFound:
            return damaged_hints(path, "is missing");
        case ErrorCode::kInvalid:
            return damaged_hints(path, "is too short");
        default:
            return file.error();
    }
}

Error damaged_hints(const std::filesystem::path& path, std::string_view what) {
    return {ErrorCode::kCorrupt, "\"" + path.string() + "\" " + std::string(what) +
                                     ": the file holds only hints, so nothing is lost. Stop nginx "
                                     "and the worker, and make a new one: sluice doctor --mend " +
                                     shell_word(path.native())};
}

}  // namespace sluice::store
