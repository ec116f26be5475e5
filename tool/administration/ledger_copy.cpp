#include <unistd.h>

#include "core/protocol/signature.hpp"
#include "core/values/lookup.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/cli/progress.hpp"
#include "program/commands.hpp"
#include "program/system/crash_point.hpp"
#include "program/system/identity.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/copy/copy.hpp"
#include "worker/copy/snapshot.hpp"

namespace sluice::cli {
namespace {

using worker::CopyProof;
using worker::LedgerPlace;

constexpr std::uint64_t kRowsMax = 1'000'000;

struct CopyCommand {
    std::optional<LedgerPlace> from;
    LedgerPlace to;
    bool switches = false;
    std::uint64_t batch = worker::CopyOptions{}.rows_max;
    Format format = Format::kTable;
};

bool has_store(const Frame& frame) {
    return ::access(frame.paths().format.c_str(), F_OK) == 0;
}

/// Returns the ledger that this store's worker and commands use, or nothing if there is no store.
Result<std::optional<LedgerPlace>> ledger_in_use(const Frame& frame) {
    if (!has_store(frame)) {
        return std::optional<LedgerPlace>();
    }
    const auto shared = shared_ledger(frame);
    if (!shared.ok()) {
        return shared.error();
    }
    return worker::parse_place(*shared ? (*shared)->shown() : frame.paths().ledger.string());
}

/// Returns an error if the store must not use the copy.
Status check_switch(const Frame& frame, const LedgerPlace& from, const LedgerPlace& to,
                    const std::optional<LedgerPlace>& in_use) {
    if (!in_use) {
        return invalid("--switch: there is no store " + frame.store);
    }
    if (!from.is(*in_use) && !to.is(*in_use)) {
        return invalid("--switch: " + from.shown() + " is not the ledger of this store, that is " +
                       in_use->shown());
    }
    const auto own = to.store();
    if (!to.url && (!own || !std::filesystem::equivalent(own->root, frame.paths().root))) {
        return invalid("--switch: a store uses a database, or its own folder " +
                       frame.paths().ledger.string());
    }
    return Status::success();
}

void show_tables(const CopyProof& proof, Format format) {
    list_all(format,
             left("table") + right("source_rows target_rows") + in_files("source_sha256") +
                 left("target_sha256 equal"),
             proof.tables, [](const worker::ComparedTable& table) -> Row {
                 return {table.table,
                         table.rows_source,
                         table.rows_target,
                         to_hex(table.sha256_source),
                         to_hex(table.sha256_target),
                         table.is_equal()};
             });
}

std::uint64_t rows_of(const CopyProof& proof, std::string_view name) {
    const worker::ComparedTable* const table =
        find_item(proof.tables, name, &worker::ComparedTable::table);
    return table == nullptr ? 0 : table->rows_target;
}

std::string summary(const CopyProof& proof, const LedgerPlace& from, const LedgerPlace& to) {
    const std::uint64_t chains = rows_of(proof, "chains");
    std::string text = proof.was_there
                           ? to.shown() + " was a copy of " + from.shown() + " already, of "
                           : "copied ";
    text += grouped(proof.rows()) + " rows" +
            (proof.was_there ? "" : " from " + from.shown() + " to " + to.shown()) +
            ": all tables are equal and " + grouped(chains) +
            (chains == 1 ? " chain of hashes ends alike" : " chains of hashes end alike");
    text += proof.was_there ? "" : "; the audit of the copy found nothing";
    if (proof.changed_rows != 0) {
        text += "; " + std::to_string(proof.changed_rows) +
                " rows had texts that are no UTF-8, where the copy has '?'";
    }
    return text;
}

Status failed_proof(const CopyProof& proof, const LedgerPlace& to) {
    const worker::ComparedTable* const other =
        find_item(proof.tables, false, &worker::ComparedTable::is_equal);
    return Error{ErrorCode::kCorrupt,
                 (other != nullptr ? "table " + other->table + " differs: the copy in "
                                   : "the audit of the copy found: " + proof.findings.front() +
                                         ". The copy in ") +
                     to.shown() + " stays unfinished"};
}

auto shows_rows(Progress& progress) {
    return [&progress](std::uint64_t rows) {
        if (progress.is_due()) {
            progress.show(grouped(rows) + " rows copied");
        }
    };
}

Result<CopyProof> copy(const Frame& frame, const LedgerPlace& from, const LedgerPlace& to,
                       const CopyCommand& command, bool from_own) {
    worker::CopyOptions options;
    options.rows_max = command.batch;
    if (from_own) {
        options.writer = frame.paths();
    }
    Progress progress;
    options.progress = shows_rows(progress);
    return worker::copy_ledger(from, to, options);
}

Status run_copy(const Frame& frame, const CopyCommand& command) {
    const auto in_use = ledger_in_use(frame);
    if (!in_use.ok()) {
        return in_use.error();
    }
    if (!command.from && !*in_use) {
        return invalid("there is no store " + frame.store + ": name --from");
    }
    const LedgerPlace from = command.from ? *command.from : **in_use;
    if (!command.from && from.is(command.to)) {
        return conflict("this store uses " + from.shown() +
                        " already: name another ledger with --from");
    }
    if (command.switches) {
        if (Status may = check_switch(frame, from, command.to, *in_use); !may.ok()) {
            return may;
        }
    }
    const auto owner = from.store() ? from.store() : command.to.store();
    if (Status became = become_owner_of(owner.value_or(frame.paths()).root); !became.ok()) {
        return became;
    }
    const bool concerns_store = *in_use && (from.is(**in_use) || command.switches);
    const auto proof = copy(frame, from, command.to, command, concerns_store);
    if (!proof.ok()) {
        return proof.error();
    }
    show_tables(*proof, command.format);
    if (!proof->holds()) {
        return failed_proof(*proof, command.to);
    }
    worker::crash_point("switching");
    if (command.switches) {
        if (Status switched = switch_ledger(frame.paths(), command.to.url); !switched.ok()) {
            return switched;
        }
    }
    if (command.format == Format::kTable) {
        std::printf("%s\n", printable(summary(*proof, from, command.to)).c_str());
        if (command.switches) {
            std::printf("this store's worker and commands use it from now on\n");
        }
    }
    return Status::success();
}

Status run_snapshot(const Frame& frame, const std::string& ledger) {
    const Result<std::optional<LedgerPlace>> from =
        ledger.empty() ? ledger_in_use(frame) : worker::parse_place(ledger);
    if (!from.ok()) {
        return from.error();
    }
    if (!has_store(frame)) {
        return invalid("there is no store " + frame.store + ", whose command key seals a snapshot");
    }
    const auto held = store::HeldCommandKeys::load(frame.paths().command_key);
    if (!held.ok()) {
        return held.error();
    }
    Progress progress;
    const auto made = worker::make_snapshot(**from, frame.paths().snapshots, held->keys(), now(),
                                            shows_rows(progress));
    progress.clear();
    if (!made.ok()) {
        return made.error();
    }
    std::printf("%s: %s rows of %zu tables, sealed\n", printable(made->folder.string()).c_str(),
                grouped(made->proof.rows()).c_str(), made->proof.tables.size());
    return Status::success();
}

}  // namespace

void declare_ledger_snapshot(Subcommand group) {
    auto [app, ledger] = add_command(
        group, "snapshot",
        "Seal a copy of the ledger, for doctor --replay with an archive that reaches less far back",
        run_snapshot);
    add_ledger(app, ledger);
}

void declare_ledger_copy(Subcommand group) {
    auto [app, command] = add_command(
        group, "copy", "Copy a ledger between folder and database, and prove both equal", run_copy);
    add_value(app, "--from", "DIR|URL", command.from, worker::parse_place,
              "Source: a ledger's folder, or postgres://... (default: the ledger of this store)");
    add_value(
        app, "--to", "DIR|URL", command.to, worker::parse_place,
        "Target: a new folder, a ledger without rows, or a migrated database without a ledger")
        .required();
    add_flag(app, "--switch", command.switches,
             "Make worker and commands of this store use the copy once it is proved equal");
    add_count(app, "--batch", "N", command.batch, 1, kRowsMax,
              "Rows per transaction, 1 to 1000000 (default: 10000)");
    add_format(app, command.format);
}

}  // namespace sluice::cli
