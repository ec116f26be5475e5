#include "unit/core/intake/instruction_count.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace sluice::test {
namespace {

constexpr int kTraceRefused = 3;

[[noreturn]] void run_traced(const std::function<void()>& work) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
        _exit(kTraceRefused);
    }
    work();  // leaves the blocks that malloc() finds again at once
    raise(SIGSTOP);
    work();
    raise(SIGSTOP);
    _exit(0);
}

/// Waits for the next stop. @return its signal, or 0: the child is gone.
int next_stop(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

}  // namespace

std::optional<std::uint64_t> instructions_of(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        run_traced(work);
    }
    if (child < 0 || next_stop(child) != SIGSTOP) {
        return std::nullopt;
    }
    std::uint64_t count = 0;
    int stop = 0;
    while (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
           (stop = next_stop(child)) == SIGTRAP) {
        ++count;
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return stop == SIGSTOP ? std::optional(count) : std::nullopt;
}

}  // namespace sluice::test
