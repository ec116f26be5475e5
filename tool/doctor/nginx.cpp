// Doctor: the nginx that serves the store, as its own `nginx -T` describes it.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "os/files/file_io.hpp"
#include "program/cli/output.hpp"
#include "program/system/process.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNginx = "/usr/sbin/nginx";
constexpr std::size_t kMastersMax = 16;

/// Returns the line that nginx marks as an error, which names the cause, or how it ended.
std::string first_complaint(const NginxDump& dump) {
    const std::size_t at = dump.output.find("[emerg]");
    if (dump.status < 0) {
        return "nginx -T was ended by signal " + std::to_string(-dump.status) + " (" +
               ::strsignal(-dump.status) + ")";
    }
    if (at == std::string::npos) {
        return "nginx -T failed with status " + std::to_string(dump.status);
    }
    const std::size_t begin = dump.output.rfind('\n', at) + 1;  // 0 in the first line
    return printable(dump.output.substr(begin, dump.output.find('\n', at) - begin));
}

std::string remedy_for(const NginxDump& dump, const std::string& complaint) {
    if (complaint.find("is not binary compatible") != std::string::npos ||
        complaint.find(" instead of ") != std::string::npos) {
        return module_remedy(dump.program, complaint);
    }
    if (dump.status < 0) {
        return "leave out one load_module after the other to find the module; a module that was "
               "built for another nginx or TLS library does this (docs/building.md)";
    }
    return dump.by_root ? "correct the configuration; `nginx -t` says where" : "run doctor as root";
}

/// Returns the first argument of `sluice_store`, or an empty text.
std::string store_of(const std::vector<NginxDirective>& configuration) {
    for (const NginxDirective& directive : configuration) {
        if (directive.name == "sluice_store" && !directive.arguments.empty()) {
            return directive.arguments.front();
        }
        if (std::string store = store_of(directive.block); !store.empty()) {
            return store;
        }
    }
    return {};
}

/// @param command  nginx and its options.
NginxDump examine(std::vector<std::string> command) {
    NginxDump dump{};
    dump.program = command.front();
    command.emplace_back("-T");
    auto said = run_child(command);
    if (!said.ok()) {
        return dump;
    }
    dump.installed = true;
    dump.by_root = ::geteuid() == 0;
    dump.status = said->status;
    dump.output = std::move(said->output);
    if (dump.status == 0) {
        dump.configuration = parse_nginx(dump.output);
        dump.store = store_of(dump.configuration);
    }
    return dump;
}

/// Returns true if the process or program belongs to root or to this user, and no other user can
/// write to it. Any user can name a process "nginx: master process", and the program of that user
/// must not run with the rights of this one.
bool is_trusted(const fs::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && (info.st_uid == 0 || info.st_uid == ::geteuid()) &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Returns the command line of a master process with the options that choose its configuration, or
/// nothing for another process. nginx writes its arguments into its title.
std::vector<std::string> master_command(const fs::path& process) {
    constexpr std::string_view kTitle = ": master process ";
    const auto title = read_proc(process / "cmdline");
    const std::size_t at = title.ok() ? title->find(kTitle) : std::string::npos;
    std::error_code gone;
    const fs::path program = fs::read_symlink(process / "exe", gone);
    if (at == std::string::npos || at > std::string_view("freenginx").size() || gone ||
        !is_trusted(program)) {
        return {};
    }
    std::istringstream words(title->substr(at + kTitle.size()).c_str());
    std::vector<std::string> command{program.string()};
    std::string word;
    words >> word;  // the program as it was called
    while (words >> word) {
        const bool chooses = word == "-c" || word == "-p" || word == "-e";
        if (std::string value; chooses && words >> value) {
            command.push_back(word);
            command.push_back(value);
        }
    }
    return command;
}

/// Returns true if a worker of the master has mapped a file of the store's queue. `nginx -T` writes
/// to the logs that a configuration names, so it is not run for an nginx that has no part in this.
bool serves_store(const fs::path& master, const std::string& queue) {
    std::ifstream children(master / "task" / master.filename() / "children");
    for (std::string child; children >> child;) {
        std::ifstream maps(fs::path("/proc") / child / "maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.find(queue) != std::string::npos) {
                return true;
            }
        }
    }
    return false;
}

/// Returns the commands of the nginx masters that serve the store with a program or configuration
/// of their own.
std::vector<std::vector<std::string>> running_masters(const store::StorePaths& paths,
                                                      const std::string& standard) {
    std::vector<std::vector<std::string>> commands;
    std::error_code ignored;
    const std::string queue = (fs::canonical(paths.root, ignored) / "queue/").string();
    if (ignored) {
        return commands;
    }
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") == std::string::npos && is_trusted(entry.path())) {
            std::vector<std::string> command = master_command(entry.path());
            const bool own = command.size() > 1 || (command.size() == 1 && command[0] != standard);
            if (own && commands.size() < kMastersMax && serves_store(entry.path(), queue)) {
                commands.push_back(std::move(command));
            }
        }
    }
    return commands;
}

bool is_store(const NginxDump& dump, const store::StorePaths& paths) {
    std::error_code ignored;
    return !dump.store.empty() && fs::equivalent(dump.store, paths.root, ignored);
}

}  // namespace

NginxDump dump_nginx(const store::StorePaths& paths, const std::string& program,
                     const std::string& configuration) {
    const std::string installed = ::access(kNginx, X_OK) == 0 ? kNginx : "nginx";
    std::vector<std::string> named{program.empty() ? installed : program};
    if (!configuration.empty()) {
        named.insert(named.end(), {"-c", fs::absolute(configuration).string()});
    }
    NginxDump standard = examine(named);
    if (!program.empty() || !configuration.empty() || is_store(standard, paths)) {
        return standard;
    }
    for (const std::vector<std::string>& command : running_masters(paths, installed)) {
        NginxDump running = examine(command);
        if (is_store(running, paths)) {
            return running;
        }
    }
    return standard;
}

void check_nginx(const store::StorePaths& paths, const NginxDump& dump, Findings& findings) {
    if (!dump.installed) {
        findings.push_back({"nginx", Health::kNote,
                            "there is no program " + printable(dump.program),
                            "name nginx's program with --nginx if it is elsewhere"});
        return;
    }
    if (dump.status != 0) {
        const std::string complaint = first_complaint(dump);
        findings.push_back({"nginx", dump.by_root ? Health::kProblem : Health::kNote, complaint,
                            remedy_for(dump, complaint)});
        return;
    }
    if (dump.store.empty()) {
        findings.push_back({"nginx", Health::kNote,
                            "neither its configuration nor that of a running nginx has a "
                            "sluice_store",
                            "include the snippets of share/sluice in the http block; name another "
                            "configuration with --nginx-conf, another nginx with --nginx"});
        return;
    }
    if (!is_store(dump, paths)) {
        findings.push_back(
            {"nginx", Health::kProblem,
             "its sluice_store is " + printable(dump.store) + ", not " + paths.root.string(),
             "name the same store in nginx.conf and to sluice"});
        return;
    }
    findings.push_back({"nginx", Health::kOk, "its configuration is right and names this store"});
    check_status_access(dump.configuration, findings);
}

}  // namespace sluice::cli
