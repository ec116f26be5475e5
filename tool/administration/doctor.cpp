// sluice doctor
#include "tool/doctor/doctor.hpp"

#include <chrono>

#include "lmdb_store/environment/lock_wait.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/cli/progress.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "program/system/process.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/replay/replay.hpp"

namespace sluice::cli {
namespace {

struct DoctorCommand {
    std::string nginx;  ///< Empty means the installed one.
    std::string nginx_conf;
    bool replays = false;
    std::string mends;                  ///< A file or folder of the store.
    std::vector<std::string> archives;  ///< Empty means the store's own.
    std::vector<std::string> keys;      ///< Command keys of other stores.
    std::string ledger;                 ///< --ledger
    Format format = Format::kTable;
};

Findings check_all(const Frame& frame, const NginxDump& nginx) {
    const store::StorePaths paths = frame.paths();
    const store::LockLimit limit(std::chrono::seconds(3));  // several checks open the queue
    Findings findings;
    findings.push_back(check_format(paths));
    if (findings.back().health == Health::kOk) {
        check_permissions(paths, findings);
        findings.push_back(check_key(paths));
        findings.push_back(check_command_key(paths));
        check_disk(paths, findings);
        check_archive(paths, findings);
        findings.push_back(check_clock(paths, now()));
        if (check_lmdb(paths, findings)) {
            check_apart("readers", kRestore, findings,
                        [&](Findings& found) { check_readers(paths, found); });
            check_apart("registry", kRestore, findings,
                        [&](Findings& found) { check_registry(paths, found); });
            check_apart("queue", kRestore, findings,
                        [&](Findings& found) { check_queue(frame, now(), found); });
            check_apart("ledger", rebuild_remedy(paths), findings,
                        [&](Findings& found) { check_ledger(frame, found); });
            check_apart("links", rebuild_remedy(paths), findings,
                        [&](Findings& found) { check_links(frame, nginx.configuration, found); });
        }
    }
    check_units(paths, findings);
    check_nginx(paths, nginx, findings);
    return findings;
}

// ---- The audit that replays ---------------------------------------------------------------------

Result<worker::LedgerPlace> audited_ledger(const Frame& frame, const std::string& given) {
    if (!given.empty()) {
        return worker::parse_place(given);
    }
    const auto shared = shared_ledger(frame);
    if (!shared.ok()) {
        return shared.error();
    }
    return worker::LedgerPlace{*shared, frame.paths().ledger};
}

Result<worker::ReplayOptions> replay_options(const Frame& frame, const DoctorCommand& command) {
    auto place = audited_ledger(frame, command.ledger);
    if (!place.ok()) {
        return place.error();
    }
    worker::ReplayOptions options;
    options.ledger = std::move(*place);
    options.archives.assign(command.archives.begin(), command.archives.end());
    if (options.archives.empty()) {
        options.archives.push_back(frame.paths().archive);
    }
    options.own = frame.paths();
    options.snapshots = frame.paths().snapshots;
    return options;
}

void show_replay(const worker::ReplayOutcome& outcome, Format format) {
    if (format == Format::kTable && outcome.is_equal()) {
        return;
    }
    const auto shown = [](const std::optional<std::string>& text) {
        return text ? Json(*text) : Json();
    };
    list_all(format, {{"table"}, {"key"}, {"column"}, {"stored"}, {"right"}}, outcome.differences,
             [&](const store::RowDifference& difference) -> Row {
                 return {difference.table, difference.key, text_or_null(difference.column),
                         shown(difference.stored), shown(difference.right)};
             });
}

Error differs(const worker::ReplayOutcome& outcome) {
    std::string text = "the ledger is not what its " + grouped(outcome.inputs) +
                       " inputs make of it: " + grouped(outcome.differences.size()) +
                       (outcome.differences.size() == 1 ? " difference" : " differences");
    if (outcome.more != 0) {
        text += ", and " + grouped(outcome.more) + " more that are not shown";
    }
    return {ErrorCode::kCorrupt, text + "; see docs/operations.md, Audit the ledger"};
}

Status run_replay(const Frame& frame, const DoctorCommand& command) {
    auto options = replay_options(frame, command);
    if (!options.ok()) {
        return options.error();
    }
    worker::ArchiveSeals seals;
    if (Status added = add_archive_keys(frame, command.keys, seals); !added.ok()) {
        return added;
    }
    options->seals = &seals;
    const auto temporary = TemporaryFolder::make("sluice-replay");
    if (!temporary.ok()) {
        return temporary.error();
    }
    Progress progress;
    const std::atomic<bool>& stop = catch_stop_signals();
    options->temporary = temporary->path();
    options->stops = [&stop] { return stop.load(); };
    options->progress = [&progress](std::uint64_t done, std::uint64_t of) {
        if (progress.is_due()) {
            progress.show(replay_line(done, of, progress.is_terminal()));
        }
    };
    const auto outcome = worker::replay_ledger(*options);
    progress.clear();
    if (!outcome.ok()) {
        return outcome.error();
    }
    show_replay(*outcome, command.format);
    if (outcome->snapshot) {
        std::fprintf(stderr,
                     "sluice: the archive no longer reaches back to the first input: compared from "
                     "the snapshot %s on; edits before it are in both\n",
                     printable(outcome->snapshot->string()).c_str());
    }
    warn_unchecked_seals(seals);
    if (!outcome->is_equal()) {
        return differs(*outcome);
    }
    if (command.format == Format::kTable) {
        std::printf("%s inputs were replayed: all %zu tables with %s rows are equal\n",
                    grouped(outcome->inputs).c_str(), outcome->tables.size(),
                    grouped(outcome->rows()).c_str());
    }
    return Status::success();
}

Status run_doctor(const Frame& frame, const DoctorCommand& command) {
    if (!command.mends.empty()) {
        return mend(frame.paths(), command.mends);
    }
    const NginxDump nginx = command.replays
                                ? NginxDump{}
                                : dump_nginx(frame.paths(), command.nginx, command.nginx_conf);
    if (Status became = become_store_owner(frame); !became.ok()) {
        return became;
    }
    if (command.replays) {
        return run_replay(frame, command);
    }
    std::size_t problems = 0;
    list_all(command.format, {{"check"}, {"result"}, {"finding"}, {"remedy"}},
             check_all(frame, nginx), [&](const Finding& finding) -> Row {
                 problems += finding.health == Health::kProblem ? 1u : 0u;
                 return {finding.check, to_string(finding.health), finding.text,
                         text_or_null(finding.remedy)};
             });
    if (problems == 0) {
        return Status::success();
    }
    return conflict(std::to_string(problems) + (problems == 1 ? " problem" : " problems"));
}

}  // namespace

void declare_doctor(Subcommand app) {
    auto [doctor, command] =
        add_command(app, "doctor", "Check store, worker and nginx, and name remedies", run_doctor);
    doctor.keeps_user();  // until nginx has described itself
    const Option nginx = add_text(doctor, "--nginx", "PROGRAM", command.nginx,
                                  "nginx to ask (default: the installed one, or a running one "
                                  "that has this store)");
    const Option conf = add_text(doctor, "--nginx-conf", "FILE", command.nginx_conf,
                                 "nginx.conf to check (default: the one that nginx reads)");
    const Option replay =
        add_flag(doctor, "--replay", command.replays,
                 "Replay the archive in a temporary folder (TMPDIR) instead, and compare every row "
                 "of every table with the ledger");
    const Option mended =
        add_text(doctor, "--mend", "PATH", command.mends,
                 "Give this file or folder of the store its owner and mode instead, or move it "
                 "away if it is of another kind; follows no link");
    mended.excludes(replay).excludes(conf).excludes(nginx);
    replay.excludes(conf).excludes(nginx);
    add_texts(doctor, "--from", "ARCHIVE", command.archives,
              "Folder of an archive; repeat it for each node of a fleet (default: the store's own)")
        .needs(replay);
    add_command_keys(doctor, command.keys);
    add_ledger(doctor, command.ledger).needs(replay);
    add_format(doctor, command.format);
}

}  // namespace sluice::cli
