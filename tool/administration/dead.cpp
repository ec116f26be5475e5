// sluice dead list|show|replay|discard
#include <map>

#include "core/apply/sender_check.hpp"
#include "core/json/document.hpp"
#include "core/json/slices.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

struct ShowCommand {
    std::uint64_t seq = 0;
    ListOptions list;
};

struct ReplayCommand {
    std::optional<std::uint64_t> seq;
    bool all = false;
    std::string ledger;
};

Json topic_or_null(const DeadLetter& letter) {
    return letter.topic ? Json(to_string(*letter.topic)) : Json();
}

/// The body of a letter, and what nginx left in it of a platform's order. Refers to the letter.
struct LetterBody {
    Result<RecordView> record;
    std::string_view text;    ///< As it was received; empty if the record cannot be decoded.
    std::string_view source;  ///< The member `source` of a platform's order, or an empty text.

    explicit LetterBody(const DeadLetter& letter) : record(decode_record(letter.record)) {
        if (!record.ok()) {
            return;
        }
        text = record->meta.bulk ? std::string_view(letter.bulk_body) : record->body;
        JsonDocument document;
        if (record->meta.source && is_order(record->meta.topic) && document.parse(text)) {
            source = member_of(json_members(text), "source");
        }
    }
    /// Returns the faults of a platform's order, a JSON array; empty if it could be read.
    [[nodiscard]] std::string_view faults() const {
        return member_of(json_members(source), "faults");
    }
};

/// Returns why an input was not applied. What could be read of a platform's order lacks fields of
/// our own format, and the ledger names the first such field. The shop can correct the platform's.
std::string reason_of(const DeadLetter& letter, const LetterBody& body) {
    const auto faults = json_elements(body.faults());
    if (faults.empty() || is_verdict(letter.reason)) {
        return letter.reason;
    }
    const std::vector<JsonMember> first = json_members(faults.front());
    return json_string(member_of(first, "field")) + ": " + json_string(member_of(first, "message"));
}

Status run_list_dead(const Frame& frame, const ListOptions& options) {
    return list_rows(
        frame, options, right("seq") + left("topic shop_id reason") + right("attempts"),
        [](LedgerReader& ledger, Listing& listing) {
            ledger.scan_dead([&](const DeadLetter& letter) {
                listing.add({letter.seq.value, topic_or_null(letter), text_or_null(letter.shop_id),
                             reason_of(letter, LetterBody(letter)), letter.attempts});
            });
        });
}

/// Adds what is wrong with an order of a platform, the values that were read, and what to do.
void add_source(const DeadLetter& letter, const LetterBody& body, Json& object) {
    const std::string_view seen = member_of(json_members(body.source), "seen");
    if (!body.faults().empty()) {
        object["faults"] = Json::from_text(body.faults());
    }
    object["seen"] = seen.empty() ? Json() : Json::from_text(seen);
    const std::string seq = std::to_string(letter.seq.value);
    object["help"] =
        "correct the order in the shop, which sends it again; if a later version of "
        "sluice reads it: sluice translate --stored --dead " +
        seq;
}

/// Adds the body as it was received, or the record in hexadecimal if it cannot be decoded.
void add_contents(const DeadLetter& letter, const LetterBody& body, Json& object) {
    if (body.record.ok()) {
        const auto& trace = body.record->meta.traceparent;
        object["trace"] = trace ? Json(to_traceparent(*trace)) : Json();
        object["body"] = std::string(body.text);
        if (!body.source.empty()) {
            add_source(letter, body, object);
        }
        return;
    }
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(letter.record.data());
    object["body"] = nullptr;
    object["record_hex"] = to_hex({bytes, letter.record.size()});
}

Status run_show(const Frame& frame, const ShowCommand& command) {
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) -> Status {
        const auto letter = ledger.dead_letter({command.seq});
        if (!letter) {
            return not_found("there is no dead letter " + std::to_string(command.seq));
        }
        const LetterBody body(*letter);
        Json object = {{"seq", letter->seq.value},
                       {"topic", topic_or_null(*letter)},
                       {"account_id", text_or_null(letter->account_id)},
                       {"shop_id", text_or_null(letter->shop_id)},
                       {"received_at", letter->received_at.to_string()},
                       {"reason", reason_of(*letter, body)},
                       {"attempts", letter->attempts}};
        add_contents(*letter, body, object);
        write_object(command.list.format, object);
        return Status::success();
    });
}

/// Returns the letters that the command is about and that are there, with their reasons.
Result<std::map<SequenceNumber, std::string>> letters_of(const Frame& frame,
                                                         const ReplayCommand& command) {
    return with_snapshot(frame, command.ledger, ReadFrom::kPrimary, [&](LedgerReader& ledger) {
        std::map<SequenceNumber, std::string> letters;
        ledger.scan_dead([&](const DeadLetter& letter) {
            if (!command.seq || *command.seq == letter.seq.value) {
                letters.emplace(letter.seq, letter.reason);
            }
        });
        return Result(std::move(letters));
    });
}

/// A letter that stays dead is a failure.
Status run_replay(const Frame& frame, const ReplayCommand& command) {
    DeadReplay replay;
    if (command.seq) {
        replay.seqs.push_back({*command.seq});
    }
    const auto tried = letters_of(frame, command);
    if (!tried.ok()) {
        return tried.error();
    }
    Status done = submit(frame, replay, {std::nullopt, command.ledger});
    const auto left = done.ok() ? letters_of(frame, command) : tried;
    if (!done.ok() || !left.ok()) {
        return done.ok() ? left.error() : done;
    }
    std::string dead;
    for (const auto& [seq, reason] : *left) {
        if (tried->contains(seq)) {
            dead += (dead.empty() ? "" : "\n") + std::string("dead letter ") +
                    std::to_string(seq.value) + " stays: " + reason;
        }
    }
    return dead.empty() ? Status::success()
                        : invalid(dead +
                                  "; remove the cause and replay again, or give it up with "
                                  "`sluice dead discard SEQ --reason TEXT`");
}

Result<SequenceNumber> parse_seq(std::string_view text) {
    return parse_count(text, 1, UINT64_MAX).and_then([](std::uint64_t number) {
        return Result(SequenceNumber{number});
    });
}

template <class Seq>
Option add_seq(Subcommand app, Seq& target) {
    return add_count(app, "SEQ", "SEQ", target, 1, UINT64_MAX,
                     "Sequence number, as `dead list` shows it");
}

}  // namespace

void declare_dead(Subcommand app) {
    const Subcommand group =
        app.add_group("dead", "Inspect and replay dead letters: inputs that could not be applied");
    auto [list, listed] =
        add_command(group, "list", "List dead letters with their reasons", run_list_dead);
    add_list_options(list, listed);

    auto [show, shown] = add_command(group, "show", "Show a dead letter with its body", run_show);
    add_seq(show, shown.seq).required();
    add_list_options(show, shown.list);

    auto [replay, replayed] = add_command(group, "replay", "Apply dead letters again", run_replay);
    const Option seq = add_seq(replay, replayed.seq);
    const Option all = add_flag(replay, "--all", replayed.all, "Replay all dead letters");
    add_ledger(replay, replayed.ledger);
    auto [discard, discarded] =
        add_command(group, "discard", "Give dead letters up for good; the journal keeps the reason",
                    run_written<DeadDiscard>);
    add_values(discard, "SEQ", "SEQ", discarded.command.seqs, parse_seq,
               "Sequence numbers, as `dead list` shows them")
        .required();
    add_command_options(discard, discarded.submit, true);

    replay.require(
        [seq, all] { return seq.is_given() != all.is_given() ? "" : "one of SEQ, --all"; });
}

}  // namespace sluice::cli
