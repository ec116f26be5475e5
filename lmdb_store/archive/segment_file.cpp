#include "lmdb_store/archive/segment_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kSuffix = ".sla";
/// What replace_file() appends while it writes, with its process id behind.
constexpr std::string_view kUnfinished = ".sla.new";
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

Status remove_unfinished(const std::filesystem::path& folder) {
    const auto names = names_in(folder);
    if (!names) {
        return names.error();
    }
    for (const std::string& name : *names) {
        const std::filesystem::path path = folder / name;
        if (name.find(kUnfinished) != std::string::npos && ::unlink(path.c_str()) != 0 &&
            errno != ENOENT) {
            return system_error(errno, "remove", path);
        }
    }
    return Status::success();
}

}  // namespace sluice::store
