// Error: what a failure of PostgreSQL means for the drain, and libpq's words in one line. Internal
// to pg_store.
#pragma once

#include <string>
#include <string_view>

#include "core/ledger/failure.hpp"
#include "core/values/result.hpp"

namespace sluice::pg {

/// Returns the meaning of a SQLSTATE:
/// kBusy     a conflict with another transaction (serialization, deadlock, a row that came first)
/// kIo       the server or the connection is gone, or the server starts, is a standby, or lacks
///           memory or connections; the same operation can succeed later
/// kNoSpace  the server's disk is full
/// kInvalid  the server rejects a value, so the input is at fault
/// kCorrupt, kPermission, kUnsupported  a person must correct the cause
[[nodiscard]] ErrorCode code_of(std::string_view sqlstate) noexcept;

/// @param text  May be null.
[[nodiscard]] std::string one_line(const char* text);

/// Returns a kIo failure.
[[nodiscard]] LedgerFailure no_connection(const char* why);

/// Returns why an attempt to connect failed, and whether another attempt makes sense.
/// @param verbose  libpq's message at PQERRORS_VERBOSE, which contains SQLSTATEs.
[[nodiscard]] Error refusal(const char* verbose);

}  // namespace sluice::pg
