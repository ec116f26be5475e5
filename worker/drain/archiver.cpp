#include "worker/drain/archiver.hpp"

#include <system_error>
#include <utility>

#include "core/commands/commands.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/redact.hpp"
#include "lmdb_store/archive/segment_file.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/queue_source.hpp"
#include "worker/system/crash_point.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t kCatchUpInputs = 2000;
constexpr std::size_t kCatchUpBytes = 8U << 20;
/// A sync every so often: the queue is trimmed only up to the last one.
constexpr std::uint64_t kFlushInputs = 20'000;
constexpr std::chrono::milliseconds kFlushAfter{200};
/// Stands for the customer in an archived FORGET; the others of the archive are redacted by then.
constexpr const char* kForgotten = "-";

std::string_view cut_reason(std::string_view reason) {
    return reason.substr(0, store::kDeadReasonBytesMax);
}

store::ArchivedInput archived(const OwnedInput& input) {
    store::ArchivedInput made;
    made.seq = input.seq;
    made.record = input.record;
    if (input.dead_reason) {
        made.body = store::ArchivedBody::kBulkMissing;
        made.dead_reason = cut_reason(*input.dead_reason);
    } else if (!input.bulk_file.empty()) {
        made.body = store::ArchivedBody::kBulk;
        made.bulk_body = input.bulk_body;
    }
    return made;
}

/// What stands in the archive for one that holds the customer's data.
class Redaction {
public:
    Redaction(const RecordMeta& command, std::string customer, std::string_view node,
              std::unique_ptr<LedgerReader> ledger)
        : account_(command.account_number),
          shop_(command.shop_number),
          customer_(std::move(customer)),
          node_(node),
          ledger_(std::move(ledger)) {}

    std::optional<store::ArchivedInput> operator()(std::string_view node,
                                                   const store::ArchivedInput& input) {
        const Result<RecordView> record = decode_record(input.record);
        if (!record || record->meta.account_number != account_ ||
            record->meta.shop_number != shop_) {
            return std::nullopt;
        }
        redacted_ = redact_record(input.record, input.bulk_body, customer_);
        if (!redacted_) {
            return std::nullopt;
        }
        store::ArchivedInput made = input;
        made.record = redacted_->record;
        made.body = store::ArchivedBody::kInRecord;
        made.bulk_body = {};
        if (!made.original_sha256) {
            made.original_sha256 = redacted_->body_sha256;
        }
        // What made it a dead letter may have been in what is gone now.
        letter_ = node == node_ ? ledger_->dead_letter(input.seq) : std::nullopt;
        if (letter_) {
            made.dead_reason = cut_reason(letter_->reason);
        }
        return made;
    }

private:
    AccountNumber account_;
    ShopNumber shop_;
    std::string customer_;
    std::string_view node_;
    std::unique_ptr<LedgerReader> ledger_;
    std::optional<RedactedRecord> redacted_;
    std::optional<DeadLetter> letter_;
};

}  // namespace

Archiver::Archiver(const store::StorePaths& paths, store::Queue& queue,
                   const store::ArchiveOptions& options, SnapshotMaker snapshot)
    : paths_(paths), queue_(queue), options_(options), snapshot_(std::move(snapshot)) {}

Result<std::unique_ptr<Archiver>> Archiver::open(const store::StorePaths& paths,
                                                 store::Queue& queue,
                                                 const store::ArchiveOptions& options,
                                                 SnapshotMaker snapshot) {
    std::unique_ptr<Archiver> archiver(new Archiver(paths, queue, options, std::move(snapshot)));
    if (Status opened = archiver->open_writer(); !opened) {
        return opened.error();
    }
    return archiver;
}

Status Archiver::open_writer() {
    auto writer = store::ArchiveWriter::open(paths_.archive, queue_.uuid(), options_);
    if (!writer) {
        return writer.error();
    }
    writer_ = std::move(*writer);
    return Status::success();
}

/// A FORGET is archived only after the archive before it is clean, so that one that is durable here
/// was obeyed, whenever the process died.
Status Archiver::add_one(const OwnedInput& input, Timestamp now) {
    if (unflushed_count_++ == 0) {
        oldest_unflushed_ = steady_now();
    }
    if (input.input_class && *input.input_class != InputClass::kCommand) {
        return writer_->add(archived(input), now);
    }
    const Result<RecordView> record = decode_record(input.record);
    if (!record || record->meta.topic != Topic::kForget) {
        return writer_->add(archived(input), now);
    }
    const std::string_view body = record->meta.bulk ? input.bulk_body : record->body;
    const Result<Command> command = decode_command(Topic::kForget, body);
    if (!command) {
        return writer_->add(archived(input), now);
    }
    if (Status clean = forget(*record, std::get<Forget>(*command).customer); !clean) {
        return clean;
    }
    OwnedInput kept;
    kept.seq = input.seq;
    const std::string kept_body = encode_command(Forget{kForgotten});
    RecordMeta meta = record->meta;
    meta.bulk.reset();
    RecordEnvelope envelope;
    envelope.encode(meta, kept_body);
    kept.record = std::string(envelope.prefix()) + kept_body;
    return writer_->add(archived(kept), now);
}

Status Archiver::forget(const RecordView& command, std::string_view customer) {
    if (Status flushed = writer_->flush(); !flushed) {
        return flushed;
    }
    Redaction redaction(command.meta, std::string(customer), queue_.uuid(), snapshot_());
    writer_.reset();
    const Result<std::uint64_t> edited = store::edit_archive(
        paths_.archive,
        [&](std::string_view node, const store::ArchivedInput& input) {
            return redaction(node, input);
        },
        options_);
    if (Status opened = open_writer(); !opened) {
        return opened;
    }
    return edited ? Status::success() : Status(edited.error());
}

Status Archiver::add(const std::vector<OwnedInput>& inputs, std::size_t first, std::size_t count,
                     Timestamp now) {
    for (std::size_t at = first; at < first + count && !behind_; ++at) {
        const SequenceNumber last = writer_->last_seq();
        if (inputs[at].seq <= last) {
            continue;  // archived before the ledger was set back
        }
        if (last.value != 0 && inputs[at].seq.value != last.value + 1) {
            behind_ = true;
        } else if (Status added = add_one(inputs[at], now); !added) {
            return added;
        }
    }
    crash_point("archived");
    return Status::success();
}

Result<bool> Archiver::catch_up(SequenceNumber applied, Timestamp now) {
    const SequenceNumber last = writer_->last_seq();
    behind_ = behind_ && last < applied;
    if (!behind_) {
        return false;
    }
    auto inputs = read_inputs(queue_, paths_, {last.value + 1}, kCatchUpInputs, kCatchUpBytes);
    if (!inputs) {
        return inputs.error();
    }
    const std::unique_ptr<LedgerReader> ledger = snapshot_();
    for (OwnedInput& input : *inputs) {
        if (input.seq > applied) {
            break;
        }
        if (input.dead_reason) {
            const std::optional<DeadLetter> letter = ledger->dead_letter(input.seq);
            input.dead_reason = letter ? letter->reason : *input.dead_reason;
        }
        if (Status added = add_one(input, now); !added) {
            return added.error();
        }
    }
    // Nothing there: these inputs were trimmed while no archive was kept.
    behind_ = writer_->last_seq() < applied && writer_->last_seq() != last;
    return behind_;
}

Status Archiver::flush() {
    unflushed_count_ = 0;
    Status flushed = writer_->flush();
    crash_point("flushed");
    return flushed;
}

bool Archiver::flush_is_due() const noexcept {
    return unflushed_count_ >= kFlushInputs ||
           (unflushed_count_ != 0 && steady_now() - oldest_unflushed_ >= kFlushAfter);
}

Result<std::uint64_t> Archiver::apply_retention(Timestamp now) {
    return writer_->apply_retention(now);
}

std::uint64_t Archiver::bytes() const {
    std::uint64_t bytes = 0;
    const auto segments = store::list_segments(paths_.archive);
    if (!segments) {
        return 0;
    }
    for (const auto& [ordinal, path] : *segments) {
        std::error_code gone;
        const std::uint64_t size = std::filesystem::file_size(path, gone);
        bytes += gone ? 0 : size;
    }
    return bytes;
}

}  // namespace sluice::worker
