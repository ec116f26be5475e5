// The PostgreSQL ledger: core/ledger/ledger.hpp on a database that many nodes share.
//
// Any number of nodes write; one writer for each (the holder of the worker's lock). An input's
// effects and its node's checkpoint are one transaction. A commit whose outcome is not known is
// settled by the next begin(): it waits for what is left of the old session and reads the
// checkpoint.
//
// Errors: LedgerFailure as in core/ledger/ledger.hpp. kBusy: another node was in the way. kIo: the
// database is away. kInvalid: it does not take a value of these inputs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

struct LedgerOptions {
    /// Called a few times a second while an answer is awaited, with how long it is already. False:
    /// give up (kBusy; a commit's outcome is then unknown). May be empty.
    std::function<bool(std::chrono::milliseconds)> waiting;
    /// Told, in words for the log, what is not an error. May be empty.
    std::function<void(const std::string&)> notice;
};

/// What outlives a connection: a commit whose outcome is not known yet, and what was acknowledged.
struct InDoubt {
    std::optional<SequenceNumber> checkpoint;  ///< That the commit would have set.
    /// The last checkpoint that the database said it has, by node. If it has less later, a server
    /// took over that lacks what was acknowledged: kConflict, before anything is applied on top.
    std::map<std::string, SequenceNumber, std::less<>> acknowledged;
};

class PostgresLedger : public Ledger {
public:
    enum class Mode : std::uint8_t {
        kReadOnly,
        kReadPrimary,  ///< As kReadOnly, but never of a standby: so confirm() is of use.
        kReadWrite,
    };

    /// Connects and compares the schema: kUnsupported if it is older or newer than this program's,
    /// kNotFound if there is none; the message says what to do.
    /// @param in_doubt  Shared by the openings of one process, so that what one began the next
    /// settles.
    [[nodiscard]] static Result<std::unique_ptr<PostgresLedger>> open(
        const Url& url, Mode mode, LedgerOptions options,
        std::shared_ptr<InDoubt> in_doubt = std::make_shared<InDoubt>());
};

}  // namespace sluice::pg
