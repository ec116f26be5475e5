// Doctor: the nginx in front of the store, as its own `nginx -T` describes it.
#include <unistd.h>

#include <filesystem>

#include "worker/cli/output.hpp"
#include "worker/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

constexpr const char* kNginx = "/usr/sbin/nginx";

/// Returns the last line that nginx marks as an error; it names the cause.
std::string first_complaint(const std::string& output) {
    for (std::size_t begin = 0; begin < output.size();) {
        const std::size_t end = std::min(output.find('\n', begin), output.size());
        const std::string line = output.substr(begin, end - begin);
        if (line.find("[emerg]") != std::string::npos) {
            return printable(line);
        }
        begin = end + 1;
    }
    return "nginx -T failed";
}

std::string remedy_for(const std::string& complaint, bool by_root) {
    if (complaint.find("is not binary compatible") != std::string::npos ||
        complaint.find(" instead of ") != std::string::npos) {
        return "the module was built for another nginx: install the package that fits this one";
    }
    return by_root ? "correct the configuration; `nginx -t` says where" : "run doctor as root";
}

/// Returns the first argument of `sluice_store`, if the configuration has one.
std::string configured_store(const std::string& configuration) {
    constexpr std::string_view kName = "sluice_store";
    for (std::size_t at = configuration.find(kName); at != std::string::npos;
         at = configuration.find(kName, at + 1)) {
        const std::size_t line = configuration.rfind('\n', at) + 1;
        const bool comment = configuration.find('#', line) < at;
        const std::size_t begin = configuration.find_first_not_of(" \t", at + kName.size());
        if (comment || begin == at + kName.size() || begin == std::string::npos) {
            continue;
        }
        const std::size_t end = configuration.find_first_of(" \t\n;", begin);
        return configuration.substr(begin, end - begin);
    }
    return {};
}

}  // namespace

NginxDump dump_nginx(const std::string& configuration) {
    const bool there = ::access(kNginx, X_OK) == 0;
    std::vector<std::string> command{there ? kNginx : "nginx", "-T"};
    if (!configuration.empty()) {
        command.insert(command.end(), {"-c", std::filesystem::absolute(configuration).string()});
    }
    return {run_child(command), ::geteuid() == 0};
}

void check_nginx(const store::StorePaths& paths, const NginxDump& dump, Findings& findings) {
    const Result<ChildOutput>& said = dump.said;
    if (!said.ok()) {
        findings.push_back({"nginx", Health::kNote, "no nginx is installed here", ""});
        return;
    }
    if (said->status != 0) {
        const std::string complaint = first_complaint(said->output);
        findings.push_back({"nginx", dump.by_root ? Health::kProblem : Health::kNote, complaint,
                            remedy_for(complaint, dump.by_root)});
        return;
    }
    const std::string store = configured_store(said->output);
    if (store.empty()) {
        findings.push_back({"nginx", Health::kNote, "its configuration has no sluice_store",
                            "include the snippets of share/sluice in the http block"});
        return;
    }
    std::error_code ignored;
    if (!std::filesystem::equivalent(store, paths.root, ignored)) {
        findings.push_back(
            {"nginx", Health::kProblem,
             "its sluice_store is " + printable(store) + ", not " + paths.root.string(),
             "name the same store in nginx.conf and to sluice"});
        return;
    }
    findings.push_back(
        {"nginx", Health::kOk, "its configuration is right and names this store", ""});
}

}  // namespace sluice::cli
