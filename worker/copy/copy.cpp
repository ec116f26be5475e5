#include "worker/copy/copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "core/audit/audit.hpp"
#include "core/copy/row_sink.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "lmdb_store/ledger/fill.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "pg_store/ledger/fill.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "program/system/crash_point.hpp"
#include "worker/drain/target_ledger.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::worker {

namespace fs = std::filesystem;

bool LedgerPlace::is(const LedgerPlace& other) const {
    if (url || other.url) {
        return url && other.url && url->shown() == other.url->shown();
    }
    std::error_code unknown;
    return folder == other.folder || fs::equivalent(folder, other.folder, unknown);
}

std::optional<store::StorePaths> LedgerPlace::store() const {
    if (url) {
        return std::nullopt;
    }
    const store::StorePaths paths(folder.parent_path());
    const bool is_store = ::access(paths.format.c_str(), F_OK) == 0;
    return is_store && paths.ledger.filename() == folder.filename() ? std::optional(paths)
                                                                    : std::nullopt;
}

Result<LedgerPlace> parse_place(std::string_view text) {
    if (pg::Url::is_one(text)) {
        auto url = pg::Url::parse(text);
        return url.ok() ? LedgerPlace{std::move(*url), {}} : Result<LedgerPlace>(url.error());
    }
    std::error_code failure;
    const fs::path whole = fs::absolute(fs::path(text), failure).lexically_normal();
    if (text.empty() || failure) {
        return invalid("expected a folder, or postgres://...");
    }
    return LedgerPlace{std::nullopt, whole.has_filename() ? whole : whole.parent_path()};
}

namespace {

using store::EmbeddedFill;
using store::EmbeddedLedger;
using store::RowDigests;

constexpr std::size_t kFindingsMax = 10;

// ---- The two ends -------------------------------------------------------------------------------

/// A reader with the ledger that it reads.
struct Source {
    std::unique_ptr<EmbeddedLedger> embedded;  ///< nullptr for a database.
    std::unique_ptr<WholeReader> reader;
};

/// @param alone  Locks out every node's writes while the source is open.
Result<Source> open_source(const LedgerPlace& from, bool alone) {
    if (from.url) {
        auto reader = pg::open_whole(*from.url, alone);
        return reader ? Source{nullptr, std::move(*reader)} : Result<Source>(reader.error());
    }
    auto ledger = EmbeddedLedger::open(from.folder, EmbeddedLedger::Mode::kReadOnly);
    if (!ledger) {
        return ledger.error();
    }
    auto reader = (*ledger)->whole_snapshot();
    return Source{std::move(*ledger), std::move(reader)};
}

/// Looks for damaged rows, then performs the audit of rule D1.
std::vector<std::string> findings_of(std::vector<std::string> damage, WholeReader& reader) {
    if (damage.empty()) {
        return mapped(audit_ledger(reader, kFindingsMax),
                      [](const AuditFinding& finding) { return to_string(finding); });
    }
    return damage;
}

/// A folder or a database that receives the copy.
struct Target {
    std::unique_ptr<LedgerFill> fill;
    EmbeddedFill* folder = nullptr;  ///< `fill`, if it is a folder.

    [[nodiscard]] std::vector<std::string> findings(WholeReader& written) const {
        return findings_of(
            folder != nullptr ? folder->verify(kFindingsMax) : std::vector<std::string>(), written);
    }
};

Result<Target> begin_target(const LedgerPlace& from, const LedgerPlace& to,
                            const CopyOptions& options) {
    const auto committed = [told = options.progress](std::uint64_t rows) {
        crash_point("copying");
        if (told) {
            told(rows);
        }
    };
    if (to.url) {
        auto fill = pg::PostgresFill::begin(*to.url, from.shown(), {options.rows_max, committed});
        return fill ? Target{std::move(*fill)} : Result<Target>(fill.error());
    }
    auto fill = EmbeddedFill::begin(to.folder, from.shown(), {options.rows_max, committed});
    if (!fill) {
        return fill.error();
    }
    EmbeddedFill* const folder = fill->get();
    return Target{std::move(*fill), folder};
}

// ---- What may be copied -------------------------------------------------------------------------

/// Returns a value that every input changes.
std::vector<std::pair<std::string, SequenceNumber>> positions_of(LedgerReader& ledger) {
    return mapped(heads_of(ledger),
                  [](const LedgerHead& head) { return std::pair(head.node, head.applied_seq); });
}

/// Locks out the workers of stores that may write one of the two ledgers.
Result<std::vector<WorkerLock>> lock_workers(const LedgerPlace& from, const LedgerPlace& to,
                                             const CopyOptions& options) {
    std::vector<store::StorePaths> stores;
    for (const auto& paths : {options.writer, from.store(), to.store()}) {
        const bool known = paths && std::ranges::any_of(stores, [&](const auto& had) {
                               return std::filesystem::equivalent(had.root, paths->root);
                           });
        if (paths && !known) {
            stores.push_back(*paths);
        }
    }
    std::vector<WorkerLock> locks;
    for (const store::StorePaths& paths : stores) {
        auto lock = WorkerLock::take_soon(paths);
        if (!lock) {
            return lock.error();
        }
        locks.push_back(std::move(lock).value());
    }
    return locks;
}

/// Refuses to copy a fleet's ledger into a folder, because a folder is fed by one queue only.
Status check_nodes(const LedgerPlace& from, const LedgerPlace& to,
                   const std::vector<LedgerHead>& heads) {
    if (!from.url || to.url || heads.size() <= 1) {
        return {};
    }
    return conflict(std::to_string(heads.size()) + " nodes write this ledger (" +
                    joined(heads, ", ", std::mem_fn(&LedgerHead::node)) +
                    "): it stays in PostgreSQL, for a folder belongs to one of them");
}

/// Checks that the ledger of a store matches the store's queue and shop numbers.
Status check_store(const LedgerPlace& to, const std::vector<LedgerHead>& heads,
                   LedgerReader& source) {
    const auto paths = to.store();
    if (!paths) {
        return {};
    }
    const auto queue = store::Queue::open(*paths, {});
    const auto fill = queue ? (*queue)->fill() : queue.error();
    if (!fill) {
        return fill.error();
    }
    const std::string uuid = (*queue)->uuid();
    const LedgerHead* const own = find_item(heads, uuid, &LedgerHead::node);
    if (own == nullptr) {
        return heads.empty()
                   ? Status()
                   : conflict("the ledger is that of queue " + heads.front().node +
                              ", the queue of \"" + paths->root.string() + "\" is " + uuid);
    }
    auto registry = store::Registry::open(*paths, store::Registry::Mode::kReadOnly);
    if (!registry) {
        return registry.error();
    }
    Status fits = check_position(*fill, own->applied_seq);
    return fits ? check_shops(**registry, source) : fits;
}

Status check_source(const LedgerPlace& from, Source& source) {
    std::vector<std::string> damage;
    if (source.embedded) {
        damage = source.embedded->verify({}, kFindingsMax);
    }
    const std::vector<std::string> found = findings_of(std::move(damage), *source.reader);
    if (found.empty()) {
        return {};
    }
    return corrupt("the source " + from.shown() + " is damaged: " + found.front() +
                   ". Nothing was copied; `sluice doctor` says more");
}

// ---- The proof ----------------------------------------------------------------------------------

/// Checks that the source has not advanced since it was read.
Status check_unmoved(const LedgerPlace& from, LedgerReader& read) {
    const auto now = open_source(from, false);
    if (!now) {
        return now.error();
    }
    if (positions_of(*now->reader) != positions_of(read)) {
        return conflict("a worker wrote the source meanwhile: stop it, then copy again");
    }
    return {};
}

/// Checks whether the target, which is a ledger, is a copy of this source.
Result<CopyProof> compare_places(const LedgerPlace& to, Source& source) {
    auto target = open_source(to, false);
    if (!target) {
        return target.error();
    }
    CopyProof proof{.was_there = true};
    if (positions_of(*target->reader) == positions_of(*source.reader)) {
        // A database stores texts in its own form, so compare in that form.
        const auto form = [](const std::string& text) {
            return pg::PostgresFill::as_stored_there(text);
        };
        const auto there = RowDigests::make(form);
        const auto here = RowDigests::make(form);
        walk_ledger(*source.reader, *here);
        walk_ledger(*target->reader, *there);
        proof.tables = side_by_side(here->take(), there->take());
    }
    if (proof.tables.empty() || !proof.holds()) {
        return conflict(to.shown() + " holds another ledger already: name another place, or " +
                        (to.url ? "drop it (DROP SCHEMA sluice_ledger CASCADE) and migrate again"
                                : "move it away"));
    }
    return proof;
}

Result<CopyProof> copy_rows(const LedgerPlace& from, const LedgerPlace& to,
                            const CopyOptions& options, Source& source) {
    const auto target = begin_target(from, to, options);
    if (!target) {
        return target.error();
    }
    LedgerFill& fill = *target->fill;
    const auto form = [&fill](const std::string& text) { return fill.as_stored(text); };
    const auto here = RowDigests::make(form);
    walk_ledger(*source.reader, fill, *here);
    fill.flush();
    const auto there = RowDigests::make({});
    CopyProof proof;
    {
        const std::unique_ptr<WholeReader> written = fill.written();
        walk_ledger(*written, *there);
        proof.tables = side_by_side(here->take(), there->take());
        proof.changed_rows = here->changed_rows();
        proof.findings = target->findings(*written);
    }
    if (!proof.holds()) {
        return proof;
    }
    if (Status unmoved = options.is_snapshot ? Status() : check_unmoved(from, *source.reader);
        !unmoved) {
        return unmoved.error();
    }
    crash_point("proved");
    fill.finish();
    return proof;
}

Result<CopyProof> copy_locked(const LedgerPlace& from, const LedgerPlace& to,
                              const CopyOptions& options) {
    auto source = open_source(from, !options.is_snapshot);
    if (!source) {
        return source.error();
    }
    const std::vector<LedgerHead> heads = heads_of(*source->reader);
    Status fits = options.is_snapshot ? Status() : check_nodes(from, to, heads);
    fits = fits ? check_store(to, heads, *source->reader) : fits;
    if (!fits) {
        return fits.error();
    }
    const auto there =
        to.url ? pg::PostgresFill::holds_ledger(*to.url) : EmbeddedFill::holds_ledger(to.folder);
    if (!there) {
        return there.error();
    }
    if (*there) {
        return compare_places(to, *source);
    }
    if (Status sound = check_source(from, *source); !sound) {
        return sound.error();
    }
    return copy_rows(from, to, options, *source);
}

}  // namespace

std::vector<ComparedTable> side_by_side(const std::vector<store::TableDigest>& source,
                                        const std::vector<store::TableDigest>& target) {
    std::vector<ComparedTable> tables;
    for (std::size_t i = 0; i < source.size(); ++i) {
        tables.push_back(
            {source[i].table, source[i].rows, target[i].rows, source[i].sha256, target[i].sha256});
    }
    return tables;
}

bool CopyProof::holds() const {
    return findings.empty() &&
           std::ranges::all_of(tables, [](const ComparedTable& table) { return table.is_equal(); });
}

std::uint64_t CopyProof::rows() const {
    return sum_of(tables, &ComparedTable::rows_target);
}

Result<CopyProof> copy_ledger(const LedgerPlace& from, const LedgerPlace& to,
                              const CopyOptions& options) {
    if (from.is(to)) {
        return invalid("source and target are one ledger");
    }
    try {
        const auto locks = options.is_snapshot ? Result(std::vector<WorkerLock>())
                                               : lock_workers(from, to, options);
        return locks ? copy_locked(from, to, options) : Result<CopyProof>(locks.error());
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::worker
