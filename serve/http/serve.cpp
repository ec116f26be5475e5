// sluice serve

#include <grp.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "serve/http/creator_front.hpp"
#include "serve/http/front.hpp"
#include "serve/http/server.hpp"
#include "serve/read/resource.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kThreadsMax = 64;
constexpr RateLimit kDefaultLimit;
static_assert(kDefaultLimit == RateLimit{600, 60} && serve::kCreatorLimit == RateLimit{120, 60},
              "the help of --rate-limit states them");

struct ServeCommand {
    std::vector<serve::Listener> listeners;
    std::string ledger;
    std::uint64_t threads = 4;
    std::optional<RateLimit> limit;  ///< For each caller.
    std::string creators_config;
    std::optional<serve::Listener> creators;  ///< The only listener of its process.
    bool prints_openapi = false;
};

constexpr std::string_view kUnix = "unix:";

Result<serve::Listener> parse_unix(std::string_view text, serve::Door door) {
    if (!text.starts_with(kUnix)) {
        return invalid("expected unix:/path");
    }
    std::string path(text.substr(kUnix.size()));
    if (!path.starts_with('/') || path.size() >= sizeof(sockaddr_un::sun_path)) {
        return invalid("expected unix: and an absolute path of at most 107 bytes");
    }
    return serve::Listener{std::move(path), false, 0, door};
}

/// Parses `unix:/run/sluice/read.sock`, `127.0.0.1:PORT` or `[::1]:PORT`.
Result<serve::Listener> parse_listen(std::string_view text) {
    if (text.starts_with(kUnix)) {
        return parse_unix(text, serve::Door::kTokens);
    }
    for (const std::string_view host : {"127.0.0.1:", "[::1]:"}) {
        if (text.starts_with(host)) {
            return parse_count(text.substr(host.size()), 1, 65'535)
                .and_then([host](std::uint64_t port) -> Result<serve::Listener> {
                    return serve::Listener{
                        {}, host.front() == '[', static_cast<std::uint16_t>(port)};
                });
        }
    }
    return invalid(
        "expected unix:/path, 127.0.0.1:PORT or [::1]:PORT: other machines come through "
        "nginx");
}

/// Parses `unix:/run/sluice/people.sock`. Never TCP, because every local user could state a name.
Result<serve::Listener> parse_people(std::string_view text) {
    return parse_unix(text, serve::Door::kPeople);
}

/// Parses `unix:/run/sluice/creators.sock`.
Result<serve::Listener> parse_creators(std::string_view text) {
    return parse_unix(text, serve::Door::kTokens);
}

/// Returns nginx's group on Debian, and the group to which `init` gave the queue.
serve::SocketGroups socket_groups(const store::StorePaths& paths) {
    serve::SocketGroups groups;
    if (const struct group* const debians = ::getgrnam("www-data")) {
        groups.push_back(debians->gr_gid);
    }
    struct stat info {};
    if (::stat(paths.queue.c_str(), &info) == 0) {
        groups.push_back(info.st_gid);
    }
    return groups;
}

/// Keeps the memory of answers, of up to 8 MB each, for the next ones. glibc would return it to the
/// kernel after every answer: an eighth of a reader's time, most of it to stop all processors.
void keep_memory_of_answers() {
    constexpr int kKept = 16 << 20;  // of each arena
    (void)mallopt(M_TRIM_THRESHOLD, kKept);
    (void)mallopt(M_MMAP_THRESHOLD, kKept);
}

Result<ServeCommand> with_listeners(ServeCommand command) {
    if (command.creators && (!command.listeners.empty() || command.creators_config.empty())) {
        return invalid(
            "--creators takes --creators-config, and neither --listen nor --people: a "
            "crowd of creators gets a process of its own");
    }
    if (command.creators) {
        command.listeners = {*command.creators};
    } else if (command.listeners.empty()) {
        command.listeners = {*parse_listen("unix:/run/sluice/read.sock"),
                             *parse_people("unix:/run/sluice/people.sock")};
    }
    return command;
}

Result<std::optional<serve::PageConfig>> pages_of(const ServeCommand& command) {
    if (command.creators_config.empty()) {
        return std::optional<serve::PageConfig>();
    }
    return serve::load_page_config(command.creators_config);
}

/// @param silence  Must outlive the gate.
Result<std::unique_ptr<serve::Gate>> open_gate(const ServeCommand& command,
                                               const store::StorePaths& paths,
                                               serve::SilenceWatch& silence,
                                               std::optional<serve::PageConfig> pages) {
    const auto opened = [](auto front) -> Result<std::unique_ptr<serve::Gate>> {
        if (Status ready = front->open(); !ready.ok()) {
            return ready.error();
        }
        return std::unique_ptr<serve::Gate>(std::move(front));
    };
    if (command.creators) {
        return opened(std::make_unique<serve::CreatorFront>(
            paths, *std::move(pages), command.limit.value_or(serve::kCreatorLimit)));
    }
    return opened(std::make_unique<serve::Front>(paths, command.limit.value_or(kDefaultLimit),
                                                 silence, std::move(pages)));
}

Status run_serve(const Frame& frame, const ServeCommand& given) {
    if (given.prints_openapi) {
        std::fputs(serve::openapi_json().c_str(), stdout);
        return Status::success();
    }
    const auto completed = with_listeners(given);
    if (!completed.ok()) {
        return completed.error();
    }
    const ServeCommand& command = *completed;
    auto pages = pages_of(command);
    if (!pages.ok()) {
        return pages.error();
    }
    keep_memory_of_answers();
    const store::StorePaths paths = frame.paths();
    const auto cancelled = std::make_shared<std::atomic<bool>>(false);
    auto opener = ledger_for_reading(
        frame, command.ledger, ReadFrom::kAnyServer,
        for_short_reads([cancelled](std::chrono::milliseconds) { return !*cancelled; }));
    auto control = opener.ok() ? store::ControlView::open(paths) : opener.error();
    if (!control.ok()) {
        return control.error();
    }
    serve::SilenceWatch silence(*opener, paths);
    ChainWatch watch(OpenLedger(*opener, paths));
    const auto gate = open_gate(command, paths, silence, std::move(pages).value());
    if (!gate.ok()) {
        return gate.error();
    }
    serve::Readers readers(std::move(opener).value(), cancelled, paths, std::move(control).value(),
                           to_string(command.limit.value_or(kDefaultLimit)));
    if (Status ready = readers.start(command.threads); !ready.ok()) {
        return ready;
    }
    if (!command.creators) {
        silence.start();
    }
    return run_server(**gate, readers, watch, serve::Mounts(paths), command.listeners,
                      socket_groups(paths));
}

}  // namespace

void declare_serve(Subcommand app) {
    auto [serve, command] =
        add_command(app, "serve", "Serve the API and the page, for reading only", run_serve);
    add_values(
        serve, "--listen", "A", command.listeners, parse_listen,
        "Address for programs with tokens: unix:/path, 127.0.0.1:PORT or "
        "[::1]:PORT; may be repeated (default without --people: unix:/run/sluice/read.sock)");
    add_values(serve, "--people", "A", command.listeners, parse_people,
               "Address for people, whom nginx names in X-Sluice-User: unix:/path "
               "(default without --listen: unix:/run/sluice/people.sock)");
    add_ledger(serve, command.ledger);
    add_count(serve, "--threads", "N", command.threads, 1, kThreadsMax,
              "Threads that read the ledger, 1 to 64 (default: 4)");
    add_value(
        serve, "--rate-limit", "N/SECONDS", command.limit, parse_rate_limit,
        "Rate limit of each token, user or creator, in requests per seconds (default: 600/60, "
        "with --creators 120/60)");
    add_value(serve, "--creators", "A", command.creators, parse_creators,
              "Serve nothing but the creators' pages, to which --creators-config names the "
              "accounts: unix:/path");
    add_file(serve, "--creators-config", "FILE", command.creators_config, FileUse::kInput,
             "File with the addresses of the creators' pages, to which /v1/creator-link makes "
             "links (default: no such path)");
    add_flag(serve, "--print-openapi", command.prints_openapi,
             "Print the OpenAPI document of the API, and exit");
}

}  // namespace sluice::cli
