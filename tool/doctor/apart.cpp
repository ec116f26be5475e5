// Doctor: checks in a process of their own.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "os/files/file_io.hpp"
#include "program/system/process.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

constexpr int kParts = 4;  // of a finding, each ended by a zero byte

std::string to_bytes(const Findings& findings) {
    std::string bytes;
    for (const Finding& one : findings) {
        for (const std::string& part :
             {one.check, std::string(to_string(one.health)), one.text, one.remedy}) {
            bytes += part.c_str();
            bytes += '\0';
        }
    }
    return bytes;
}

void add_from_bytes(std::string_view bytes, Findings& findings) {
    std::array<std::string, kParts> parts;
    for (std::size_t part = 0; !bytes.empty(); part = (part + 1) % kParts) {
        const std::size_t end = std::min(bytes.find('\0'), bytes.size());
        parts.at(part) = bytes.substr(0, end);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (part == kParts - 1) {
            findings.push_back({parts[0],
                                value_in(kHealthNames, parts[1]).value_or(Health::kProblem),
                                parts[2], parts[3]});
        }
    }
}

/// Ends the process.
[[noreturn]] void check_and_end(const Fd& to, const std::function<void(Findings&)>& checks) {
    for (const int signal : {SIGBUS, SIGSEGV, SIGABRT}) {
        std::signal(signal, SIG_DFL);  // the finding says more than the handler of the program
    }
    Findings found;
    checks(found);
    ::_exit(write_all(to.get(), to_bytes(found)) == 0 ? 0 : 1);
}

}  // namespace

void check_apart(const char* what, const std::string& remedy, Findings& findings,
                 const std::function<void(Findings&)>& checks) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        checks(findings);
        return;
    }
    const Fd from(ends[0]);
    Fd to(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) {
        checks(findings);
        return;
    }
    if (child == 0) {
        check_and_end(to, checks);
    }
    to = Fd();
    add_from_bytes(read_pipe(from.get()), findings);
    const int status = wait_for_child(child);
    if (WIFSIGNALED(status)) {
        findings.push_back({what, Health::kProblem,
                            std::string("the checks of it were ended by signal ") +
                                std::to_string(WTERMSIG(status)) + " (" +
                                ::strsignal(WTERMSIG(status)) +
                                "): a file of it is damaged or was cut off, or its disk fails",
                            remedy});
    }
}

}  // namespace sluice::cli
