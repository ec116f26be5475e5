// The PostgreSQL ledger: core/ledger/ledger.hpp on a database that many nodes share.
//
// Any number of nodes write, with one writer each (the holder of the worker lock). An input's
// effects and its node's checkpoint are one transaction. The next begin() settles a commit whose
// outcome is unknown: it waits for the end of the old session and reads the checkpoint.
//
// Errors: LedgerFailure as in core/ledger/ledger.hpp. kBusy after a conflict with another node, kIo
// if the database is unreachable, kInvalid if it rejects a value of these inputs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/copy/row_sink.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

struct LedgerOptions {
    /// Called a few times a second during a wait for an answer, with its duration so far. Returns
    /// false to give up (kBusy; a commit's outcome is then unknown). May be empty.
    std::function<bool(std::chrono::milliseconds)> waiting;
    /// Longest time that the server spends on a statement, and on one lock of it (kBusy). 0 means
    /// no limit.
    std::chrono::milliseconds statement_limit{0}, lock_limit{0};
    /// Called with a notice for the log. May be empty.
    std::function<void(const std::string&)> notice;
};

/// State that outlives a connection: a commit whose outcome is unknown, and the acknowledged
/// checkpoints.
struct InDoubt {
    std::optional<SequenceNumber> checkpoint;  ///< The checkpoint that the commit would have set.
    /// The last checkpoint that the database reported, by node. If it reports a lower one later, a
    /// server took over that lacks acknowledged commits: kConflict, before anything else is
    /// applied.
    std::map<std::string, SequenceNumber, std::less<>> acknowledged;
};

class PostgresLedger : public Ledger {
public:
    using Mode = Access;  ///< With kReadPrimary, confirm() is of use.

    /// Connects and compares the schema: kUnsupported if it is older or newer than this program's,
    /// kNotFound if there is none; the message says what to do.
    /// @param in_doubt  Shared by the openings of one process, so that the next one settles a
    /// commit that the last one began.
    [[nodiscard]] static Result<std::unique_ptr<PostgresLedger>> open(
        const Url& url, Mode mode, LedgerOptions options,
        std::shared_ptr<InDoubt> in_doubt = std::make_shared<InDoubt>());
};

/// Returns one state of the ledger, of all nodes, as the primary has it.
/// Errors: as PostgresLedger::open(), and kBusy if a session that may write is connected.
/// @param locks_writers  Lock out the commits of all nodes while the reader lives.
[[nodiscard]] Result<std::unique_ptr<WholeReader>> open_whole(const Url& url, bool locks_writers);

/// Returns one state of the ledger while workers write: a snapshot, which lives as long as the
/// reader. Errors: as PostgresLedger::open().
[[nodiscard]] Result<std::unique_ptr<WholeReader>> whole_snapshot(const Url& url);

/// A value that sluice does not read while it walks a ledger, because it repeats other columns, and
/// that contradicts them.
struct ContradictedColumn {
    std::string table, key, column{};
    std::optional<std::string> stored{}, right{};
};
/// Compares such columns with those that they repeat, and visits those that contradict them.
/// @param reader  Of whole_snapshot().
void visit_contradicted_columns(WholeReader& reader, const Visitor<ContradictedColumn>& visit);

}  // namespace sluice::pg
