// Doctor: the ledger's chains, balances and checkpoint.
#include "lmdb_store/ledger/ledger.hpp"

#include <algorithm>

#include "core/apply/work.hpp"
#include "core/audit/audit.hpp"
#include "core/commands/seal.hpp"
#include "core/values/shell_word.hpp"
#include "core/values/texts.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "pg_store/connection/examine.hpp"
#include "tool/doctor/doctor.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kLedgerProblemsMax = 10;
constexpr const char* kSound =
    "the chain of hashes holds; balances, payouts, orders and periods agree with it";

/// Reports damage that LMDB itself can find. Returns false if there is some.
bool check_own_rows(const Frame& frame, Findings& findings) {
    const std::string remedy = rebuild_remedy(frame.paths());
    const auto node = node_of(frame);
    const auto add = [&](const Error& error) {
        if (error.code == ErrorCode::kPermission || error.code == ErrorCode::kBusy) {
            add_damage(frame.paths(), "ledger", error, findings);
        } else {
            findings.push_back({"ledger", Health::kProblem, error.message, remedy});
        }
        return false;
    };
    auto ledger =
        store::EmbeddedLedger::open(frame.paths().ledger, store::EmbeddedLedger::Mode::kReadOnly);
    if (!ledger.ok()) {
        return add(ledger.error());
    }
    try {
        const auto problems = ledger.value()->verify(node.ok() ? *node : "", kLedgerProblemsMax);
        for (const std::string& problem : problems) {
            findings.push_back({"journal", Health::kProblem, problem, remedy});
        }
        return problems.empty();
    } catch (const LedgerFailure& failure) {
        return add(failure.error());
    }
}

/// Performs the audit of rule D1, which is the same on both ledgers.
void audit(const Frame& frame, const std::string& what_to_do, Findings& findings) {
    std::vector<AuditFinding> found;
    const Status read = with_snapshot(
        frame, {}, [&](LedgerReader& reader) { found = audit_ledger(reader, kLedgerProblemsMax); });
    if (!read.ok()) {
        findings.push_back({"ledger", Health::kProblem, read.error().message,
                            "see docs/operations.md; inputs wait in the queue meanwhile"});
        return;
    }
    for (const AuditFinding& one : found) {
        findings.push_back({"journal", Health::kProblem, to_string(one), what_to_do});
    }
    if (found.empty()) {
        findings.push_back({"journal", Health::kOk, kSound});
    }
}

/// Checks that the ledger belongs to the queue. Both may advance during the check, so the ledger is
/// read before and after, and only a position that is wrong both times is a finding.
void check_place(const Frame& frame, Findings& findings) {
    const auto before = applied_seq(frame, {}, ReadFrom::kAnyServer);
    const auto queue = store::Queue::open(frame.paths(), queue_options());
    if (!before.ok() || !queue.ok()) {
        return;  // other checks report the cause
    }
    const auto fill = queue.value()->fill();
    const auto after = applied_seq(frame, {}, ReadFrom::kAnyServer);
    if (!fill.ok() || !after.ok()) {
        return;
    }
    const SequenceNumber applied =
        *before > fill->last_seq ? *before : std::min(*after, fill->last_seq);
    if (Status fits = worker::check_position(*fill, applied); !fits.ok()) {
        findings.push_back({"ledger", Health::kProblem, fits.error().message,
                            "docs/operations.md, Backup and restore; the worker does not start"});
        return;
    }
    const auto gap = queue.value()->first_gap(applied);
    const auto now = applied_seq(frame, {}, ReadFrom::kAnyServer);
    if (gap.ok() && *gap && now.ok() && *now < (*gap)->first) {
        findings.push_back(
            {"queue", Health::kProblem, worker::missing_inputs((*gap)->first, (*gap)->last).message,
             "docs/operations.md, Inputs are missing; the worker stops before them"});
    }
}

/// Reports orders that are still to be attributed (rule A2) or rated again (M4), because reports
/// may change.
void check_work(const Frame& frame, Findings& findings) {
    WorkLeft work;
    const Status read =
        with_snapshot(frame, {}, [&](LedgerReader& ledger) { work = work_left(ledger); });
    if (read.ok() && work.pieces != 0) {
        findings.push_back({"attribution", Health::kNote, work_text(work.pieces),
                            "the worker does it before the next input; see that it runs"});
    }
}

void check_replication(const pg::Examined& found, Findings& findings) {
    constexpr const char* kCheck = "replication";
    if (found.standby) {
        findings.push_back({kCheck, Health::kNote, "the server that answered is a standby"});
        return;
    }
    const std::string standbys = std::to_string(found.standbys) + " standbys, ";
    if (found.synchronous_names.empty()) {
        findings.push_back(
            {kCheck, Health::kNote,
             standbys +
                 "none synchronous: if this server is lost, so is what it took last, payouts "
                 "among it",
             "set synchronous_standby_names (Patroni: synchronous_mode), if money must survive the "
             "loss of a machine"});
    } else if (found.may_see_replication && found.synchronous == 0) {
        findings.push_back({kCheck, Health::kProblem,
                            standbys + "none synchronous, though synchronous_standby_names wants "
                                       "one: commits wait",
                            "bring a standby back"});
    } else {
        findings.push_back({kCheck, Health::kOk,
                            found.may_see_replication
                                ? standbys + std::to_string(found.synchronous) + " synchronous"
                                : "synchronous_standby_names is set"});
    }
}

/// Checks the server that holds a fleet's ledger.
void check_server(const pg::Url& url, Findings& findings) {
    const auto found = pg::examine(url);
    if (!found.ok()) {
        return;  // the journal's check reports the cause
    }
    if (found->lock_blocks) {
        findings.push_back(
            {"writer lock", Health::kOk, "two sessions shut each other out with an advisory lock"});
    } else {
        findings.push_back({"writer lock", Health::kProblem,
                            "advisory locks do not block here: nodes of a fleet do not shut each "
                            "other out",
                            "connect past the pooler, or use an engine with advisory locks; see "
                            "docs/postgresql.md"});
    }
    check_replication(*found, findings);
}

}  // namespace

std::string rebuild_remedy(const store::StorePaths& paths) {
    const auto made = [&paths](const std::string& ending) {
        return shell_word(paths.root.native() + ".ledger" + ending);
    };
    // While a process has the ledger open, lock.mdb keeps the number of its last transaction. By
    // that number LMDB may read the older one of the two states in the new file.
    return "stop the worker, the page, creators' pages and notifications, and keep a copy of " +
           paths.ledger.string() + "; `" +
           sluice_command(paths, "ledger rebuild --from " + shell_word(paths.archive.native()) +
                                     " --into " + made("")) +
           "`, which names the first difference, if it can compare them; then `cat " +
           made("/data.mdb") + " > " + shell_word((paths.ledger / "data.mdb").native()) + "`";
}

/// Reports commands without a valid seal: nginx, or another user who may append, wrote them.
void check_seals(const Frame& frame, Findings& findings) {
    std::vector<std::string> numbers;
    const Status read = with_snapshot(frame, {}, [&](LedgerReader& ledger) {
        ledger.scan_dead([&numbers](const DeadLetter& letter) {
            if (is_not_sealed(letter.reason)) {
                numbers.push_back(std::to_string(letter.seq.value));
            }
        });
    });
    if (read.ok() && !numbers.empty()) {
        findings.push_back(
            {"seal", Health::kProblem,
             "commands without a valid seal, which were not applied: " + joined(numbers, ", "),
             sluice_command(frame.paths(), "dead show SEQ") +
                 "; find who wrote to the queue (docs/security.md); then " +
                 sluice_command(frame.paths(), "dead discard SEQ --reason TEXT")});
    }
}

void check_ledger(const Frame& frame, Findings& findings) {
    check_place(frame, findings);
    check_seals(frame, findings);
    check_work(frame, findings);
    const auto own = has_own_ledger(frame);
    if (own.ok() && *own) {
        if (check_own_rows(frame, findings)) {
            audit(frame, rebuild_remedy(frame.paths()), findings);
        }
        return;
    }
    if (const auto shared = shared_ledger(frame); shared.ok() && *shared) {
        check_server(**shared, findings);
    }
    audit(frame, "keep the database as it is and look at who wrote to it", findings);
}

}  // namespace sluice::cli
