// Sibling files: outputs whose names are known only after the store was read.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string>

#include "program/system/named_file.hpp"
#include "program/system/process.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kSuffixBytes = 4;  // -EUR
constexpr std::size_t kErrorBytesMax = 1024;

using Suffix = std::array<char, kSuffixBytes>;

std::map<std::string, Fd>& writers() {
    static std::map<std::string, Fd> the_writers;
    return the_writers;
}

bool is_suffix(const Suffix& suffix) {
    return suffix[0] == '-' && std::all_of(suffix.begin() + 1, suffix.end(),
                                           [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool read_all(int fd, char* bytes, std::size_t count) {
    for (std::size_t done = 0; done < count;) {
        const ssize_t got = ::read(fd, bytes + done, count - done);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return true;
}

bool write_all(int fd, const char* bytes, std::size_t count) {
    for (std::size_t done = 0; done < count;) {
        const ssize_t put = ::send(fd, bytes + done, count - done, MSG_NOSIGNAL);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        done += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    return true;
}

/// The child: keeps its rights, which its parent gives up, and writes siblings of one file until
/// the parent ends.
void serve_siblings(int socket, const std::string& path) {
    Suffix suffix{};
    std::uint64_t size = 0;
    while (read_all(socket, suffix.data(), suffix.size()) &&
           read_all(socket, reinterpret_cast<char*>(&size), sizeof(size)) && is_suffix(suffix)) {
        std::string bytes(size, '\0');
        if (!read_all(socket, bytes.data(), bytes.size())) {
            break;
        }
        const Status done = write_output(sibling_of(path, {suffix.data(), suffix.size()}), bytes);
        std::string answer = done.ok() ? std::string() : done.error().message;
        answer.resize(kErrorBytesMax);
        if (!write_all(socket, answer.data(), answer.size())) {
            break;
        }
    }
}

}  // namespace

std::string sibling_of(const std::string& path, std::string_view suffix) {
    const std::filesystem::path file(path);
    return file.parent_path() /
           (file.stem().string() + std::string(suffix) + file.extension().string());
}

Status hold_siblings(const std::string& path) {
    pid_t child = 0;
    const int error = fork_keeper(
        SOCK_STREAM, [&path](int end) { serve_siblings(end, path); }, writers()[path], child);
    return error == 0 ? Status::success() : Status(system_error(error, "prepare", path));
}

Status write_sibling(const std::string& path, std::string_view suffix, std::string_view bytes) {
    const auto writer = writers().find(path);
    const std::string sibling = sibling_of(path, suffix);
    if (writer == writers().end()) {
        return write_output(sibling, bytes);
    }
    const int socket = writer->second.get();
    const std::uint64_t size = bytes.size();
    std::string answer(kErrorBytesMax, '\0');
    if (suffix.size() != kSuffixBytes || !write_all(socket, suffix.data(), suffix.size()) ||
        !write_all(socket, reinterpret_cast<const char*>(&size), sizeof(size)) ||
        !write_all(socket, bytes.data(), bytes.size()) ||
        !read_all(socket, answer.data(), answer.size())) {
        return system_error(EIO, "write", sibling);
    }
    answer.resize(answer.find('\0') == std::string::npos ? answer.size() : answer.find('\0'));
    return answer.empty() ? Status::success() : Status(Error{ErrorCode::kIo, answer});
}

}  // namespace sluice::cli
