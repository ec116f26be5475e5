// sluice link create|import|set|stop|start|remove|list|show
#include <chrono>
#include <thread>

#include "core/ledger/link_rows.hpp"
#include "core/links/destination.hpp"
#include "core/lists/links.hpp"
#include "core/rules/account.hpp"
#include "lmdb_store/links/published_file.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/libcurl.hpp"
#include "tool/setup/import.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

/// The time that a command waits until nginx can have its links.
constexpr std::chrono::seconds kPublishedWithin{3};
constexpr std::chrono::milliseconds kCheckAgain{20};

struct OneLink {
    LinkId link;
    std::optional<ProgramId> program;
    std::optional<CreatorId> creator;
    std::optional<std::string> to;
    std::optional<bool> deep;
    bool is_deep = false;  ///< --deep
    bool allows_http = false;
    SubmitOptions submit;
};

struct LinkFile {
    std::string file;
    bool allows_http = false;
    SubmitOptions submit;
};

struct ListLinksCommand : AccountListOptions {
    std::optional<CreatorId> creator;
};

struct ShowLinkCommand {
    LinkId link;
    ListOptions list;
};

// ---- Destinations -------------------------------------------------------------------------------

/// Checks that libcurl, which reads URLs as programs do, finds the same host in it.
Status check_as_libcurl(const std::string& text, const Destination& to) {
    return CurlUrl::read(text).and_then([&to](const CurlUrl& url) -> Status {
        return url.is_valid() && url.part(CURLUPART_SCHEME) == to.scheme &&
                       url.part(CURLUPART_HOST) == to.host
                   ? Status::success()
                   : invalid("the URL: libcurl cannot read it, or finds another host in it");
    });
}

/// @param name  The option or column, for the message.
Status check_url(const std::string& name, const std::string& text, bool allows_http) {
    const Status fits = parse_destination(text).and_then([&](const Destination& to) {
        return to.scheme == "https" || allows_http
                   ? check_as_libcurl(text, to)
                   : invalid("byte 1 of the URL: expected https://; --allow-http admits http://");
    });
    return fits.ok() ? fits : Error{fits.error().code, name + ": " + fits.error().message};
}

// ---- Commands that write ------------------------------------------------------------------------

/// Waits until the worker has published what the ledger has. Returns what to add to the result.
std::string wait_until_published(const Frame& frame, const std::string& ledger_url) {
    std::uint64_t revision = 0;
    const Status read =
        with_snapshot(frame, ledger_url, ReadFrom::kPrimary, [&revision](LedgerReader& ledger) {
            LinksHead head;
            revision = ledger.load(head) ? head.revision : 0;
        });
    const auto end = steady_now() + kPublishedWithin;
    while (read.ok()) {
        const auto head = store::read_links_head(frame.paths());
        if (head.ok() && head->revision >= revision) {
            return {};
        }
        if (steady_now() >= end) {
            break;
        }
        std::this_thread::sleep_for(kCheckAgain);
    }
    return "; stored, but not published: nginx serves the links that it had until the worker "
           "writes them";
}

Status submit_links(const Frame& frame, const LinkSet& command, const SubmitOptions& submit) {
    const auto result = submit_quietly(frame, command, submit);
    if (!result.ok()) {
        return result.error();
    }
    std::printf("%s%s\n", printable(result->text).c_str(),
                wait_until_published(frame, submit.ledger_url).c_str());
    return Status::success();
}

Status run_create(const Frame& frame, const OneLink& one) {
    if (Status fits = check_url("--to", *one.to, one.allows_http); !fits.ok()) {
        return fits;
    }
    return submit_links(
        frame, {LinkVerb::kCreate, {{0, one.link, one.program, one.creator, one.to, one.is_deep}}},
        one.submit);
}

Status run_set_link(const Frame& frame, const OneLink& one) {
    if (Status fits = one.to ? check_url("--to", *one.to, one.allows_http) : Status::success();
        !fits.ok()) {
        return fits;
    }
    return submit_links(frame, {LinkVerb::kSet, {{0, one.link, {}, {}, one.to, one.deep}}},
                        one.submit);
}

template <LinkVerb kVerb>
Status run_link_verb(const Frame& frame, const OneLink& one) {
    return submit_links(frame, {kVerb, {{0, one.link, {}, {}, {}, {}}}}, one.submit);
}

Status take_deep(const std::string& text, std::optional<bool>& deep) {
    deep = text == "true" || text == "on";
    return deep == (text != "false" && text != "off" && !text.empty())
               ? Status::success()
               : invalid("deep: expected true or false");
}

Status add_link_row(const CsvRow& row, bool allows_http, LinkSet& links) {
    LinkSet::Row added;
    added.line = static_cast<std::uint32_t>(row.line);
    if (!is_link_id(row.fields[0])) {
        return invalid("link_id: expected 1 to 64 of A-Z a-z 0-9 . _ ~ -");
    }
    added.link = LinkId(row.fields[0]);
    if (Status fits = check_url("to", row.fields[3], allows_http); !fits.ok()) {
        return fits;
    }
    added.destination = row.fields[3];
    for (const Status& taken : {take_id("program_id", row.fields[1], added.program.emplace()),
                                take_id("creator_id", row.fields[2], added.creator.emplace()),
                                take_deep(row.fields[4], added.deep)}) {
        if (!taken.ok()) {
            return taken;
        }
    }
    links.rows.push_back(std::move(added));
    return Status::success();
}

Status run_import_links(const Frame& frame, const LinkFile& given) {
    LinkSet links;
    Status done =
        read_rows(given.file, {{"link_id", "program_id", "creator_id", "to"}, {"deep"}},
                  [&](const CsvRow& row) { return add_link_row(row, given.allows_http, links); });
    done = done.ok() ? submit_links(frame, links, given.submit) : done;
    return with_file(given.file, std::move(done));
}

// ---- Commands that read -------------------------------------------------------------------------

Status run_list_links(const Frame& frame, const ListLinksCommand& command) {
    return list_account_rows(
        frame, command, lists::link_list().columns(),
        [&](LedgerReader& ledger, AccountNumber account, Listing& listing) {
            const auto creator = command.creator
                                     ? std::optional(first_id(ledger, account, *command.creator))
                                     : std::nullopt;
            lists::write_links(ledger, account, creator, now(), listing);
        });
}

Status run_show_link(const Frame& frame, const ShowLinkCommand& command) {
    tell_standstill(frame);
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) {
        return write_object(command.list.format, lists::link_object(ledger, command.link, now()));
    });
}

// ---- Declarations -------------------------------------------------------------------------------

void add_allow_http(Subcommand app, bool& target) {
    add_flag(app, "--allow-http", target, "Admit http:// (default: https:// only)");
}

void declare_create(Subcommand group) {
    auto [create, one] = add_command(group, "create", "Create a link of a creator", run_create);
    add_link_id(create, "ID", "ID", one.link, "Link").required();
    add_account(create, one.submit);
    add_id(create, "--program", "P", one.program.emplace(), "Program").required();
    add_id(create, "--creator", "C", one.creator.emplace(), "Creator").required();
    add_text(create, "--to", "URL", one.to.emplace(), "Where visitors are sent").required();
    add_flag(create, "--deep", one.is_deep,
             "Append the path and query that follow the id to the URL");
    add_allow_http(create, one.allows_http);
    add_command_options(create, one.submit, false);
}

void declare_import_links(Subcommand group) {
    auto [import, file] = add_command(
        group, "import", "Import links: link_id,program_id,creator_id,to[,deep]", run_import_links);
    add_file(import, "FILE", "FILE", file.file, FileUse::kInput, "CSV file").required();
    add_account(import, file.submit);
    add_allow_http(import, file.allows_http);
    add_command_options(import, file.submit, false);
}

void declare_set_link(Subcommand group) {
    auto [set, one] = add_command(group, "set", "Change where a link leads", run_set_link);
    add_link_id(set, "ID", "ID", one.link, "Link").required();
    add_account(set, one.submit);
    add_text(set, "--to", "URL", one.to, "Where visitors are sent");
    add_word<bool>(set, "--deep", one.deep, {{"on", true}, {"off", false}},
                   "Append the path and query that follow the id to the URL");
    add_allow_http(set, one.allows_http);
    set.require([&change = one] { return change.to || change.deep ? "" : "--to or --deep"; });
    add_command_options(set, one.submit, false);
}

void declare_verb(Subcommand group, const char* name, const char* help,
                  Status (*run)(const Frame&, const OneLink&)) {
    auto [verb, one] = add_command(group, name, help, run);
    add_link_id(verb, "ID", "ID", one.link, "Link").required();
    add_account(verb, one.submit);
    add_command_options(verb, one.submit, false);
}

}  // namespace

void declare_link(Subcommand app) {
    const Subcommand group =
        app.add_group("link", "Manage links: what creators publish, and where it leads");
    declare_create(group);
    declare_import_links(group);
    declare_set_link(group);
    declare_verb(group, "stop", "Stop counting a link; visitors still arrive",
                 run_link_verb<LinkVerb::kStop>);
    declare_verb(group, "start", "Count a link again", run_link_verb<LinkVerb::kStart>);
    declare_verb(group, "remove", "Remove a link for ever: its id is never used again",
                 run_link_verb<LinkVerb::kRemove>);

    auto [list, listed] = add_command(
        group, "list", "List the links of an account, with their last 30 days", run_list_links);
    add_id(list, "--account", "A", listed.account, "Account").required();
    add_id(list, "--creator", "C", listed.creator, "Only links of this creator");
    add_list_options(list, listed.list);

    auto [show, shown] =
        add_command(group, "show", "Show a link, with its last 30 days", run_show_link);
    add_link_id(show, "ID", "ID", shown.link, "Link").required();
    add_list_options(show, shown.list);
}

}  // namespace sluice::cli
