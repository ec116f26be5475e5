#include "os/files/record_sorter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <queue>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;
constexpr const char* kOtherFolder = "/var/tmp";

/// The sizes of key and value, in bytes. They precede each record.
struct Sizes {
    std::uint32_t key = 0, value = 0;
    [[nodiscard]] std::size_t record() const noexcept { return sizeof(Sizes) + key + value; }
};

Sizes sizes_at(const char* record) noexcept {
    Sizes sizes;
    std::memcpy(&sizes, record, sizeof sizes);
    return sizes;
}

std::string_view key_at(const char* record) noexcept {
    return {record + sizeof(Sizes), sizes_at(record).key};
}

std::string_view value_at(const char* record) noexcept {
    const Sizes sizes = sizes_at(record);
    return {record + sizeof(Sizes) + sizes.key, sizes.value};
}

}  // namespace

/// Reads the records of a run in order.
class RecordSorter::RunReader {
public:
    RunReader(int file, Run run) : file_(file), at_(run.begin), end_(run.end) {}

    /// Advances to the next record. record() is nullptr after the last one.
    [[nodiscard]] Status next() {
        used_ += record_ == nullptr ? 0 : sizes_at(record_).record();
        record_ = nullptr;
        if (used_ == buffer_.size() && at_ == end_) {
            return {};
        }
        if (Status read = hold(sizeof(Sizes)); !read) {
            return read;
        }
        if (Status read = hold(sizes_at(buffer_.data() + used_).record()); !read) {
            return read;
        }
        record_ = buffer_.data() + used_;
        return {};
    }
    [[nodiscard]] const char* record() const noexcept { return record_; }

private:
    /// Reads until the buffer holds `bytes` from the beginning of the next record on.
    [[nodiscard]] Status hold(std::size_t bytes) {
        if (buffer_.size() - used_ >= bytes) {
            return {};
        }
        buffer_.erase(0, used_);
        used_ = 0;
        const std::size_t held = buffer_.size();
        const std::size_t wanted =
            std::min<std::uint64_t>(std::max(bytes - held, kReadBytes), end_ - at_);
        buffer_.resize(held + wanted);
        const std::int64_t got = read_at(file_, buffer_.data() + held, wanted, at_);
        if (got < 0) {
            return system_error(static_cast<int>(-got), "read", "a temporary file");
        }
        if (static_cast<std::size_t>(got) != wanted || held + wanted < bytes) {
            return corrupt("a temporary file is shorter than what was written");
        }
        at_ += wanted;
        return {};
    }

    int file_;
    std::uint64_t at_, end_;
    std::string buffer_;
    std::size_t used_ = 0;
    const char* record_ = nullptr;
};

RecordSorter::RecordSorter(std::filesystem::path folder, std::size_t bytes_at_once)
    : folder_(std::move(folder)), bytes_at_once_(bytes_at_once) {}

Status RecordSorter::add(std::string_view key, std::string_view value) {
    const Sizes sizes{static_cast<std::uint32_t>(key.size()),
                      static_cast<std::uint32_t>(value.size())};
    const std::size_t held = bytes_.size() + records_.size() * sizeof(std::size_t);
    if (!records_.empty() && held + sizes.record() > bytes_at_once_) {
        if (Status written = write_run(); !written) {
            return written;
        }
    }
    records_.push_back(bytes_.size());
    bytes_.append(reinterpret_cast<const char*>(&sizes), sizeof sizes);
    bytes_.append(key).append(value);
    sorted_ = false;
    return {};
}

void RecordSorter::sort() {
    if (!sorted_) {
        std::ranges::sort(records_, [this](std::size_t a, std::size_t b) {
            return key_at(bytes_.data() + a) < key_at(bytes_.data() + b);
        });
        sorted_ = true;
    }
}

Status RecordSorter::open() {
    int file = open_retrying(folder_.c_str(), O_TMPFILE | O_RDWR, S_IRUSR | S_IWUSR);
    if (file < 0) {  // no permission, or the file system has no unnamed files
        std::string name = std::string(kOtherFolder) + "/sluice-XXXXXX";
        file = ::mkostemp(name.data(), O_CLOEXEC);
        if (file < 0) {
            return system_error(errno, "make a temporary file in", kOtherFolder);
        }
        ::unlink(name.c_str());
    }
    file_ = Fd(file);
    return {};
}

Status RecordSorter::write_run() {
    if (!file_.ok()) {
        if (Status opened = open(); !opened) {
            return opened;
        }
    }
    sort();
    Run run{file_bytes_, file_bytes_};
    std::string piece;
    for (std::size_t i = 0; i < records_.size(); ++i) {
        const char* const record = bytes_.data() + records_[i];
        piece.append(record, sizes_at(record).record());
        if (piece.size() >= kReadBytes || i + 1 == records_.size()) {
            if (const int error = write_at(file_.get(), piece, run.end); error != 0) {
                return system_error(error, "write", "a temporary file");
            }
            run.end += piece.size();
            piece.clear();
        }
    }
    file_bytes_ = run.end;
    runs_.push_back(run);
    bytes_.clear();
    records_.clear();
    return {};
}

Status RecordSorter::visit(const std::function<bool(std::string_view value)>& visit) {
    if (!runs_.empty()) {
        if (!records_.empty()) {
            if (Status written = write_run(); !written) {
                return written;
            }
            bytes_ = {};
            records_ = {};
        }
        return merge(visit);
    }
    sort();
    for (const std::size_t record : records_) {
        if (!visit(value_at(bytes_.data() + record))) {
            break;
        }
    }
    return {};
}

Status RecordSorter::merge(const std::function<bool(std::string_view value)>& visit) {
    const auto later = [](const RunReader* a, const RunReader* b) {
        return key_at(a->record()) > key_at(b->record());
    };
    std::vector<std::unique_ptr<RunReader>> readers;
    std::priority_queue<RunReader*, std::vector<RunReader*>, decltype(later)> first(later);
    for (const Run& run : runs_) {
        readers.push_back(std::make_unique<RunReader>(file_.get(), run));
        if (Status read = readers.back()->next(); !read) {
            return read;
        }
        first.push(readers.back().get());
    }
    while (!first.empty()) {
        RunReader* const reader = first.top();
        first.pop();
        if (!visit(value_at(reader->record()))) {
            return {};
        }
        if (Status read = reader->next(); !read) {
            return read;
        }
        if (reader->record() != nullptr) {
            first.push(reader);
        }
    }
    return {};
}

}  // namespace sluice
