// sluice program preview

#include <algorithm>
#include <filesystem>
#include <variant>

#include "core/apply/dry_run.hpp"
#include "core/commands/commands.hpp"
#include "core/lists/approvals.hpp"
#include "core/protocol/record.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/cli/progress.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "tool/setup/import.hpp"
#include "worker/access/submit.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::cli {
namespace {

struct PreviewCommand {
    std::string file;
    AccountId account;
    std::vector<std::string> archives;
    std::optional<Timestamp> ordered_from, ordered_to;
    Format format = Format::kTable;
};

/// Edits the inputs of a replay: the first program apply brings the programs and policies of a
/// file, and later ones do not change them. Other programs stay as archived.
class WhatIf {
public:
    explicit WhatIf(ProgramApply file) : file_(std::move(file)) {}

    void edit(worker::OwnedInput& input);
    /// Returns true once the file's programs are applied.
    [[nodiscard]] bool began() const noexcept { return began_; }

private:
    [[nodiscard]] ProgramApply changed(const ProgramApply& archived);

    ProgramApply file_;
    bool began_ = false;
    RecordEnvelope envelope_;
};

ProgramApply WhatIf::changed(const ProgramApply& archived) {
    ProgramApply apply;
    apply.effective_from = archived.effective_from;
    if (!began_) {
        apply.programs = file_.programs;
        apply.policies = file_.policies;
        began_ = true;
    }
    for (const Program& program : archived.programs) {
        if (std::ranges::count(file_.programs, program.id, &Program::id) == 0) {
            apply.programs.push_back(program);
        }
    }
    for (const Policy& policy : archived.policies) {
        if (std::ranges::count(file_.policies, policy.account, &Policy::account) == 0) {
            apply.policies.push_back(policy);
        }
    }
    return apply;
}

/// Leaves an input that cannot be decoded unchanged, so that the replay treats it as the worker
/// did.
void WhatIf::edit(worker::OwnedInput& input) {
    const auto record = decode_record(input.record);
    if (!record.ok() || record->meta.topic != Topic::kProgramApply || input.dead_reason) {
        return;
    }
    const auto request = decode_request(
        Topic::kProgramApply, record->meta.bulk ? std::string_view(input.bulk_body) : record->body);
    if (!request.ok()) {
        return;
    }
    Request edited = *request;
    edited.command = changed(std::get<ProgramApply>(request->command));
    const std::string body = encode_request(edited);
    RecordMeta meta = record->meta;
    meta.bulk.reset();
    envelope_.encode(meta, body);
    std::string whole(envelope_.prefix());
    whole += body;
    input.record = std::move(whole);
    input.bulk_body.clear();
    input.original.reset();
}

/// Replays all archives, and returns the new ledger of them in `folder`.
Result<std::unique_ptr<Ledger>> replay(const PreviewCommand& command,
                                       const std::filesystem::path& folder, const char* what,
                                       const std::function<void(worker::OwnedInput&)>& edit) {
    Progress progress;
    worker::RebuildOptions options;
    options.edit = edit;
    options.is_temporary = true;
    options.progress = [&](std::uint64_t inputs) {
        if (progress.is_due()) {
            progress.show(std::string(what) + ": " + grouped(inputs) + " inputs");
        }
    };
    {
        const Status replayed =
            worker::Rebuild::begin({command.archives.begin(), command.archives.end()}, folder,
                                   options)
                .and_then([](const std::unique_ptr<worker::Rebuild>& rebuild) {
                    return rebuild->replay();
                });
        if (!replayed.ok()) {
            return replayed.error();
        }
    }
    progress.clear();
    return store::EmbeddedLedger::open(folder, store::EmbeddedLedger::Mode::kReadOnly);
}

bool covers(const PreviewCommand& command, const OrderState& order) {
    return (!command.ordered_from || *command.ordered_from <= order.ordered_at) &&
           (!command.ordered_to || order.ordered_at < *command.ordered_to);
}

/// Compares the orders of both ledgers, which are the same orders because the inputs are.
Differences compare(const PreviewCommand& command, LedgerReader& before, LedgerReader& after) {
    Differences differences;
    OrderState changed;
    before.scan_shops([&](const ShopRow& shop) {
        if (shop.account_id == command.account) {
            before.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
                if (covers(command, order)) {
                    differences.add(&order,
                                    after.load_order(order.key, changed) ? &changed : nullptr);
                }
            });
        }
    });
    return differences;
}

Status check_account(const PreviewCommand& command, const ProgramApply& file) {
    for (const Program& program : file.programs) {
        if (program.account_id != command.account) {
            return invalid(command.file + ": expected programs of account " +
                           command.account.str() + "; " + program.id.str() + " is of " +
                           program.account_id.str());
        }
    }
    return Status::success();
}

Status run_program_preview(const Frame& frame, const PreviewCommand& command) {
    auto file = read_program_apply(frame, command.file, {});
    if (!file.ok()) {
        return file.error();
    }
    if (Status fits = check_account(command, *file); !fits.ok()) {
        return fits;
    }
    const auto folder = TemporaryFolder::make("sluice-preview");
    const auto before =
        folder.ok() ? replay(command, folder->path() / "before", "as it was", {}) : folder.error();
    if (!before.ok()) {
        return before.error();
    }
    WhatIf what_if(std::move(file).value());
    const auto after = replay(command, folder->path() / "after", "with the file",
                              [&what_if](worker::OwnedInput& input) { what_if.edit(input); });
    if (!after.ok()) {
        return after.error();
    }
    if (!what_if.began()) {
        return not_found("the archive has no program apply that the file could replace");
    }
    const auto then = before.value()->snapshot({}), now = after.value()->snapshot({});
    list_all(command.format, lists::difference_list(), compare(command, *then, *now).rows());
    return Status::success();
}

}  // namespace

void declare_program_preview(Subcommand group) {
    auto [app, command] = add_command(
        group, "preview",
        "Replay archives with a changed file, in a temporary folder, and print the differences",
        run_program_preview);
    add_file(app, "FILE", "", command.file, FileUse::kInput,
             "TOML file; programs that it does not name stay unchanged")
        .required();
    add_id(app, "--account", "A", command.account, "Account").required();
    add_texts(app, "--from", "ARCHIVE", command.archives,
              "Folder of an archive; repeat it for each node of a fleet")
        .required();
    add_value(app, "--ordered-from", "T", command.ordered_from, parse_time,
              "Only orders placed from this time on (RFC 3339)");
    add_value(app, "--ordered-to", "T", command.ordered_to, parse_time,
              "Only orders placed before this time (RFC 3339)");
    add_format(app, command.format);
}

}  // namespace sluice::cli
