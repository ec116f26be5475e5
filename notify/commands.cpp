// sluice notify add|list|show|pause|resume|remove|rotate
#include "program/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/lists/changes.hpp"
#include "core/values/texts.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "notify/destination_url.hpp"
#include "notify/signing.hpp"
#include "notify/subcommands.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/system/file.hpp"
#include "serve/read/cursor.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

using store::Destination;
using store::DestinationProgress;
using store::DestinationStore;
using store::StoredDestination;
using Mode = store::DestinationStore::Mode;

struct AddCommand {
    std::string id;
    AccountId account;
    std::string url, ledger, from = "now", header_from;
    std::vector<std::string> types;
    std::vector<notify::Cidr> allowed;
    Format format = Format::kTable;
};

struct DestinationCommand {
    std::string id;
    Format format = Format::kTable;
};

struct ListDestinationsCommand {
    std::optional<AccountId> account;
    Format format = Format::kTable;
};

struct ResumeCommand {
    std::string id, from, ledger;
};

struct FeedStart {
    lists::FeedPlace place;
    std::uint64_t entries = 0;  ///< Entries of the account's chains.
};

/// Finds the place that --from names: the beginning or the end of the feed, or a cursor's.
Result<FeedStart> find_start(const Frame& frame, const std::string& from,
                             const std::string& ledger_url, AccountNumber account) {
    FeedStart start;
    Status found = with_snapshot(frame, ledger_url, [&](LedgerReader& ledger) -> Status {
        if (from == "now") {
            start.place = lists::end_of_feed(ledger, account);
        } else if (from != "start") {
            auto opened = serve::open_feed_cursor(account, from);
            if (!opened) {
                return invalid(
                    "--from is not start, now or a cursor of this account's /v1/changes");
            }
            start.place = *std::move(opened);
        }
        const lists::Changes next = lists::changes_after(ledger, account, start.place, 1, 1);
        start.entries = next.entries;
        return next.diverged
                   ? Status(invalid("the ledger is not the one of this cursor: use --from "
                                    "start or --from now"))
                   : Status::success();
    });
    return found.ok() ? Result(std::move(start)) : found.error();
}

Status check_url(const AddCommand& command, StoredDestination& added) {
    auto url = notify::parse_destination_url(command.url, notify::AddressJudge(command.allowed));
    if (!url.ok()) {
        return url.error();
    }
    added.destination.url = url->text;
    added.destination.allowed_blocks =
        mapped(command.allowed, [](const notify::Cidr& block) { return block.text(); });
    return Status::success();
}

Status read_header(const AddCommand& command, std::string& header) {
    if (command.header_from.empty()) {
        return Status::success();
    }
    return read_secret(command.header_from).and_then([&header](const std::string& line) {
        return assign(header, notify::parse_header(line));
    });
}

Result<std::unique_ptr<DestinationStore>> create_and_open(const Frame& frame) {
    Status made = DestinationStore::create(frame.paths());
    return made.ok() ? DestinationStore::open(frame.paths(), Mode::kWrite) : made.error();
}

/// Prints the secret, which cannot be shown again.
void print_secret(const std::string& id, const std::string& secret, Format format) {
    write_object(format, {{"id", id}, {"secret", notify::secret_text(secret)}});
}

Status add_destination(const Frame& frame, const AddCommand& command) {
    StoredDestination added;
    Destination& destination = added.destination;
    destination.id = command.id;
    destination.uuid = make_uuid();
    destination.account_id = command.account;
    destination.types = command.types;
    destination.created_at = wall_ms();
    std::string header;
    Status ready = check_url(command, added);
    ready = ready.ok() ? read_header(command, header) : ready;
    ready =
        ready.ok() ? assign(destination.account, account_number(frame, command.account)) : ready;
    auto start = ready.ok() ? find_start(frame, command.from, command.ledger, destination.account)
                            : ready.error();
    if (!start.ok()) {
        return start.error();
    }
    added.progress.place = std::move(start->place);
    added.progress.entries = start->entries;
    added.progress.looked_at = destination.created_at;
    const auto opened = create_and_open(frame);
    const auto key = opened.ok() ? (*opened)->key() : opened.error();
    if (!key.ok()) {
        return key.error();
    }
    const std::string secret = notify::new_secret();
    destination.secret = key->seal(secret, destination.uuid);
    destination.header = header.empty() ? "" : key->seal(header, destination.uuid);
    Status stored =
        note_change(frame, "notify add " + destination.id + " of " + command.account.str() + ": " +
                               notify::host_of_url(destination.url));
    stored = stored.ok() ? (*opened)->add(added) : stored;
    if (stored.ok()) {
        print_secret(destination.id, secret, command.format);
    }
    return stored;
}

/// Counts the entries of the accounts' chains now, because no process may run that counts them.
void count_entries(const Frame& frame, std::vector<StoredDestination>& rows) {
    std::map<AccountNumber, std::uint64_t> entries;
    Status read = with_snapshot(frame, {}, [&entries](LedgerReader& ledger) {
        ledger.scan_chains(
            [&entries](const NodeChain& chain) { entries[chain.account] += chain.head.entries; });
    });
    if (!read.ok()) {
        std::fprintf(stderr, "sluice: the lag is the last one that was noted, because %s\n",
                     printable(read.error().message).c_str());
        return;
    }
    for (StoredDestination& row : rows) {
        row.progress.entries = entries[row.destination.account];
    }
}

Status list_destinations(const Frame& frame, const ListDestinationsCommand& command) {
    auto rows = with_destinations(frame, Mode::kRead,
                                  [](DestinationStore& opened) { return opened.list(); });
    if (!rows.ok() && rows.error().code != ErrorCode::kNotFound) {
        return rows.error();
    }
    if (rows.ok()) {
        count_entries(frame, *rows);
    }
    auto shown = rows.ok() ? *std::move(rows) : std::vector<StoredDestination>();
    std::erase_if(shown, [&command](const StoredDestination& row) {
        return command.account && *command.account != row.destination.account_id;
    });
    list_all(
        command.format,
        left("id account_id host state") + right("lag pending") + left("last_success last_error"),
        shown, [](const StoredDestination& row) -> Row {
            return {row.destination.id,
                    row.destination.account_id.str(),
                    notify::host_of_url(row.destination.url),
                    store::state_of(row),
                    store::lag_of(row.progress),
                    row.progress.pending,
                    time_or_null(row.progress.last_success),
                    text_or_null(row.progress.last_error)};
        });
    return Status::success();
}

Status show_destination(const Frame& frame, const DestinationCommand& command) {
    const auto found = with_destinations(
        frame, Mode::kRead, [&](DestinationStore& opened) { return opened.find(command.id); });
    if (!found.ok()) {
        return found.error();
    }
    std::vector<StoredDestination> rows{*found};
    count_entries(frame, rows);
    const Destination& row = rows.front().destination;
    const DestinationProgress& progress = rows.front().progress;
    write_object(
        command.format,
        {{"id", row.id},
         {"account_id", row.account_id.str()},
         {"url", row.url},
         {"types", row.types},
         {"allow_private", row.allowed_blocks},
         {"has_header", !row.header.empty()},
         {"created_at", time_or_null(row.created_at)},
         {"old_secret_until", wall_ms() < row.old_until ? time_or_null(row.old_until) : Json()},
         {"state", store::state_of(rows.front())},
         {"disabled_at", time_or_null(progress.disabled_at)},
         {"disabled_why", text_or_null(progress.disabled_why)},
         {"failing_since", time_or_null(progress.failing_since)},
         {"last_success", time_or_null(progress.last_success)},
         {"last_error", text_or_null(progress.last_error)},
         {"lag", store::lag_of(progress)},
         {"pending", progress.pending},
         {"delivered", progress.delivered},
         {"failed", progress.failed},
         {"expired", progress.expired},
         {"cursor", serve::feed_cursor(row.account, progress.place)}});
    return Status::success();
}

/// Makes a change, and notes it in the log of the registry before it counts, unless `change`
/// refuses it.
Status change_and_note(const Frame& frame, DestinationStore& opened, const std::string& id,
                       const std::string& verb,
                       const std::function<Status(StoredDestination&)>& change) {
    return opened.change(id, [&](StoredDestination& row) {
        Status changed = change(row);
        return changed.ok() ? note_change(frame, "notify " + verb + " " + id) : changed;
    });
}

Status say(Status done, const std::string& id, const std::string& verb) {
    if (done.ok()) {
        std::printf("%sd destination %s\n", verb.c_str(), id.c_str());
    }
    return done;
}

Status change_destination(const Frame& frame, const std::string& id, const std::string& verb,
                          const std::function<Status(StoredDestination&)>& change) {
    return say(with_destinations(frame, Mode::kWrite,
                                 [&](DestinationStore& opened) {
                                     return change_and_note(frame, opened, id, verb, change);
                                 }),
               id, verb);
}

Status pause_destination(const Frame& frame, const DestinationCommand& command) {
    return change_destination(frame, command.id, "pause", [](StoredDestination& row) -> Status {
        if (row.destination.is_paused) {
            return conflict("the destination is paused already");
        }
        row.destination.is_paused = true;
        return Status::success();
    });
}

Status resume_destination(const Frame& frame, const ResumeCommand& command) {
    std::optional<lists::FeedPlace> restart;
    if (!command.from.empty()) {
        const auto found = with_destinations(
            frame, Mode::kRead, [&](DestinationStore& opened) { return opened.find(command.id); });
        auto start =
            found.ok() ? find_start(frame, command.from, command.ledger, found->destination.account)
                       : found.error();
        if (!start.ok()) {
            return start.error();
        }
        restart = std::move(start->place);
    }
    return change_destination(frame, command.id, "resume", [&](StoredDestination& row) -> Status {
        const bool is_stopped = row.destination.is_paused || row.progress.disabled_at != 0;
        if (!is_stopped && !restart) {
            return conflict("the destination is neither paused nor disabled");
        }
        row.destination.is_paused = false;
        row.progress.disabled_at = 0;
        row.progress.disabled_why.clear();
        row.progress.failing_since = 0;
        store::begin_afresh(row, restart);
        return Status::success();
    });
}

Status remove_destination(const Frame& frame, const DestinationCommand& command) {
    const std::string& id = command.id;
    Status removed =
        with_destinations(frame, Mode::kWrite, [&](DestinationStore& opened) -> Status {
            const auto found = opened.find(id);
            Status noted = found.ok() ? note_change(frame, "notify remove " + id) : found.error();
            return noted.ok() ? opened.remove(id) : noted;
        });
    return say(std::move(removed), id, "remove");
}

Status rotate_secret(const Frame& frame, const DestinationCommand& command) {
    const std::string secret = notify::new_secret();
    Status rotated = with_destinations(frame, Mode::kWrite, [&](DestinationStore& opened) {
        return opened.key().and_then([&](const store::MasterKey& key) {
            return change_and_note(
                frame, opened, command.id, "rotate", [&](StoredDestination& row) {
                    Destination& destination = row.destination;
                    destination.old_secret =
                        std::exchange(destination.secret, key.seal(secret, destination.uuid));
                    destination.old_until = wall_ms() + notify::kOldSecretMs;
                    return Status::success();
                });
        });
    });
    if (rotated.ok()) {
        print_secret(command.id, secret, command.format);
    }
    return rotated;
}

Result<std::vector<std::string>> parse_types(std::string_view text) {
    const auto& known = lists::change_types();
    std::vector<std::string> types;
    for (const std::string_view type : split(text, ',')) {
        if (std::ranges::count(known, type) == 0) {
            return invalid("expected a list of: " + joined(known, ", "));
        }
        types.emplace_back(type);
    }
    return types;
}

void declare_add(Subcommand group) {
    auto [add, command] = add_command(
        group, "add", "Add a destination, and print the secret that signs its notifications",
        add_destination);
    add_destination_id(add, command.id);
    add_id(add, "--account", "A", command.account, "Account whose changes are sent").required();
    add_text(add, "--url", "URL", command.url, "https:// address of the receiver").required();
    add_value(add, "--types", "T,...", command.types, parse_types,
              "Types of the changes that are sent, separated by commas (default: all)");
    add_text(add, "--from", "start|now|CURSOR", command.from,
             "First change that is sent: the account's first, the next one, or the one after a "
             "cursor of /v1/changes (default: now)");
    add_values(
        add, "--allow-private", "CIDR", command.allowed, notify::Cidr::parse,
        "Block of private addresses that may be connected to, also by http; may be repeated");
    add_file(add, "--header-from", "FILE", command.header_from, FileUse::kInput,
             "File with a header \"Name: value\" that each request gets");
    add_ledger(add, command.ledger);
    add_format(add, command.format);
    add.takes_reason();
}

void declare_one(Subcommand group, const char* verb, const char* help,
                 Status (*run)(const Frame&, const DestinationCommand&), bool has_format) {
    auto [app, command] = add_command(group, verb, help, run);
    add_destination_id(app, command.id);
    if (run != show_destination) {
        app.takes_reason();
    }
    if (has_format) {
        add_format(app, command.format);
    }
}

}  // namespace

Json time_or_null(std::uint64_t milliseconds) {
    constexpr std::uint64_t kPerSecond = 1000;
    constexpr std::uint32_t kNanos = 1'000'000;
    if (milliseconds == 0) {
        return {};
    }
    return Timestamp{static_cast<std::int64_t>(milliseconds / kPerSecond),
                     static_cast<std::uint32_t>(milliseconds % kPerSecond) * kNanos}
        .to_string();
}

void add_destination_id(Subcommand app, std::string& id) {
    add_value(app, "ID", "ID", id, parse_admin_id, "Destination").required();
}

void declare_notify(Subcommand app) {
    const Subcommand group = app.add_group(
        "notify", "Send changes of the ledger to receivers, as signed requests (webhooks)");
    declare_add(group);
    auto [list, listed] = add_command(group, "list", "List destinations", list_destinations);
    add_id(list, "--account", "A", listed.account, "Only destinations of this account");
    add_format(list, listed.format);
    declare_one(group, "show", "Show a destination, and how far it was served", show_destination,
                true);
    declare_one(group, "pause", "Stop sending to a destination; nothing is skipped",
                pause_destination, false);
    auto [resume, resumed] = add_command(
        group, "resume", "Continue a destination that is paused or disabled", resume_destination);
    add_destination_id(resume, resumed.id);
    add_text(resume, "--from", "start|now|CURSOR", resumed.from,
             "Continue with the account's first change, the next one, or the one after a cursor of "
             "/v1/changes, and forget the changes that wait");
    add_ledger(resume, resumed.ledger);
    resume.takes_reason();
    declare_one(group, "remove", "Remove a destination, with its changes that were not delivered",
                remove_destination, false);
    declare_one(group, "rotate", "Make a new secret; the old one signs as well for 24 hours",
                rotate_secret, true);
    declare_notify_deliveries(group);
    declare_notify_run(group);
}

}  // namespace sluice::cli
