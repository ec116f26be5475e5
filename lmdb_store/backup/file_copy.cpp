#include "lmdb_store/backup/file_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/values/crc32c.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

Result<FileSum> read_open(const OpenFile& file, std::uint64_t bytes_max,
                          const std::function<Status(std::string_view)>& visit) {
    FileSum read;
    while (read.bytes < bytes_max) {
        const auto wanted =
            static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes_max - read.bytes));
        const auto piece = file.read_at(read.bytes, wanted);
        if (!piece) {
            return piece.error();
        }
        if (piece->empty()) {
            break;
        }
        read.crc = crc32c(read.crc, *piece);
        read.bytes += piece->size();
        if (Status visited = visit(*piece); !visited) {
            return visited.error();
        }
    }
    return read;
}

}  // namespace

Result<FileSum> read_pieces(const fs::path& path, std::uint64_t bytes_max,
                            const std::function<Status(std::string_view)>& visit) {
    const auto file = OpenFile::open(path, OpenFile::Mode::kRead);
    return file ? read_open(*file, bytes_max, visit) : Result<FileSum>(file.error());
}

Status copy_file(const OpenFile& from, const fs::path& to, std::uint64_t bytes_max,
                 const FileOwner& owner) {
    const bool is_new = ::access(to.c_str(), F_OK) != 0;
    const Fd file(open_retrying(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    if (!file.ok()) {
        return system_error(errno, "create", to);
    }
    const auto copied = read_open(from, bytes_max, [&](std::string_view piece) {
        const int error = write_all(file.get(), piece);
        return error == 0 ? Status::success() : Status(system_error(error, "write", to));
    });
    if (!copied) {
        return copied.error();
    }
    if (::fdatasync(file.get()) != 0) {
        return system_error(errno, "sync", to);
    }
    return is_new ? set_owner(to, owner) : Status::success();
}

Status copy_file(const fs::path& from, const fs::path& to, std::uint64_t bytes_max,
                 const FileOwner& owner) {
    const auto file = OpenFile::open(from, OpenFile::Mode::kRead);
    return file ? copy_file(*file, to, bytes_max, owner) : Status(file.error());
}

}  // namespace sluice::store
