// sluice program preview
#include "worker/books/program_preview.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/apply/dry_run.hpp"
#include "worker/access/dry_run.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/progress.hpp"
#include "worker/drain/rebuild.hpp"
#include "worker/drain/what_if.hpp"
#include "worker/setup/program_apply.hpp"

namespace sluice::cli {
namespace {

struct PreviewCommand {
    std::string file;
    AccountId account;
    std::vector<std::string> archives;
    std::optional<Timestamp> ordered_from, ordered_to;
    Format format = Format::kTable;
};

/// A folder below the system's one for temporary files; gone with the object.
class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-preview-XXXXXX");
        if (::mkdtemp(name.data()) != nullptr) {
            path_ = name;
        }
    }
    ~TempFolder() {
        std::error_code ignored;
        if (!path_.empty()) {
            std::filesystem::remove_all(path_, ignored);
        }
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// Replays all archives into one new ledger.
Result<std::unique_ptr<Ledger>> replay(const PreviewCommand& command,
                                       const std::filesystem::path& into, const char* what,
                                       const std::function<void(worker::OwnedInput&)>& edit) {
    Progress progress;
    worker::RebuildOptions options;
    options.edit = edit;
    options.progress = [&](std::uint64_t inputs) {
        if (progress.is_due()) {
            progress.show(std::string(what) + ": " + grouped(inputs) + " inputs");
        }
    };
    {
        auto rebuild = worker::Rebuild::begin({command.archives.begin(), command.archives.end()},
                                              into, options);
        if (!rebuild.ok()) {
            return rebuild.error();
        }
        if (Status replayed = rebuild.value()->replay(); !replayed.ok()) {
            return replayed.error();
        }
    }
    progress.clear();
    auto ledger = store::EmbeddedLedger::open(into, store::EmbeddedLedger::Mode::kReadOnly);
    return ledger.ok() ? Result<std::unique_ptr<Ledger>>(std::move(ledger).value())
                       : Result<std::unique_ptr<Ledger>>(ledger.error());
}

bool covers(const PreviewCommand& command, const OrderState& order) {
    return (!command.ordered_from || *command.ordered_from <= order.ordered_at) &&
           (!command.ordered_to || order.ordered_at < *command.ordered_to);
}

/// Both ledgers have the same inputs, so they have the same orders.
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
                return true;
            });
        }
        return true;
    });
    return differences;
}

Status check_account(const PreviewCommand& command, const ProgramApply& file) {
    for (const Program& program : file.programs) {
        if (program.account_id != command.account) {
            return Error{ErrorCode::kInvalid, command.file + ": expected programs of account " +
                                                  command.account.str() + "; " + program.id.str() +
                                                  " is of " + program.account_id.str()};
        }
    }
    return Status::success();
}

Status run_preview(const Frame& frame, const PreviewCommand& command) {
    auto file = read_program_apply(frame, command.file, {});
    if (!file.ok()) {
        return file.error();
    }
    if (Status fits = check_account(command, *file); !fits.ok()) {
        return fits;
    }
    const TempFolder folder;
    if (folder.path().empty()) {
        return Error{ErrorCode::kIo, "cannot make a folder below " +
                                         std::filesystem::temp_directory_path().string()};
    }
    const auto before = replay(command, folder.path() / "before", "as it was", {});
    if (!before.ok()) {
        return before.error();
    }
    worker::WhatIf what_if(std::move(file).value());
    const auto after = replay(command, folder.path() / "after", "with the file",
                              [&what_if](worker::OwnedInput& input) { what_if.edit(input); });
    if (!after.ok()) {
        return after.error();
    }
    if (!what_if.began()) {
        return Error{ErrorCode::kNotFound,
                     "the archive has no program apply, which the file could stand in for"};
    }
    const auto then = before.value()->snapshot({}), now = after.value()->snapshot({});
    Listing listing(command.format, difference_columns());
    for (const DryRunRow& row : compare(command, *then, *now).rows()) {
        listing.add(difference_row(row));
    }
    listing.finish();
    return Status::success();
}

/// A LedgerFailure becomes the Status.
Status run_caught(const Frame& frame, const PreviewCommand& command) {
    try {
        return run_preview(frame, command);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace

void declare_program_preview(Subcommand group) {
    auto [app, command] = add_command(
        group, "preview",
        "Replay an archive under a changed file, in a folder of its own, and print what differs",
        run_caught);
    add_text(app, "FILE", "", command.file, "FILE.toml; programs not in it stay as they were")
        .required();
    add_id(app, "--account", "A", command.account, "The account").required();
    add_texts(app, "--from", "ARCHIVE", command.archives,
              "The archive's folder; of a fleet, one per node: merged by time of receipt")
        .required();
    add_value(app, "--ordered-from", "T", command.ordered_from, parse_time,
              "Only orders placed from this time on (RFC 3339)");
    add_value(app, "--ordered-to", "T", command.ordered_to, parse_time,
              "Only orders placed before this time (RFC 3339)");
    add_format(app, command.format);
}

}  // namespace sluice::cli
