#include "lmdb_store/archive/order.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/values/crc32c.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kOrderPrefix = "order.";
constexpr std::uint32_t kOrderMagic = 0x314f4c53;  // "SLO1"

/// A row in the file, little endian.
struct StoredBatch {
    std::uint32_t magic;
    std::uint32_t crc;  ///< CRC32C of what follows it.
    std::uint64_t number, first_seq, last_seq;
    std::uint64_t slices;  ///< One more than the row has, or 0 if it has none.
};
constexpr std::size_t kRowBytes = sizeof(StoredBatch);
static_assert(kRowBytes == 40);
/// A power failure tears none but the last so many rows, because put() syncs the rows before.
constexpr std::uint64_t kUnsyncedRowsMax = 16 * 1024;
constexpr std::size_t kCheckedFrom = offsetof(StoredBatch, number);

std::uint32_t crc_of(const StoredBatch& row) {
    return crc32c(0,
                  {reinterpret_cast<const char*>(&row) + kCheckedFrom, kRowBytes - kCheckedFrom});
}

std::string encode(const AppliedBatch& row) {
    StoredBatch stored{kOrderMagic,        0,
                       row.number,         row.first_seq.value,
                       row.last_seq.value, row.slices ? *row.slices + 1 : 0};
    stored.crc = crc_of(stored);
    return {reinterpret_cast<const char*>(&stored), sizeof(stored)};
}

std::optional<AppliedBatch> decode(std::string_view bytes, const std::string& queue_uuid) {
    StoredBatch stored;
    if (bytes.size() != sizeof(stored)) {
        return std::nullopt;
    }
    std::memcpy(&stored, bytes.data(), sizeof(stored));
    if (stored.magic != kOrderMagic || stored.crc != crc_of(stored)) {
        return std::nullopt;
    }
    AppliedBatch row{stored.number, queue_uuid, {stored.first_seq}, {stored.last_seq}, {}};
    row.slices = stored.slices == 0 ? std::nullopt : std::optional(stored.slices - 1);
    return row;
}

std::filesystem::path new_path(const std::filesystem::path& path) {
    return path.string() + ".new." + std::to_string(::getpid());
}

/// A queue's file and its complete rows.
struct RowsOfFile {
    OpenFile file;
    std::string queue_uuid;
    std::uint64_t count = 0;

    static Result<RowsOfFile> open(const std::filesystem::path& folder, std::string_view queue,
                                   OpenFile::Mode mode = OpenFile::Mode::kRead) {
        auto file = OpenFile::open(order_path(folder, queue), mode);
        if (!file) {
            return file.error();
        }
        const auto size = file->size();
        return size ? Result<RowsOfFile>({std::move(*file), std::string(queue), *size / kRowBytes})
                    : size.error();
    }
    /// Drops the first row that a power failure has torn, and the rows after it, which the disk may
    /// have written before it.
    Status drop_torn() {
        const std::uint64_t first = count - std::min(count, kUnsyncedRowsMax);
        const auto bytes = file.read_at(first * kRowBytes, (count - first) * kRowBytes);
        if (!bytes) {
            return bytes.error();
        }
        for (std::uint64_t row = first; row < count; ++row) {
            if (!decode(std::string_view(*bytes).substr((row - first) * kRowBytes, kRowBytes),
                        queue_uuid)) {
                count = row;
            }
        }
        return Status::success();
    }
    /// Returns the last row, or nothing. Drops rows at the end that a crash has torn.
    Result<std::optional<AppliedBatch>> last() {
        for (; count != 0; --count) {
            const auto bytes = file.read_at((count - 1) * kRowBytes, kRowBytes);
            if (!bytes) {
                return bytes.error();
            }
            if (auto row = decode(*bytes, queue_uuid)) {
                return row;
            }
        }
        return std::optional<AppliedBatch>();
    }
};

}  // namespace

std::filesystem::path order_path(const std::filesystem::path& folder, std::string_view queue_uuid) {
    return folder / (std::string(kOrderPrefix) + std::string(queue_uuid));
}

Result<std::vector<std::string>> list_orders(const std::filesystem::path& folder) {
    const Result<std::vector<std::string>> names = names_in(folder);
    if (!names) {
        return names.error();
    }
    std::vector<std::string> queues;
    for (const std::string& name : *names) {
        const bool is_temporary = name.find('.', kOrderPrefix.size()) != std::string::npos;
        if (name.starts_with(kOrderPrefix) && !is_temporary) {
            queues.push_back(name.substr(kOrderPrefix.size()));
        }
    }
    std::sort(queues.begin(), queues.end());
    return queues;
}

Result<std::optional<std::uint64_t>> damaged_row(const std::filesystem::path& folder,
                                                 std::string_view queue_uuid) {
    auto rows = RowsOfFile::open(folder, queue_uuid);
    if (!rows) {
        return rows.error();
    }
    const auto bytes = rows->file.size();
    if (!bytes) {
        return bytes.error();
    }
    const std::uint64_t count = (*bytes + kRowBytes - 1) / kRowBytes;
    for (std::uint64_t row = 0; row < count; ++row) {
        bool is_sound = false;
        for (int attempt = 0; attempt < 2 && !is_sound; ++attempt) {  // it may be being written
            const auto text = rows->file.read_at(row * kRowBytes, kRowBytes);
            if (!text) {
                return text.error();
            }
            is_sound = decode(*text, rows->queue_uuid).has_value();
        }
        if (!is_sound) {
            return std::optional(row + 1);
        }
    }
    return std::optional<std::uint64_t>();
}

Result<std::vector<std::string>> order_faults(const std::filesystem::path& folder) {
    const auto queues = list_orders(folder);
    if (!queues) {
        return queues.error();
    }
    std::vector<std::string> faults;
    for (const std::string& queue : *queues) {
        const auto row = damaged_row(folder, queue);
        if (!row) {
            return row.error();
        }
        if (*row) {
            faults.push_back("archive: " + order_path({}, queue).string() + " is damaged at row " +
                             std::to_string(**row));
        }
    }
    return faults;
}

Result<std::uint64_t> order_bytes_up_to(const std::filesystem::path& folder,
                                        std::string_view queue_uuid, SequenceNumber last) {
    auto rows = RowsOfFile::open(folder, queue_uuid);
    if (!rows) {
        return rows.error();
    }
    for (;;) {
        const auto row = rows->last();
        if (!row) {
            return row.error();
        }
        // A row of work alone begins after the inputs that left the work.
        if (!*row || (*row)->first_seq <= last || (*row)->last_seq <= last) {
            return rows->count * kRowBytes;
        }
        --rows->count;
    }
}

Result<std::optional<AppliedBatch>> last_in_order(const std::filesystem::path& folder,
                                                  std::string_view queue_uuid) {
    auto rows = RowsOfFile::open(folder, queue_uuid);
    if (!rows && rows.error().code == ErrorCode::kNotFound) {
        return std::optional<AppliedBatch>();
    }
    return rows ? rows->last() : rows.error();
}

Result<OrderWriter> OrderWriter::open(const std::filesystem::path& folder,
                                      const std::string& queue_uuid) {
    const std::filesystem::path path = order_path(folder, queue_uuid);
    if (::access(path.c_str(), F_OK) != 0) {
        if (Status made = replace_file(path, ""); !made) {
            return made.error();
        }
    }
    auto rows = RowsOfFile::open(folder, queue_uuid, OpenFile::Mode::kReadWrite);
    if (!rows) {
        return rows.error();
    }
    if (Status dropped = rows->drop_torn(); !dropped) {
        return dropped.error();
    }
    auto last = rows->last();
    if (!last) {
        return last.error();
    }
    OrderWriter writer(std::move(rows->file), queue_uuid);
    writer.rows_ = writer.synced_rows_ = rows->count;
    writer.last_ = std::move(*last);
    writer.written_slices_ = writer.last_ ? writer.last_->slices : std::nullopt;
    return writer;
}

Result<OrderWriter> OrderWriter::begin_anew(const std::filesystem::path& folder,
                                            const std::string& queue_uuid) {
    const std::filesystem::path path = new_path(order_path(folder, queue_uuid));
    if (Status made = replace_file(path, ""); !made) {
        return made.error();
    }
    auto file = OpenFile::open(path, OpenFile::Mode::kReadWrite);
    if (!file) {
        return file.error();
    }
    return OrderWriter(std::move(*file), queue_uuid);
}

Status OrderWriter::publish() {
    if (Status flushed = flush(); !flushed) {
        return flushed;
    }
    const std::filesystem::path folder = file_.path().parent_path();
    const std::filesystem::path path = order_path(folder, queue_uuid_);
    if (::rename(file_.path().c_str(), path.c_str()) != 0) {
        return system_error(errno, "replace", path);
    }
    return sync_folder(folder);
}

Status OrderWriter::write(std::uint64_t place, const AppliedBatch& row) {
    dirty_ = true;
    written_slices_ = row.slices;
    return file_.write_at(place * kRowBytes, encode(row));
}

Status OrderWriter::put(const AppliedBatch& row) {
    if (last_ && row.number == last_->number && row.first_seq == last_->first_seq) {
        last_ = row;
        return {};
    }
    if (last_ && row.number <= last_->number) {
        return Error{ErrorCode::kConflict,
                     "batch " + std::to_string(row.number) + " does not follow batch " +
                         std::to_string(last_->number) + " in \"" + file_.path().string() + "\""};
    }
    // The row before is complete now.
    if (Status written = last_ ? write(rows_ - 1, *last_) : Status(); !written) {
        return written;
    }
    if (rows_ - synced_rows_ + 1 >= kUnsyncedRowsMax) {
        if (Status synced = flush(); !synced) {
            return synced;
        }
    }
    if (Status written = write(rows_, row); !written) {
        return written;
    }
    ++rows_;
    last_ = row;
    return {};
}

Status OrderWriter::flush() {
    if (last_ && last_->slices != written_slices_) {
        if (Status written = write(rows_ - 1, *last_); !written) {
            return written;
        }
    }
    if (!dirty_) {
        return {};
    }
    Status synced = file_.sync();
    dirty_ = !synced;
    synced_rows_ = synced ? rows_ : synced_rows_;
    return synced;
}

Result<OrderReader> OrderReader::open(const std::filesystem::path& folder,
                                      std::string_view queue_uuid) {
    const std::filesystem::path path = order_path(folder, queue_uuid);
    if (::access(path.c_str(), F_OK) != 0) {
        return errno == ENOENT
                   ? Result<OrderReader>(OrderReader(std::nullopt, std::string(queue_uuid), 0))
                   : Result<OrderReader>(system_error(errno, "read", path));
    }
    auto rows = RowsOfFile::open(folder, queue_uuid);
    return rows ? Result<OrderReader>(
                      OrderReader(std::move(rows->file), std::string(queue_uuid), rows->count))
                : rows.error();
}

Result<std::optional<AppliedBatch>> OrderReader::next() {
    if (next_ == rows_) {
        return std::optional<AppliedBatch>();
    }
    const auto bytes = file_->read_at(next_ * kRowBytes, kRowBytes);
    if (!bytes) {
        return bytes.error();
    }
    std::optional<AppliedBatch> row = decode(*bytes, queue_uuid_);
    if (!row && next_ + 1 != rows_) {
        return Error{ErrorCode::kCorrupt,
                     "the order of batches is damaged (" + file_->path().string() + ")"};
    }
    next_ = row ? next_ + 1 : rows_;
    return row;
}

}  // namespace sluice::store
