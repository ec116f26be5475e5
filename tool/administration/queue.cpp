// sluice queue stats|peek|export|find|move|unlatch|drop-lanes|accept-gap
#include "lmdb_store/queue/queue.hpp"

#include <fcntl.h>

#include <algorithm>

#include "core/apply/work.hpp"
#include "core/rules/account.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/identity.hpp"
#include "program/system/named_file.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/receipt_search.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

using store::Queue;

struct PeekCommand {
    std::uint64_t from = 1;
    std::uint64_t limit = 100;
    Format format = Format::kTable;
};

/// The ledger's checkpoint and the attribution that is left.
struct LedgerProgress {
    LedgerHead head;
    WorkLeft work;
};

Result<LedgerProgress> place_of(const Frame& frame, const std::string& ledger_url) {
    return with_snapshot(frame, ledger_url, [](LedgerReader& ledger) {
        return Result(LedgerProgress{ledger.head(), work_left(ledger)});
    });
}

Status run_stats(const Frame& frame, const ListOptions& options) {
    const auto place = place_of(frame, options.ledger);
    auto queue = place.ok() ? Queue::open(frame.paths(), queue_options()) : place.error();
    auto fill = queue.ok() ? queue.value()->fill_with_lanes() : queue.error();
    if (!fill.ok()) {
        return fill.error();
    }
    const std::uint64_t applied_seq = place->head.applied_seq.value;
    const std::uint64_t last_seq = fill->last_seq.value;
    const Totals& totals = place->head.totals;
    write_object(options.format, {{"first_seq", fill->first_seq.value},
                                  {"last_seq", last_seq},
                                  {"depth", fill->depth(place->head.applied_seq)},
                                  {"in_lanes", fill->lanes.records},
                                  {"bytes", fill->bytes_used},
                                  {"applied_seq", applied_seq},
                                  {"applied", totals.applied},
                                  {"stale", totals.stale},
                                  {"duplicate", totals.duplicate},
                                  {"dead", totals.dead},
                                  {"catalog", totals.catalog},
                                  {"commands", totals.commands},
                                  {"clicks", totals.clicks},
                                  {"attribution_left", place->work.pieces}});
    return Status::success();
}

std::vector<Column> record_columns() {
    return right("seq") + left("topic shop_id received_at") + in_files("trace") + right("bytes") +
           in_files("body");
}

/// @param seq  Null for a record that is in a lane, which has no sequence number yet.
/// @return the record with its body, or what is wrong with a damaged one.
Row record_row(const store::StorePaths& paths, const Json& seq, std::string_view bytes) {
    auto record = decode_record(bytes);
    if (!record.ok()) {
        return {seq, "damaged: " + record.error().message, nullptr, nullptr, nullptr, bytes.size()};
    }
    const RecordMeta& meta = record->meta;
    Json body = record->body;
    if (meta.bulk) {
        const auto read = store::read_bulk(paths, *meta.bulk);
        body = read.ok() ? Json(read.value()) : Json();
    }
    return {seq,
            to_string(meta.topic),
            text_or_null(meta.shop_id),
            meta.received_at.to_string(),
            meta.traceparent ? Json(to_traceparent(*meta.traceparent)) : Json(),
            meta.bulk ? meta.bulk->bytes : record->body.size(),
            std::move(body)};
}

void forget_moved(std::vector<store::LaneRecord>& lanes, std::string_view record) {
    const auto decoded = lanes.empty() ? Result<RecordView>(Error{}) : decode_record(record);
    if (decoded.ok() && decoded->receipt) {
        std::erase_if(lanes, [&](const store::LaneRecord& lane) {
            return lane.receipt == *decoded->receipt;
        });
    }
}

/// Calls `visit` for at most `limit` records that are not applied yet: first those of the queue
/// from `from` on, then those in lanes.
Status visit_waiting(const Frame& frame, std::uint64_t from, std::uint64_t limit,
                     const std::function<void(const Row&)>& visit) {
    if (limit == 0) {
        return Status::success();
    }
    const auto paths = frame.paths();
    const auto place = place_of(frame, {});
    auto queue = place.ok() ? Queue::open(paths, queue_options()) : place.error();
    // Read the lanes before the queue, so that a record that moves meanwhile is found in the queue.
    auto lanes = queue.ok() ? queue.value()->read_lanes(kReadLanesBytes) : queue.error();
    if (!lanes.ok()) {
        return lanes.error();
    }
    const std::uint64_t first = std::max(from, place->head.applied_seq.value + 1);
    Status read = visit_queue(*queue.value(), {first}, [&](const store::QueuedRecord& record) {
        visit(record_row(paths, record.seq.value, record.bytes));
        forget_moved(lanes.value(), record.bytes);
        return --limit > 0;
    });
    for (const store::LaneRecord& record : lanes.value()) {
        if (read.ok() && limit > 0) {
            visit(record_row(paths, nullptr, record.bytes));
            --limit;
        }
    }
    return read;
}

Status run_peek(const Frame& frame, const PeekCommand& command) {
    Listing listing(command.format, record_columns());
    Status read = visit_waiting(frame, command.from, command.limit,
                                [&](const Row& row) { listing.add(row); });
    listing.finish();
    return read;
}

Status run_export_queue(const Frame& frame, const std::string& to) {
    auto file = OutputFile::create(to == "-" ? "/dev/stdout" : to);
    if (!file.ok()) {
        return file.error();
    }
    Status written = Status::success();
    Status read = visit_waiting(frame, 1, UINT64_MAX, [&](const Row& row) {
        if (written) {
            written = file->write(object_of(record_columns(), row).compact() + "\n");
        }
    });
    read = read ? written : read;
    read = read ? file->place() : read;
    if (read) {
        file->keep();
    }
    return read;
}

struct FindCommand {
    std::string receipt;
    Format format = Format::kTable;
};

Status run_find(const Frame& frame, const FindCommand& command) {
    const auto record = parse_record_name(command.receipt);
    const auto place = record.ok() ? place_of(frame, {}) : record.error();
    const auto found =
        place.ok() ? find_record(frame, *record, place->head.applied_seq) : place.error();
    if (!found.ok()) {
        return found.error();
    }
    const std::uint64_t seq = found->seq.value;
    write_object(command.format, {{"receipt", command.receipt},
                                  {"state", to_string(found->place)},
                                  {"seq", seq == 0 ? Json() : Json(seq)}});
    return Status::success();
}

Result<std::unique_ptr<Queue>> open_queue(const Frame& frame) {
    return Queue::open(frame.paths(), queue_options());
}

Status run_move(const Frame& frame) {
    auto queue = open_queue(frame);
    if (!queue.ok()) {
        return queue.error();
    }
    // Return when every record that was durable at the start is in the queue, even if another
    // process moves it.
    Status recovered = queue.value()->recover_lanes();
    return recovered.ok() ? queue.value()->empty_lanes() : recovered;
}

Status run_unlatch(const Frame& frame) {
    auto queue = open_queue(frame);
    if (!queue.ok()) {
        return queue.error();
    }
    if (!queue.value()->latched()) {
        std::printf("the queue is not latched\n");
        return Status::success();
    }
    const std::string why = queue.value()->latch_text();
    if (Status tried = queue.value()->unlatch(); !tried.ok()) {
        return tried;
    }
    std::printf(
        "a write and its syncs worked; requests are accepted again. It was latched because "
        "%s\n",
        why.c_str());
    return Status::success();
}

Status run_drop_lanes(const Frame& frame) {
    auto queue = open_queue(frame);
    auto dropped = queue.ok() ? queue.value()->drop_missing_lanes() : queue.error();
    if (!dropped.ok()) {
        return dropped.error();
    }
    for (const std::string& lane : dropped.value()) {
        std::printf(
            "%s is missing and is not expected any more; records that were only in it are "
            "lost\n",
            lane.c_str());
    }
    if (dropped->empty()) {
        std::printf("no lane is missing\n");
    }
    return Status::success();
}

struct AcceptGapCommand {
    std::string numbers;
    SubmitOptions submit;
};

/// Parses `7` or `7-9`.
std::optional<AcceptGap> parse_gap(std::string_view text) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const auto number = [](std::string_view digits) -> std::optional<SequenceNumber> {
        const std::uint64_t value = parse_digits(digits).value_or(0);
        return value > 0 && value <= kSequenceMax ? std::optional(SequenceNumber{value})
                                                  : std::nullopt;
    };
    const auto first = number(text.substr(0, dash));
    const auto last = dash == text.size() ? first : number(text.substr(dash + 1));
    return first && last && *first <= *last ? std::optional(AcceptGap{*first, *last})
                                            : std::nullopt;
}

/// The loss of inputs that are somewhere still is not accepted.
Status check_archive_lacks(const Frame& frame, const AcceptGap& gap) {
    const auto node = node_of(frame);
    const auto archive =
        node.ok() ? store::ArchiveReader::open(frame.paths().archive) : node.error();
    const auto found = archive.ok() ? archive.value()->find(*node, gap.first) : archive.error();
    if (found.ok() && *found) {
        return conflict("the archive has input " + std::to_string(gap.first.value) +
                        ": the ledger is an older copy. Make it with `sluice ledger rebuild` from "
                        "the archive; nothing is lost");
    }
    return found.ok() ? Status::success() : Status(found.error());
}

/// Returns whether the policy of an account asks a second person for anything.
Result<bool> has_guarded_account(const Frame& frame, const std::string& ledger_url) {
    return with_snapshot(frame, ledger_url, [](LedgerReader& ledger) -> Result<bool> {
        bool guarded = false;
        ledger.scan(sluice::AccountRow{}, {}, [&](const sluice::AccountRow& row) {
            guarded = guarded || account_settings(ledger, row.account).policy.has_approvals();
        });
        return guarded;
    });
}

/// Returns who asked for the same before, as the registry's log says. If no other actor did,
/// notes it, and returns kPending: the queue stands, so the command itself cannot wait in it.
Result<std::string> asked_before(const Frame& frame, const AcceptGapCommand& command) {
    const std::string what = "queue accept-gap " + command.numbers;
    const auto changes =
        ask_registry(frame, [](store::Registry& registry) { return registry.changes(); });
    if (!changes.ok()) {
        return changes.error();
    }
    for (auto change = changes->rbegin(); change != changes->rend(); ++change) {
        if (change->change == what && change->author.actor != current_user()) {
            return change->author.actor;
        }
    }
    Frame asking = frame;
    asking.reason = command.submit.reason;
    if (Status noted = note_change(asking, what); !noted.ok()) {
        return noted.error();
    }
    return Error{ErrorCode::kPending,
                 "the policy of an account has approvals: an approver who is "
                 "another person runs this command as well"};
}

Status run_accept_gap(const Frame& frame, const AcceptGapCommand& command) {
    auto gap = parse_gap(command.numbers);
    if (!gap) {
        return invalid("\"" + command.numbers +
                       "\" is no gap: name its numbers as `sluice doctor` does, as in 7-9");
    }
    if (Status lacks = check_archive_lacks(frame, *gap); !lacks.ok()) {
        return lacks;
    }
    const auto guarded = has_guarded_account(frame, command.submit.ledger_url);
    if (!guarded.ok()) {
        return guarded.error();
    }
    if (*guarded) {
        if (Status asked = assign(gap->asked_by, asked_before(frame, command)); !asked.ok()) {
            return asked;
        }
    }
    return submit(frame, *gap, command.submit);
}

}  // namespace

void declare_queue(Subcommand app) {
    const Subcommand group =
        app.add_group("queue", "Inspect and repair the queue of accepted inputs");
    auto [stats, counted] =
        add_command(group, "stats", "Show queue depth and outcome counts", run_stats);
    add_list_options(stats, counted);

    auto [peek, peeked] =
        add_command(group, "peek", "List inputs that are not applied yet", run_peek);
    add_count(peek, "--from", "SEQ", peeked.from, 1, UINT64_MAX,
              "First sequence number (default: 1)");
    add_count(peek, "--limit", "N", peeked.limit, 1, UINT64_MAX,
              "Maximum number of inputs (default: 100)");
    add_format(peek, peeked.format);

    auto [find, wanted] = add_command(group, "find", "Find the record of a receipt", run_find);
    add_text(find, "RECEIPT", "", wanted.receipt, "Receipt, as $sluice_receipt shows it")
        .required();
    add_format(find, wanted.format);

    (void)group.add_command("move", "Move the records of all lanes to the queue", run_move);
    (void)group.add_command("unlatch",
                            "Accept requests again after an I/O error, if a test write succeeds",
                            run_unlatch);
    (void)group.add_command(
        "drop-lanes", "Give up lanes whose files are missing, with their records", run_drop_lanes);

    auto [accept, accepted] = add_command(
        group, "accept-gap",
        "Accept that inputs which the queue should have are lost, and continue after them",
        run_accept_gap);
    add_text(accept, "FIRST-LAST", "", accepted.numbers,
             "The missing numbers, as `sluice doctor` names them")
        .required();
    add_command_options(accept, accepted.submit, true);

    auto [save, saved] =
        add_command(group, "export", "Export inputs that are not applied yet, one JSON line each",
                    run_export_queue);
    add_file(save, "FILE", "", saved, FileUse::kOutput, "Output file; - means standard output")
        .required();
}

}  // namespace sluice::cli
