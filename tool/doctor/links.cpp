// Doctor: links that pay no creator, lead in a circle, or outlive their cookie; and the file of
// links that nginx reads.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "core/ledger/link_rows.hpp"
#include "core/links/destination.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "lmdb_store/links/published_file.hpp"
#include "tool/doctor/doctor.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

constexpr const char* kCheckName = "links";
constexpr std::size_t kLinksNamed = 10;

/// The part of a configuration that serves links.
struct LinkServers {
    bool serves = false;                                ///< Some location has `sluice_link`.
    std::set<std::string> hosts;                        ///< Names of the servers that have one.
    std::int64_t cookie_seconds = 30 * kSecondsPerDay;  ///< The shortest time of a cookie.
    std::set<std::string> stripped;  ///< Header prefixes whose parameter browsers remove.
};

/// Returns the seconds of a time as nginx writes it, `30d` or `1h 30m`, or nothing.
std::optional<std::int64_t> nginx_seconds(std::string_view text) {
    static const std::map<char, std::int64_t> kUnits{
        {'s', 1},       {'m', 60},        {'h', kSecondsPerHour}, {'d', kSecondsPerDay},
        {'w', 604'800}, {'M', 2'592'000}, {'y', 31'536'000}};
    std::int64_t sum = 0;
    std::int64_t number = 0;
    for (const char c : text) {
        if (c >= '0' && c <= '9' && number < std::numeric_limits<std::int32_t>::max()) {
            number = number * 10 + (c - '0');
            continue;
        }
        const std::int64_t* const unit = find_value(kUnits, c);
        if (unit == nullptr) {
            return std::nullopt;
        }
        sum += number * *unit;
        number = 0;
    }
    return sum + number;
}

bool serves_links(const std::vector<NginxDirective>& block) {
    return std::ranges::any_of(block, [](const NginxDirective& directive) {
        return directive.name == "sluice_link" || serves_links(directive.block);
    });
}

void read_servers(const std::vector<NginxDirective>& block, LinkServers& found) {
    for (const NginxDirective& directive : block) {
        const std::string first = directive.argument();
        if (directive.name == "server" && serves_links(directive.block)) {
            found.serves = true;
            for (const NginxDirective& inner : directive.block) {
                if (inner.name == "server_name") {
                    found.hosts.insert(inner.arguments.begin(), inner.arguments.end());
                }
            }
        }
        if (directive.name == "sluice_link_cookie" && first != "off") {
            found.cookie_seconds =
                std::min(found.cookie_seconds, nginx_seconds(first).value_or(found.cookie_seconds));
        }
        if (directive.name == "sluice_header_prefix" && (first == "X-OLY-" || first == "x-oly-")) {
            found.stripped.insert(first);
        }
        read_servers(directive.block, found);
    }
}

/// The links of the ledger that a person should look at, by what is wrong with them.
struct OddLinks {
    std::uint64_t revision = 0;
    std::uint64_t links = 0;
    std::vector<std::string> left, circular, outlived;
};

OddLinks find_odd_links(LedgerReader& ledger, const LinkServers& servers) {
    OddLinks odd;
    LinksHead head;
    odd.revision = ledger.load(head) ? head.revision : 0;
    odd.links = head.links;
    const auto active = ledger.rows(
        LinkRow{}, {}, [](const LinkRow& link) { return link.state == LinkState::kActive; });
    std::map<ProgramId, std::int64_t> windows;
    for (const LinkRow& link : active) {
        if (!is_member(ledger, link.account, link.program, link.creator)) {
            odd.left.push_back(link.link.str());
        }
        const auto to = parse_destination(link.destination);
        if (to.ok() && servers.hosts.contains(std::string(to->host))) {
            odd.circular.push_back(link.link.str());
        }
        const auto [window, is_new] = windows.try_emplace(link.program, 0);
        if (is_new) {
            const auto program = ledger.program(link.program);
            window->second = program ? program->program.window_days : 0;
        }
        if (window->second * kSecondsPerDay > servers.cookie_seconds) {
            odd.outlived.push_back(link.link.str());
        }
    }
    return odd;
}

/// Returns `3 links: a, b, c`.
std::string listed(const std::vector<std::string>& links) {
    const auto named = std::span(links).first(std::min(links.size(), kLinksNamed));
    return std::to_string(links.size()) + (links.size() == 1 ? " link: " : " links: ") +
           joined(named, ", ") + (named.size() < links.size() ? ", ..." : "");
}

void report_odd(const OddLinks& odd, bool serves, Findings& findings) {
    const auto note = [&](const std::vector<std::string>& links, const char* what,
                          const char* remedy) {
        if (!links.empty()) {
            findings.push_back({kCheckName, Health::kNote, listed(links) + what, remedy});
        }
    };
    note(odd.left, "; the creator has left the program, so no creator earns",
         "sluice link stop ID --account A, and the visitors still arrive");
    note(odd.circular, "; the URL is on a host that serves links",
         "sluice link set ID --account A --to URL with the shop's own address");
    if (serves) {
        note(odd.outlived, "; the cookie ends before the program's window",
             "raise sluice_link_cookie, or lower the program's window_days");
    }
}

void report_file(const store::StorePaths& paths, const OddLinks& odd, Findings& findings) {
    const auto head = store::read_links_head(paths);
    const bool is_missing = !head.ok() && head.error().code == ErrorCode::kNotFound;
    if (is_missing && odd.links == 0) {
        return;
    }
    if (is_missing) {
        findings.push_back({kCheckName, Health::kProblem,
                            "the links are not published: nginx serves none",
                            start_worker_command(paths)});
        return;
    }
    if (Status sound = head.ok() ? store::check_links_file(paths) : head.error(); !sound.ok()) {
        findings.push_back(
            {kCheckName, Health::kProblem, sound.error().message, start_worker_command(paths)});
        return;
    }
    if (head->revision != odd.revision) {
        findings.push_back({kCheckName, Health::kProblem,
                            "nginx serves older links than the ledger has (revision " +
                                std::to_string(head->revision) + " of " +
                                std::to_string(odd.revision) + ")",
                            start_worker_command(paths)});
        return;
    }
    findings.push_back({kCheckName, Health::kOk, std::to_string(odd.links) + " links, published"});
}

}  // namespace

void check_links(const Frame& frame, const std::vector<NginxDirective>& configuration,
                 Findings& findings) {
    LinkServers servers;
    read_servers(configuration, servers);
    for (const std::string& prefix : servers.stripped) {
        findings.push_back({kCheckName, Health::kNote,
                            "sluice_header_prefix " + prefix +
                                ": Brave removes the parameter oly_anon_id from addresses",
                            "choose another prefix, or pass the id by the cookie"});
    }
    OddLinks odd;
    const Status read = with_snapshot(
        frame, {}, [&](LedgerReader& ledger) { odd = find_odd_links(ledger, servers); });
    if (!read.ok()) {
        return;  // another check reports the cause
    }
    report_file(frame.paths(), odd, findings);
    report_odd(odd, servers.serves, findings);
}

}  // namespace sluice::cli
