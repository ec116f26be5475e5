// Doctor: who may read the status page, which names accounts.
//
// A proxy on this machine reaches nginx from 127.0.0.1. Where the status page allows that address,
// every client of the proxy may read it, unless nginx takes the client's address from the proxy.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "program/cli/output.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

using Directives = std::vector<NginxDirective>;

/// The settings that a block inherits.
struct Scope {
    const Directives* access = nullptr;  ///< The block with the `allow` and `deny` that apply.
    bool knows_clients = false;          ///< set_real_ip_from applies.
    bool asks_password = false;
    const NginxDirective* server = nullptr;
};

struct StatusPage {
    std::string location;
    bool allows_here = false;      ///< 127.0.0.1
    bool allows_everyone = false;  ///< Addresses that no rule names.
    std::vector<std::string> listens;
};

const NginxDirective* find(const Directives& block, std::string_view name) {
    const auto found =
        std::ranges::find_if(block, [&](const NginxDirective& one) { return one.name == name; });
    return found != block.end() ? &*found : nullptr;
}

/// Returns what the first rule for an address says; without one, nginx allows it.
bool is_allowed(const Directives* access, bool is_here) {
    if (access == nullptr) {
        return true;
    }
    for (const NginxDirective& rule : *access) {
        if (rule.name != "allow" && rule.name != "deny") {
            continue;
        }
        const std::string address = rule.argument();
        const bool here = address == "::1" || address.starts_with("127.");
        if (address == "all" || (is_here && here)) {
            return rule.name == "allow";
        }
    }
    return true;
}

Scope inside(const NginxDirective& block, Scope scope) {
    if (find(block.block, "allow") != nullptr || find(block.block, "deny") != nullptr) {
        scope.access = &block.block;
    }
    scope.knows_clients = scope.knows_clients || find(block.block, "set_real_ip_from") != nullptr;
    if (const NginxDirective* password = find(block.block, "auth_basic")) {
        scope.asks_password = password->argument() != "off";
    }
    if (block.name == "server") {
        scope.server = &block;
    }
    return scope;
}

std::vector<std::string> listens_of(const NginxDirective* server) {
    std::vector<std::string> listens;
    for (const NginxDirective& one : server != nullptr ? server->block : Directives()) {
        if (one.name == "listen") {
            listens.push_back(one.argument());
        }
    }
    if (listens.empty()) {
        listens.emplace_back("80");
    }
    return listens;
}

/// Returns true for `location = /ready` and the like: their answers name no account.
bool is_health_check(const NginxDirective& location) {
    return location.arguments.size() == 2 && location.argument() == "=" &&
           (location.arguments.back().ends_with("/ready") ||
            location.arguments.back().ends_with("/health"));
}

void find_pages(const NginxDirective& block, const Scope& outer, std::vector<StatusPage>& pages) {
    const Scope scope = inside(block, outer);
    if (find(block.block, "sluice_status") != nullptr && !scope.knows_clients &&
        !scope.asks_password && !is_health_check(block)) {
        pages.push_back({block.arguments.empty() ? "/" : block.arguments.back(),
                         is_allowed(scope.access, true), is_allowed(scope.access, false),
                         listens_of(scope.server)});
    }
    for (const NginxDirective& inner : block.block) {
        find_pages(inner, scope, pages);
    }
}

/// Adds the addresses to which this nginx forwards requests: `host:port` or `unix:path`.
void find_targets(const Directives& block, std::vector<std::string>& targets) {
    for (const NginxDirective& one : block) {
        const bool passes = one.name == "proxy_pass" || one.name == "grpc_pass";
        if (passes || one.name == "server") {
            std::string target = one.argument();
            const std::size_t scheme = target.find("://");
            target.erase(0, scheme == std::string::npos ? 0 : scheme + 3);
            target.erase(std::min(target.find('/', target.starts_with("unix:") ? target.size() : 0),
                                  target.size()));
            targets.push_back(std::move(target));
        }
        find_targets(one.block, targets);
    }
}

std::string port_of(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    return colon == std::string::npos ? address : address.substr(colon + 1);
}

/// Returns true if a target on this machine is the address of a `listen`.
bool leads_to(const std::string& target, const std::string& listen) {
    if (target.starts_with("unix:") || listen.starts_with("unix:")) {
        return target == listen;
    }
    const bool is_here = target.starts_with("127.") || target.starts_with("localhost") ||
                         target.starts_with("[::1]");
    const bool has_port = target.find_last_of(':') > target.find_last_of(']') + 1 ||
                          (target.find(':') != std::string::npos && !target.starts_with("["));
    return is_here && (has_port ? port_of(target) : "80") == port_of(listen);
}

bool is_forwarded(const StatusPage& page, const std::vector<std::string>& targets) {
    return std::ranges::any_of(targets, [&](const std::string& target) {
        return std::ranges::any_of(
            page.listens, [&](const std::string& listen) { return leads_to(target, listen); });
    });
}

}  // namespace

void check_status_access(const std::vector<NginxDirective>& configuration, Findings& findings) {
    std::vector<StatusPage> pages;
    std::vector<std::string> targets;
    for (const NginxDirective& block : configuration) {
        find_pages(block, {}, pages);
    }
    find_targets(configuration, targets);
    for (const StatusPage& page : pages) {
        const std::string place = "the status page " + printable(page.location) + " at " +
                                  printable(page.listens.front());
        if (page.allows_here && is_forwarded(page, targets)) {
            findings.push_back({"status page", Health::kProblem,
                                "this nginx forwards requests to " + place +
                                    ", which takes all their senders for this machine",
                                "set set_real_ip_from and real_ip_header, or forward only the "
                                "endpoints (docs/behind-a-proxy.md)"});
        } else if (page.allows_everyone) {
            findings.push_back({"status page", Health::kNote,
                                place + " answers every address; it names accounts",
                                "allow the addresses that need it, and deny all"});
        } else if (page.allows_here) {
            findings.push_back({"status page", Health::kNote,
                                place + " allows this machine; a proxy here that forwards it shows "
                                        "it to all its clients",
                                "if there is one: set set_real_ip_from, or forward only the "
                                "endpoints (docs/behind-a-proxy.md)"});
        }
    }
}

}  // namespace sluice::cli
