// sluice dead list|show|replay
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"

namespace sluice::cli {
namespace {

struct ListCommand {
    std::string ledger;
    Format format = Format::kTable;
};

struct ShowCommand {
    std::uint64_t seq = 0;
    std::string ledger;
    Format format = Format::kTable;
};

struct ReplayCommand {
    std::optional<std::uint64_t> seq;
    bool all = false;
    std::string ledger;
};

Json topic_or_null(const DeadLetter& letter) {
    return letter.topic ? Json(to_string(*letter.topic)) : Json();
}

Status run_list(const Frame& frame, const ListCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        Listing listing(command.format, {{"seq", Align::kRight},
                                         {"topic"},
                                         {"shop_id"},
                                         {"reason"},
                                         {"attempts", Align::kRight}});
        ledger.scan_dead([&](const DeadLetter& letter) {
            listing.add({{"seq", letter.seq.value},
                         {"topic", topic_or_null(letter)},
                         {"shop_id", text_or_null(letter.shop_id)},
                         {"reason", letter.reason},
                         {"attempts", letter.attempts}});
            return true;
        });
        listing.finish();
        return Status::success();
    });
}

/// The body as it was received; a record that cannot be read is shown in hexadecimal.
void add_contents(const DeadLetter& letter, Json& object) {
    const auto record = decode_record(letter.record);
    if (record.ok()) {
        const bool is_bulk = record->meta.bulk.has_value();
        object["body"] = is_bulk ? letter.bulk_body : std::string(record->body);
        return;
    }
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(letter.record.data());
    object["body"] = nullptr;
    object["record_hex"] = to_hex({bytes, letter.record.size()});
}

Status run_show(const Frame& frame, const ShowCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        const auto letter = ledger.dead_letter({command.seq});
        if (!letter) {
            return Error{ErrorCode::kNotFound,
                         "there is no dead letter " + std::to_string(command.seq)};
        }
        Json object = {{"seq", letter->seq.value},
                       {"topic", topic_or_null(*letter)},
                       {"account_id", text_or_null(letter->account_id)},
                       {"shop_id", text_or_null(letter->shop_id)},
                       {"received_at", letter->received_at.to_string()},
                       {"reason", letter->reason},
                       {"attempts", letter->attempts}};
        add_contents(*letter, object);
        write_object(command.format, object);
        return Status::success();
    });
}

Status run_replay(const Frame& frame, const ReplayCommand& command) {
    DeadReplay replay;
    if (command.seq) {
        replay.seqs.push_back({*command.seq});
    }
    return submit(frame, replay, {std::nullopt, command.ledger});
}

Result<std::uint64_t> parse_seq(std::string_view text) {
    return parse_count(text, 1, UINT64_MAX);
}

}  // namespace

void declare_dead(Subcommand app) {
    const Subcommand group = app.add_group("dead", "Inputs that could not be applied");
    auto [list, listed] = add_command(group, "list", "List them with their reasons", run_list);
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);

    auto [show, shown] = add_command(group, "show", "Show one, with its body", run_show);
    add_value(show, "SEQ", "SEQ", shown.seq, parse_seq, "As dead list shows it").required();
    add_ledger(show, shown.ledger);
    add_format(show, shown.format);

    auto [replay, replayed] =
        add_command(group, "replay", "Apply again what could not be applied", run_replay);
    const Option seq =
        add_value(replay, "SEQ", "SEQ", replayed.seq, parse_seq, "As dead list shows it");
    const Option all = add_flag(replay, "--all", replayed.all, "All of them");
    add_ledger(replay, replayed.ledger);
    replay.require(
        [seq, all] { return seq.is_given() != all.is_given() ? "" : "one of SEQ, --all"; });
}

}  // namespace sluice::cli
