// sluice notify test|log|replay
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "core/lists/changes.hpp"
#include "notify/courier.hpp"
#include "notify/served.hpp"
#include "notify/subcommands.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

using store::Attempt;
using store::AttemptOutcome;
using store::ChangeId;
using store::DestinationStore;
using store::StoredDestination;
using Mode = store::DestinationStore::Mode;

/// Changes that one replay may name.
constexpr std::size_t kNamedMax = 10'000;
constexpr std::size_t kTestIdBytes = 12;
constexpr int kTestWaitMs = 500;

struct TestCommand {
    std::string id, ca_file;
};

struct LogCommand {
    std::string id;
    bool only_failed = false;
    Format format = Format::kTable;
};

/// Numbers of changes on a node, `NODE:N` or `NODE:N-M`.
struct ChangeRange {
    std::string node;  ///< UUID, or its number in the ledger.
    std::uint64_t first = 0, last = 0;
};

struct ReplayCommand {
    std::string id, ledger;
    std::optional<Timestamp> since;
    std::optional<ChangeRange> range;
    bool only_failed = false;
};

constexpr std::array<std::string_view, 5> kOutcomeNames{"", "delivered", "retry", "failed",
                                                        "disabled"};

Status send_test(const Frame& frame, const TestCommand& command) {
    struct Found {
        store::Destination destination;
        notify::OpenedSecrets secrets;
    };
    const auto found =
        with_destinations(frame, Mode::kRead, [&](DestinationStore& opened) -> Result<Found> {
            auto row = opened.find(command.id);
            const auto key = row.ok() ? opened.key() : Result<store::MasterKey>(row.error());
            if (!key.ok()) {
                return key.error();
            }
            return notify::open_secrets(*key, row->destination, wall_ms())
                .and_then([&row](notify::OpenedSecrets secrets) {
                    return Result(Found{std::move(row->destination), std::move(secrets)});
                });
        });
    if (!found.ok()) {
        return found.error();
    }
    const std::uint64_t now = wall_ms();
    notify::Notice notice;
    notice.webhook_id = "test_" + random_hex(kTestIdBytes);
    notice.type = "notify.test";
    notice.body = Json{{"type", notice.type},
                       {"timestamp", time_or_null(now)},
                       {"account_number", found->destination.account.value}}
                      .compact();
    const notify::AddressJudge judge = notify::judge_of(found->destination);
    const auto client = notify::make_client(1, command.ca_file);
    client->start(1, notify::request_of(found->destination, found->secrets, judge, notice, now));
    std::vector<HttpResponse> ended;
    while (ended.empty()) {
        ended = client->wait(kTestWaitMs);
    }
    const HttpResponse& answer = ended.front();
    if (!notify::is_success(answer)) {
        return Error{ErrorCode::kIo, "the test of destination " + command.id +
                                         " failed: " + notify::error_text(answer)};
    }
    std::printf("destination %s answered %ld after %lld ms\n", command.id.c_str(), answer.status,
                static_cast<long long>(answer.took.count()));
    return Status::success();
}

Status list_attempts(const Frame& frame, const LogCommand& command) {
    return with_destinations(frame, Mode::kRead, [&](DestinationStore& opened) -> Status {
        if (const auto found = opened.find(command.id); !found.ok()) {
            return found.error();
        }
        Listing listing(command.format, left("at type node") + right("change attempt") +
                                            left("outcome") + right("status took_ms") +
                                            left("error next_try webhook_id"));
        Status read = opened.scan_attempts([&](const Attempt& row) {
            const bool is_failure = row.outcome != AttemptOutcome::kDelivered;
            if (row.destination == command.id && (is_failure || !command.only_failed)) {
                listing.add({time_or_null(row.at), text_or_null(row.type), row.change.node,
                             row.change.last, row.number,
                             kOutcomeNames.at(static_cast<std::size_t>(row.outcome)),
                             row.status == 0 ? Json() : Json(row.status), row.took_ms,
                             text_or_null(row.error), time_or_null(row.next_try),
                             text_or_null(row.webhook_id)});
            }
            return true;
        });
        if (read.ok()) {
            listing.finish();
        }
        return read;
    });
}

/// Returns the changes that were given up, and were not delivered since.
Result<std::vector<ChangeId>> failed_changes(DestinationStore& opened, const std::string& id) {
    std::set<ChangeId> settled, failed;
    Status read = opened.scan_attempts([&](const Attempt& row) {  // the newest first
        if (row.destination == id && settled.insert(row.change).second &&
            row.outcome == AttemptOutcome::kFailed) {
            failed.insert(row.change);
        }
        return failed.size() < kNamedMax;
    });
    return read.ok() ? Result(std::vector<ChangeId>(failed.begin(), failed.end())) : read.error();
}

/// Returns the UUID of a node that is named by UUID or number.
Result<std::string> node_of(LedgerReader& ledger, const std::string& name) {
    std::string node;
    ledger.scan_heads([&](const LedgerHead& head) {
        node = head.node == name || std::to_string(head.number) == name ? head.node : node;
    });
    return node.empty() ? not_found("the ledger has no node \"" + name + "\"")
                        : Result(std::move(node));
}

/// Names the changes of the destination's types that the range has.
Status name_range(LedgerReader& ledger, const store::Destination& destination,
                  const ChangeRange& range, store::Replay& replay) {
    const auto node = node_of(ledger, range.node);
    if (!node.ok()) {
        return node.error();
    }
    bool is_of_others = false;
    lists::visit_changes(
        ledger, destination.account, *node, range.first, [&](const lists::Change& change) {
            if (lists::first_change(change.group) > range.last) {
                return false;
            }
            if (notify::takes(destination.types, lists::change_type(change.group))) {
                replay.changes.push_back({*node, change.group.last_change});
            } else {
                is_of_others = true;
            }
            return replay.changes.size() < kNamedMax;
        });
    if (replay.changes.empty()) {
        return not_found(is_of_others ? "the destination gets no changes of this type (--types)"
                                      : "the account has no such change on this node");
    }
    return Status::success();
}

/// Makes the replay that --since or --change asks for.
Result<store::Replay> replay_of(const Frame& frame, const ReplayCommand& command,
                                const store::Destination& destination) {
    store::Replay replay;
    Status read = with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        if (command.range) {
            return name_range(ledger, destination, *command.range, replay);
        }
        constexpr std::int64_t kPerSecond = 1000;
        replay.until = lists::end_of_feed(ledger, destination.account);
        replay.since = static_cast<std::uint64_t>(
            std::max<std::int64_t>(command.since->seconds, 0) * kPerSecond);
        return Status::success();
    });
    return read.ok() ? Result(std::move(replay)) : read.error();
}

/// Sends the changes that were given up again, and tries those that wait for a retry at once.
Status replay_failed(DestinationStore& opened, const std::string& id, std::uint64_t pending) {
    auto failed = failed_changes(opened, id);
    if (!failed.ok()) {
        return failed.error();
    }
    if (failed->empty() && pending == 0) {
        return not_found("no change of this destination has failed");
    }
    const std::size_t count = failed->size();
    if (count != 0) {
        store::Replay replay;
        replay.changes = std::move(failed).value();
        if (Status added = opened.add_replay(id, std::move(replay)); !added.ok()) {
            return added;
        }
    }
    Status begun = opened.change(id, [](StoredDestination& row) {
        store::begin_afresh(row);
        return Status::success();
    });
    if (begun.ok()) {
        std::printf("%zu changes that failed and %llu that wait for a retry are sent again\n",
                    count, static_cast<unsigned long long>(pending));
    }
    return begun;
}

Status replay_changes(const Frame& frame, const ReplayCommand& command) {
    return with_destinations(frame, Mode::kWrite, [&](DestinationStore& opened) -> Status {
        const auto found = opened.find(command.id);
        if (!found.ok()) {
            return found.error();
        }
        if (command.only_failed) {
            return replay_failed(opened, command.id, found->progress.pending);
        }
        auto replay = replay_of(frame, command, found->destination);
        if (!replay.ok()) {
            return replay.error();
        }
        const std::size_t named = replay->changes.size();
        Status added = opened.add_replay(command.id, std::move(replay).value());
        if (added.ok()) {
            named != 0 ? std::printf("%zu changes are sent again\n", named)
                       : std::printf("the changes since then are sent again\n");
        }
        return added;
    });
}

Result<ChangeRange> parse_range(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::size_t dash = text.find('-', colon == std::string_view::npos ? 0 : colon);
    if (colon != std::string_view::npos && colon != 0) {
        const auto first =
            parse_digits(text.substr(colon + 1, std::min(dash, text.size()) - colon - 1));
        const auto last =
            dash == std::string_view::npos ? first : parse_digits(text.substr(dash + 1));
        if (first && last && *first != 0 && *first <= *last) {
            return ChangeRange{std::string(text.substr(0, colon)), *first, *last};
        }
    }
    return invalid("expected NODE:N or NODE:N-M, numbers from 1 on");
}

void declare_replay(Subcommand group) {
    auto [replay, command] =
        add_command(group, "replay", "Send changes again, with the same ids", replay_changes);
    ReplayCommand& given = command;
    add_destination_id(replay, command.id);
    const Option since = add_value(replay, "--since", "T", command.since, parse_time,
                                   "Changes that were recorded at this time or later (RFC 3339)");
    const Option range =
        add_value(replay, "--change", "NODE:N[-M]", command.range, parse_range,
                  "Changes by their numbers on a node, which is named by UUID or number");
    const Option failed =
        add_flag(replay, "--failed", command.only_failed,
                 "Changes that were given up; those that wait for a retry are tried at once");
    since.excludes(range);
    since.excludes(failed);
    range.excludes(failed);
    replay.require([&given] {
        return given.since || given.range || given.only_failed
                   ? std::string()
                   : std::string("--since, --change or --failed is required");
    });
    add_ledger(replay, command.ledger);
}

}  // namespace

void declare_notify_deliveries(Subcommand group) {
    auto [test, tested] =
        add_command(group, "test",
                    "Send a signed test request from this process, and show the answer", send_test);
    add_destination_id(test, tested.id);
    add_ca_file(test, tested.ca_file);

    declare_replay(group);

    auto [log, logged] =
        add_command(group, "log", "List the attempts of 30 days, the newest first", list_attempts);
    add_destination_id(log, logged.id);
    add_flag(log, "--failed", logged.only_failed, "Only attempts that failed");
    add_format(log, logged.format);
}

}  // namespace sluice::cli
