#include "lmdb_store/archive/segment.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

#include "core/values/crc32c.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kSuffix = ".sla";
/// Part of the names of replace_file()'s temporary files of segments, before the process id.
constexpr std::string_view kUnfinished = ".sla.new";
/// Beginning of the names of batch orders.
constexpr std::string_view kOrder = "order.";
constexpr std::string_view kNew = ".new.";
constexpr std::size_t kOrdinalDigits = 12;

std::optional<std::uint64_t> ordinal_of(const std::string& name) {
    if (name.size() != kOrdinalDigits + kSuffix.size() || !name.ends_with(kSuffix)) {
        return std::nullopt;
    }
    std::uint64_t ordinal = 0;
    const char* end = name.data() + kOrdinalDigits;
    const auto [stopped, error] = std::from_chars(name.data(), end, ordinal);
    if (error != std::errc{} || stopped != end || ordinal == 0) {
        return std::nullopt;
    }
    return ordinal;
}

struct SegmentFigures {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::int64_t created_at_seconds = 0;
};

std::vector<SegmentFigures> segment_figures(const std::filesystem::path& folder) {
    std::vector<SegmentFigures> figures;
    for (const auto& [ordinal, path] : checked(list_segments(folder))) {
        const Segment segment = open_segment(path);
        figures.push_back({path, checked(segment.file.size()), segment.head.created_at_seconds});
    }
    return figures;
}

}  // namespace

Result<std::map<std::uint64_t, std::filesystem::path>> list_segments(
    const std::filesystem::path& folder) {
    std::map<std::uint64_t, std::filesystem::path> segments;
    const auto names = names_in(folder);
    if (!names) {
        return names.error();
    }
    for (const std::string& name : *names) {
        if (const auto ordinal = ordinal_of(name)) {
            segments.emplace(*ordinal, folder / name);
        }
    }
    return segments;
}

std::filesystem::path segment_path(const std::filesystem::path& folder, std::uint64_t ordinal) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "%012llu.sla",
                  static_cast<unsigned long long>(ordinal));
    return folder / name.data();
}

Result<SegmentHead> read_segment_head(const OpenFile& file) {
    const auto bytes = file.read_at(0, kSegmentHeadBytes);
    if (!bytes) {
        return bytes.error();
    }
    auto head = decode_segment_head(*bytes);
    if (!head) {
        return Error{head.error().code, head.error().message + " (" + file.path().string() + ")"};
    }
    return head;
}

Segment open_segment(const std::filesystem::path& path, OpenFile::Mode mode) {
    OpenFile file = checked(OpenFile::open(path, mode));
    SegmentHead head = checked(read_segment_head(file));
    return {std::move(file), std::move(head)};
}

void remove_unfinished(const std::filesystem::path& folder) {
    for (const std::string& name : checked(names_in(folder))) {
        const std::filesystem::path path = folder / name;
        const bool is_unfinished =
            name.find(kUnfinished) != std::string::npos ||
            (name.starts_with(kOrder) && name.find(kNew) != std::string::npos);
        if (is_unfinished && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
            throw StoreFailure(system_error(errno, "remove", path));
        }
    }
}

std::optional<BlockHead> BlockCursor::peek() {
    const std::string bytes = checked(file_->read_at(offset_, kBlockHeadBytes));
    if (bytes.empty()) {
        return std::nullopt;
    }
    const auto head = decode_block_head(bytes);
    torn_ = !head.ok();
    return head ? std::optional(*head) : std::nullopt;
}

std::optional<BlockCursor::Block> BlockCursor::next() {
    const auto head = peek();
    if (!head) {
        return std::nullopt;
    }
    std::string payload = checked(file_->read_at(offset_ + kBlockHeadBytes, head->stored_bytes));
    if (payload.size() != head->stored_bytes || crc32c(0, payload) != head->payload_crc) {
        torn_ = true;
        return std::nullopt;
    }
    offset_ += kBlockHeadBytes + head->stored_bytes;
    return Block{*head, std::move(payload)};
}

void BlockCursor::skip_before(SequenceNumber seq) {
    for (auto head = peek(); head && head->last_seq < seq; head = peek()) {
        offset_ += kBlockHeadBytes + head->stored_bytes;
    }
}

SegmentScan scan_segment(const OpenFile& file) {
    BlockCursor cursor(file);
    SegmentScan scan;
    while (const auto block = cursor.next()) {
        scan.last_seq = block->head.last_seq;
        scan.chain = block->head.chain;
    }
    scan.sound_bytes = cursor.offset();
    scan.torn = cursor.torn();
    return scan;
}

std::uint64_t remove_old_segments(const std::filesystem::path& folder,
                                  std::int64_t oldest_kept_seconds, std::uint64_t bytes_max) {
    const std::vector<SegmentFigures> figures = segment_figures(folder);
    std::uint64_t bytes = 0;
    for (const SegmentFigures& segment : figures) {
        bytes += segment.bytes;
    }
    std::uint64_t removed = 0;
    for (std::size_t i = 0; i + 1 < figures.size(); ++i) {
        // All inputs of a segment were applied before the next segment began.
        const bool old = figures[i + 1].created_at_seconds <= oldest_kept_seconds;
        const bool crowded = bytes_max != 0 && bytes > bytes_max;
        if (!old && !crowded) {
            break;
        }
        std::error_code failure;
        std::filesystem::remove(figures[i].path, failure);
        if (failure) {
            throw StoreFailure({ErrorCode::kIo, "cannot remove " + figures[i].path.string() + ": " +
                                                    failure.message()});
        }
        bytes -= figures[i].bytes;
        ++removed;
    }
    if (removed != 0) {
        check(sync_folder(folder));
    }
    return removed;
}

}  // namespace sluice::store
