#include "lmdb_store/archive/order.hpp"

#include <unistd.h>

#include <array>
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

std::filesystem::path order_path(const std::filesystem::path& folder, std::string_view queue) {
    return folder / (std::string(kOrderPrefix) + std::string(queue));
}

}  // namespace

bool is_order_name(std::string_view name) noexcept {
    return name.starts_with(kOrderPrefix);
}

Result<OrderWriter> OrderWriter::open(const std::filesystem::path& folder,
                                      const std::string& queue_uuid) {
    const std::filesystem::path path = order_path(folder, queue_uuid);
    if (::access(path.c_str(), F_OK) != 0) {
        if (Status made = replace_file(path, ""); !made) {
            return made.error();
        }
    }
    auto file = OpenFile::open(path, OpenFile::Mode::kReadWrite);
    if (!file) {
        return file.error();
    }
    const auto size = file->size();
    if (!size) {
        return size.error();
    }
    OrderWriter writer(std::move(*file), queue_uuid);
    for (writer.rows_ = *size / kRowBytes; writer.rows_ != 0; --writer.rows_) {
        const auto bytes = writer.file_.read_at((writer.rows_ - 1) * kRowBytes, kRowBytes);
        if (!bytes) {
            return bytes.error();
        }
        writer.last_ = decode(*bytes, queue_uuid);
        if (writer.last_) {
            break;
        }
    }
    return writer;
}

Status OrderWriter::write(std::uint64_t place, const AppliedBatch& row) {
    dirty_ = true;
    return file_.write_at(place * kRowBytes, encode(row));
}

Status OrderWriter::put(const AppliedBatch& row) {
    if (last_ && row.number == last_->number && row.first_seq == last_->first_seq) {
        last_ = row;
        return {};
    }
    if (last_ && row.number <= last_->number) {
        if (Status cut = file_.truncate(0); !cut) {
            return cut;
        }
        rows_ = 0;
        last_.reset();
    }
    // The row before is complete now.
    if (Status written = last_ ? write(rows_ - 1, *last_) : Status(); !written) {
        return written;
    }
    if (Status written = write(rows_, row); !written) {
        return written;
    }
    ++rows_;
    last_ = row;
    return {};
}

Status OrderWriter::flush() {
    if (!dirty_) {
        return {};
    }
    Status synced = file_.sync();
    dirty_ = !synced;
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
    auto file = OpenFile::open(path, OpenFile::Mode::kRead);
    if (!file) {
        return file.error();
    }
    const auto size = file->size();
    if (!size) {
        return size.error();
    }
    return OrderReader(std::move(*file), std::string(queue_uuid), *size / kRowBytes);
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
