#include "lmdb_store/archive/order.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/values/crc32c.hpp"
#include "lmdb_store/environment/store_failure.hpp"

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

    static RowsOfFile open(const std::filesystem::path& folder, std::string_view queue,
                           OpenFile::Mode mode = OpenFile::Mode::kRead) {
        OpenFile file = checked(OpenFile::open(order_path(folder, queue), mode));
        const std::uint64_t count = checked(file.size()) / kRowBytes;
        return {std::move(file), std::string(queue), count};
    }
    /// Drops the first row that a power failure has torn, and the rows after it, which the disk may
    /// have written before it.
    void drop_torn() {
        const std::uint64_t first = count - std::min(count, kUnsyncedRowsMax);
        const std::string bytes =
            checked(file.read_at(first * kRowBytes, (count - first) * kRowBytes));
        for (std::uint64_t row = first; row < count; ++row) {
            if (!decode(std::string_view(bytes).substr((row - first) * kRowBytes, kRowBytes),
                        queue_uuid)) {
                count = row;
            }
        }
    }
    [[nodiscard]] std::optional<AppliedBatch> read(std::uint64_t row) const {
        return decode(checked(file.read_at(row * kRowBytes, kRowBytes)), queue_uuid);
    }
    /// Returns the last row, or nothing. Drops rows at the end that a crash has torn.
    std::optional<AppliedBatch> last() {
        for (; count != 0; --count) {
            if (auto row = read(count - 1)) {
                return row;
            }
        }
        return std::nullopt;
    }
};

}  // namespace

std::filesystem::path order_path(const std::filesystem::path& folder, std::string_view queue_uuid) {
    return folder / (std::string(kOrderPrefix) + std::string(queue_uuid));
}

std::vector<std::string> list_orders(const std::filesystem::path& folder) {
    std::vector<std::string> queues;
    for (const std::string& name : checked(names_in(folder))) {
        const bool is_temporary = name.find('.', kOrderPrefix.size()) != std::string::npos;
        if (name.starts_with(kOrderPrefix) && !is_temporary) {
            queues.push_back(name.substr(kOrderPrefix.size()));
        }
    }
    std::ranges::sort(queues);
    return queues;
}

std::optional<std::uint64_t> damaged_row(const std::filesystem::path& folder,
                                         std::string_view queue_uuid) {
    const RowsOfFile rows = RowsOfFile::open(folder, queue_uuid);
    const std::uint64_t count = (checked(rows.file.size()) + kRowBytes - 1) / kRowBytes;
    for (std::uint64_t row = 0; row < count; ++row) {
        if (!rows.read(row) && !rows.read(row)) {  // at first it may be being written
            return row + 1;
        }
    }
    return std::nullopt;
}

Result<std::vector<std::string>> order_faults(const std::filesystem::path& folder) {
    return attempt([&] {
        std::vector<std::string> faults;
        for (const std::string& queue : list_orders(folder)) {
            if (const auto row = damaged_row(folder, queue)) {
                faults.push_back("archive: " + order_path({}, queue).string() +
                                 " is damaged at row " + std::to_string(*row));
            }
        }
        return faults;
    });
}

Result<std::uint64_t> order_bytes_up_to(const std::filesystem::path& folder,
                                        std::string_view queue_uuid, SequenceNumber last) {
    return attempt([&] {
        RowsOfFile rows = RowsOfFile::open(folder, queue_uuid);
        // A row of work alone begins after the inputs that left the work.
        for (auto row = rows.last(); row && row->first_seq > last && row->last_seq > last;
             row = rows.last()) {
            --rows.count;
        }
        return rows.count * kRowBytes;
    });
}

Result<std::optional<AppliedBatch>> last_in_order(const std::filesystem::path& folder,
                                                  std::string_view queue_uuid) {
    auto last = attempt([&] { return RowsOfFile::open(folder, queue_uuid).last(); });
    return last || last.error().code != ErrorCode::kNotFound ? last : std::optional<AppliedBatch>();
}

Result<OrderWriter> OrderWriter::open(const std::filesystem::path& folder,
                                      const std::string& queue_uuid) {
    return attempt([&] {
        const std::filesystem::path path = order_path(folder, queue_uuid);
        if (::access(path.c_str(), F_OK) != 0) {
            check(replace_file(path, ""));
        }
        RowsOfFile rows = RowsOfFile::open(folder, queue_uuid, OpenFile::Mode::kReadWrite);
        rows.drop_torn();
        std::optional<AppliedBatch> last = rows.last();
        OrderWriter writer(std::move(rows.file), queue_uuid);
        writer.rows_ = writer.synced_rows_ = rows.count;
        writer.last_ = std::move(last);
        writer.written_slices_ = writer.last_ ? writer.last_->slices : std::nullopt;
        return writer;
    });
}

Result<OrderWriter> OrderWriter::begin_anew(const std::filesystem::path& folder,
                                            const std::string& queue_uuid) {
    return attempt([&] {
        const std::filesystem::path path = new_path(order_path(folder, queue_uuid));
        check(replace_file(path, ""));
        return OrderWriter(checked(OpenFile::open(path, OpenFile::Mode::kReadWrite)), queue_uuid);
    });
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

void OrderWriter::write(std::uint64_t place, const AppliedBatch& row) {
    dirty_ = true;
    written_slices_ = row.slices;
    check(file_.write_at(place * kRowBytes, encode(row)));
}

Status OrderWriter::put(const AppliedBatch& row) {
    if (last_ && row.number == last_->number && row.first_seq == last_->first_seq) {
        last_ = row;
        return {};
    }
    if (last_ && row.number <= last_->number) {
        return conflict("batch " + std::to_string(row.number) + " does not follow batch " +
                        std::to_string(last_->number) + " in \"" + file_.path().string() + "\"");
    }
    return attempt([&] {
        if (last_) {
            write(rows_ - 1, *last_);  // it is complete now
        }
        if (rows_ - synced_rows_ + 1 >= kUnsyncedRowsMax) {
            check(flush());
        }
        write(rows_, row);
        ++rows_;
        last_ = row;
    });
}

Status OrderWriter::flush() {
    return attempt([&] {
        if (last_ && last_->slices != written_slices_) {
            write(rows_ - 1, *last_);
        }
        if (dirty_) {
            check(file_.sync());
            dirty_ = false;
            synced_rows_ = rows_;
        }
    });
}

Result<OrderReader> OrderReader::open(const std::filesystem::path& folder,
                                      std::string_view queue_uuid) {
    const std::filesystem::path path = order_path(folder, queue_uuid);
    if (::access(path.c_str(), F_OK) != 0) {
        return errno == ENOENT
                   ? Result<OrderReader>(OrderReader(std::nullopt, std::string(queue_uuid), 0))
                   : Result<OrderReader>(system_error(errno, "read", path));
    }
    return attempt([&] {
        RowsOfFile rows = RowsOfFile::open(folder, queue_uuid);
        return OrderReader(std::move(rows.file), std::string(queue_uuid), rows.count);
    });
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
        return corrupt("the order of batches is damaged (" + file_->path().string() + ")");
    }
    next_ = row ? next_ + 1 : rows_;
    return row;
}

}  // namespace sluice::store
