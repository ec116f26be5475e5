#include "worker/system/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/files/file_io.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kOutputBytesMax = 4u << 20;

std::string read_to_end(int fd) {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return text;
        }
        if (got > 0 && text.size() < kOutputBytesMax) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
}

}  // namespace

Result<ChildOutput> run_child(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return system_error(errno, "run", arguments.front());
    }
    const Fd read_end(ends[0]);
    Fd write_end(ends[1]);
    std::vector<char*> argv;
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDERR_FILENO);
    pid_t pid = 0;
    const int error =
        ::posix_spawnp(&pid, arguments.front().c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return system_error(error, "run", arguments.front());
    }
    write_end = Fd();
    ChildOutput child;
    child.output = read_to_end(read_end.get());
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    child.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return child;
}

}  // namespace sluice::cli
