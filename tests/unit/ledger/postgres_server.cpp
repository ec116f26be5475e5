#include "unit/ledger/postgres_server.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "os/files/file_io.hpp"

namespace sluice::test {
namespace {

/// The programs of the oldest release that is installed: 15 on Debian 12, 17 on Debian 13.
std::filesystem::path find_programs() {
    const std::filesystem::path releases("/usr/lib/postgresql");
    std::string oldest = "none";
    std::error_code none;
    for (const auto& release : std::filesystem::directory_iterator(releases, none)) {
        oldest = std::min(oldest, release.path().filename().string());
    }
    return releases / oldest / "bin";
}

const std::filesystem::path kPrograms = find_programs();

/// PostgreSQL refuses to run as root.
const passwd* other_user() {
    return ::getuid() == 0 ? ::getpwnam("postgres") : nullptr;
}

/// Runs a program of PostgreSQL, quiet unless it fails; it ends with this one.
pid_t spawn(const std::vector<std::string>& words, const std::filesystem::path& log) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0) {
        return pid;
    }
    if (const passwd* user = other_user()) {
        if (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) {
            ::_exit(126);
        }
    }
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (std::freopen(log.c_str(), "a", stdout) == nullptr ||
        ::dup2(::fileno(stdout), STDERR_FILENO) < 0 || ::chdir("/") != 0) {
        ::_exit(126);
    }
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
}

void copy_folder(const std::string& from, const std::string& to) {
    const std::string command = "cp -a '" + from + "' '" + to + "'";  // and the owner
    if (std::system(command.c_str()) != 0) {
        throw std::runtime_error("failed: " + command);
    }
}

/// A copy of one new database, which tests/harness/postgres.py copies too: initdb takes seconds of
/// processor.
void initialize(const std::string& data, const std::filesystem::path& log) {
    const std::filesystem::path build =
        std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    const std::string made = build / ("postgres-" + kPrograms.parent_path().filename().string());
    const Fd lock(::open((made + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
    if (!lock.ok() || ::flock(lock.get(), LOCK_EX) != 0) {
        throw std::runtime_error("cannot lock " + made + ".lock");
    }
    if (std::filesystem::exists(made)) {
        copy_folder(made, data);
        return;
    }
    int status = -1;
    const pid_t init = spawn({kPrograms / "initdb", "-D", data, "-A", "trust", "-U", "sluice", "-E",
                              "UTF8", "--no-locale", "--no-sync", "--no-instructions"},
                             log);
    if (::waitpid(init, &status, 0) != init || status != 0) {
        throw std::runtime_error("initdb failed, see " + log.string());
    }
    std::filesystem::remove_all(made + ".new");
    copy_folder(data, made + ".new");
    std::filesystem::rename(made + ".new", made);
}

/// The server's own file says so. pg_isready would be a process for each question.
bool is_ready(const std::string& data) {
    std::ifstream file(data + "/postmaster.pid");
    std::string line, last;
    while (std::getline(file, line)) {
        last = line;
    }
    return last.starts_with("ready");
}

}  // namespace

PostgresServer& PostgresServer::instance() {
    static PostgresServer server;
    return server;
}

PostgresServer::PostgresServer() {
    if (const char* given = std::getenv("SLUICE_TEST_LEDGER")) {
        given_ = given;
        return;
    }
    if (!std::filesystem::exists(kPrograms / "postgres")) {
        throw std::runtime_error("no " + (kPrograms / "postgres").string() +
                                 ": scripts/install-deps test installs it");
    }
    std::string folder = "/tmp/sluice-pg-XXXXXX";  // a socket's path must be short
    if (::mkdtemp(folder.data()) == nullptr) {
        throw std::runtime_error("cannot make " + folder);
    }
    folder_ = folder;
    if (const passwd* user = other_user()) {
        if (::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
            throw std::runtime_error("cannot give " + folder + " to postgres");
        }
    }
    start();
}

void PostgresServer::start() {
    const std::string data = folder_ / "data";
    const std::filesystem::path log = folder_ / "log";
    initialize(data, log);
    pid_ = spawn({kPrograms / "postgres", "-D", data, "-k", folder_.string(), "-c",
                  "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c",
                  "max_connections=50", "-c", "autovacuum=off"},
                 log);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_ready(data)) {
        int status = -1;
        if (std::chrono::steady_clock::now() > end || ::waitpid(pid_, &status, WNOHANG) != 0) {
            throw std::runtime_error("PostgreSQL did not start, see " + log.string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

PostgresServer::~PostgresServer() {
    if (pid_ > 0) {
        ::kill(pid_, SIGQUIT);  // nothing of it is needed any more
        int status = 0;
        ::waitpid(pid_, &status, 0);
    }
    if (!folder_.empty()) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
}

std::string PostgresServer::url(const std::string& database) const {
    return !given_.empty() ? given_
                           : "postgres://sluice@/" + database + "?host=" + folder_.string();
}

}  // namespace sluice::test
