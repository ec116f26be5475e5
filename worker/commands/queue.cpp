// sluice queue stats|peek|export
#include "lmdb_store/queue/queue.hpp"

#include <fcntl.h>

#include <cerrno>

#include "core/apply/apply.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

using store::Queue;

constexpr std::size_t kReadRecords = 256;
constexpr std::size_t kReadBytes = 4u << 20;

struct StatsCommand {
    std::string ledger;
    Format format = Format::kTable;
};

struct PeekCommand {
    std::uint64_t from = 1;
    std::uint64_t limit = 100;
    Format format = Format::kTable;
};

struct ExportCommand {
    std::string file;
};

/// The ledger's checkpoint. A PostgreSQL ledger is asked only when it is named.
struct LedgerPlace {
    LedgerHead head;
    WorkLeft work;
};

Result<LedgerPlace> place_of(const Frame& frame, const std::string& ledger_url) {
    LedgerPlace place;
    Status read = with_snapshot(frame, ledger_url, [&](LedgerReader& ledger) {
        place = {ledger.head(), work_left(ledger)};
        return Status::success();
    });
    return read.ok() ? Result<LedgerPlace>(place) : Result<LedgerPlace>(read.error());
}

Status run_stats(const Frame& frame, const StatsCommand& command) {
    const auto place = place_of(frame, command.ledger);
    if (!place.ok()) {
        return place.error();
    }
    auto queue = Queue::open(frame.paths(), queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    auto fill = queue.value()->fill();
    if (!fill.ok()) {
        return fill.error();
    }
    const std::uint64_t applied_seq = place->head.applied_seq.value;
    const std::uint64_t last_seq = fill->last_seq.value;
    const Totals& totals = place->head.totals;
    write_object(command.format, {{"first_seq", fill->first_seq.value},
                                  {"last_seq", last_seq},
                                  {"depth", last_seq > applied_seq ? last_seq - applied_seq : 0},
                                  {"bytes", fill->bytes_used},
                                  {"applied_seq", applied_seq},
                                  {"applied", totals.applied},
                                  {"stale", totals.stale},
                                  {"duplicate", totals.duplicate},
                                  {"dead", totals.dead},
                                  {"catalog", totals.catalog},
                                  {"commands", totals.commands},
                                  {"attribution_left", place->work.pieces}});
    return Status::success();
}

/// The body, from the record or from its bulk file. For a damaged record: what is wrong with it.
Json record_row(const store::StorePaths& paths, const store::QueuedRecord& queued) {
    Json row = {{"seq", queued.seq.value}, {"topic", nullptr}, {"shop_id", nullptr},
                {"received_at", nullptr},  {"bytes", nullptr}, {"body", nullptr}};
    auto record = decode_record(queued.bytes);
    if (!record.ok()) {
        row["topic"] = "damaged: " + record.error().message;
        row["bytes"] = queued.bytes.size();
        return row;
    }
    const RecordMeta& meta = record->meta;
    row["topic"] = to_string(meta.topic);
    row["shop_id"] = meta.shop_id.empty() ? Json() : Json(meta.shop_id);
    row["received_at"] = meta.received_at.to_string();
    row["bytes"] = meta.bulk ? meta.bulk->bytes : record->body.size();
    if (!meta.bulk) {
        row["body"] = record->body;
        return row;
    }
    auto body = store::read_bulk(paths, *meta.bulk);
    row["body"] = body.ok() ? Json(body.value()) : Json();
    return row;
}

/// Calls `visit` for each record that is not applied yet, from `from` on, at most `limit`.
Status visit_waiting(const Frame& frame, std::uint64_t from, std::uint64_t limit,
                     const std::function<void(const Json&)>& visit) {
    const auto place = place_of(frame, {});
    if (!place.ok()) {
        return place.error();
    }
    const auto paths = frame.paths();
    auto queue = Queue::open(paths, queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    std::uint64_t next = std::max(from, place->head.applied_seq.value + 1);
    while (limit > 0) {
        auto records =
            queue.value()->read({next}, std::min<std::size_t>(limit, kReadRecords), kReadBytes);
        if (!records.ok()) {
            return records.error();
        }
        if (records->empty()) {
            break;
        }
        for (const store::QueuedRecord& record : records.value()) {
            visit(record_row(paths, record));
            next = record.seq.value + 1;
            --limit;
        }
    }
    return Status::success();
}

Status run_peek(const Frame& frame, const PeekCommand& command) {
    Listing listing(command.format, {{"seq", Align::kRight},
                                     {"topic"},
                                     {"shop_id"},
                                     {"received_at"},
                                     {"bytes", Align::kRight},
                                     {"body", Align::kLeft, false}});
    Status read = visit_waiting(frame, command.from, command.limit,
                                [&](const Json& row) { listing.add(row); });
    listing.finish();
    return read;
}

Status run_export(const Frame& frame, const ExportCommand& command) {
    auto file = command.file == "-" ? Result<UniqueFile>(UniqueFile())
                                    : open_for_writing(command.file, Existing::kEmptied);
    if (!file.ok()) {
        return file.error();
    }
    std::FILE* const out = file.value() ? file->get() : stdout;
    Status read = visit_waiting(frame, 1, UINT64_MAX, [&](const Json& row) {
        const std::string line = row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        std::fwrite(line.data(), 1, line.size(), out);
    });
    const bool written = std::fflush(out) == 0 && std::ferror(out) == 0;
    if (read.ok() && !written) {
        return Error{ErrorCode::kIo, command.file + ": could not be written completely"};
    }
    return read;
}

}  // namespace

void declare_queue(CLI::App& app, Frame& frame) {
    CLI::App& group = add_group(app, "queue", "Inputs that were accepted and wait for the worker");
    CLI::App& stats = add_command(group, "stats", "How much waits, and the outcome of the rest");
    StatsCommand& counted = on_run(stats, frame, run_stats);
    add_ledger(stats, counted.ledger);
    add_format(stats, counted.format);

    CLI::App& peek = add_command(group, "peek", "Show inputs that are not applied yet");
    PeekCommand& peeked = on_run(peek, frame, run_peek);
    const auto any_count = [](std::string_view text) { return parse_count(text, 1, UINT64_MAX); };
    add_value(peek, "--from", "SEQ", peeked.from, any_count, "From this sequence number on");
    add_value(peek, "--limit", "N", peeked.limit, any_count, "At most N of them (default 100)");
    add_format(peek, peeked.format);

    CLI::App& save = add_command(group, "export", "Write those inputs to a file, a JSON line each");
    save.add_option("FILE", on_run(save, frame, run_export).file, "- is standard output")
        ->required()
        ->type_name("");
}

}  // namespace sluice::cli
