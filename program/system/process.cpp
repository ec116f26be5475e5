#include "program/system/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "core/values/lookup.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t kOutputBytesMax = 4u << 20;

}  // namespace

std::string read_pipe(int fd, std::size_t bytes_max) {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return text;
        }
        if (got > 0 && text.size() < bytes_max) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
}

Result<ChildOutput> run_child(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return system_error(errno, "run", arguments.front());
    }
    const Fd read_end(ends[0]);
    Fd write_end(ends[1]);
    auto argv = mapped(
        arguments, [](const std::string& argument) { return const_cast<char*>(argument.c_str()); });
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
    child.output = read_pipe(read_end.get(), kOutputBytesMax);
    const int status = wait_for_child(pid);
    child.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return child;
}

int fork_keeper(int type, const std::function<void(int socket)>& serve, Fd& socket, pid_t& child) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return errno;
    }
    child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
            ::signal(signal, SIG_IGN);  // the parent decides
        }
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            ::close(fd);
        }
        // An exception must not unwind through the parent's frames with the rights kept here.
        [&]() noexcept { serve(ends[1]); }();
        ::_exit(0);
    }
    const int error = child < 0 ? errno : 0;
    ::close(ends[1]);
    socket = Fd(ends[0]);
    return error;
}

int wait_for_child(pid_t child) noexcept {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

void notify_service(std::string_view state) noexcept {
    const char* const path = std::getenv("NOTIFY_SOCKET");
    if (path == nullptr) {
        return;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t bytes = std::strlen(path);
    if (bytes < 2 || bytes >= sizeof(address.sun_path) || (*path != '/' && *path != '@')) {
        return;
    }
    std::memcpy(address.sun_path, path, bytes);
    if (*path == '@') {
        address.sun_path[0] = '\0';  // the abstract namespace
    }
    const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.ok()) {
        // If a sign of life is lost, the next one follows soon.
        (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                       reinterpret_cast<const sockaddr*>(&address),
                       static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes));
    }
}

namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

extern "C" void on_stop_signal(int /*signal*/) {
    stop_requested = true;
}

/// Async-signal-safe.
void say_and_end(std::string_view sentence) noexcept {
    static_cast<void>(::write(STDERR_FILENO, sentence.data(), sentence.size()));
    ::_exit(1);
}

extern "C" void on_damage(int signal) {
    switch (signal) {
        case SIGBUS:
            return say_and_end(
                "sluice: a file of the store became shorter while it was in use, or its disk "
                "failed: nothing that was acknowledged is lost by this end of the program; run "
                "\"sluice doctor\"\n");
        case SIGSEGV:
            return say_and_end(
                "sluice: memory that other processes write to is damaged, or sluice has a defect: "
                "stop nginx and the worker, and run \"sluice doctor\"\n");
        default:
            return say_and_end(
                "sluice: a check of its own state failed: run \"sluice doctor\", and report the "
                "line above\n");
    }
}

}  // namespace

void catch_damage() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they report these themselves
    static std::array<char, 16'384> stack;  // the thread's own may be what is damaged
    stack_t alternative{};
    alternative.ss_sp = stack.data();
    alternative.ss_size = stack.size();
    ::sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_handler = on_damage;
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGBUS, SIGSEGV, SIGABRT}) {
        ::sigaction(signal, &action, nullptr);
    }
#endif
}

const std::atomic<bool>& catch_stop_signals() {
    struct sigaction action {};
    action.sa_handler = on_stop_signal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM}) {
        sigaction(signal, &action, nullptr);
    }
    return stop_requested;
}

}  // namespace sluice::cli
