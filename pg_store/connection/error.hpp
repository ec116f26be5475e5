// Error: what a failure of PostgreSQL means for the drain, and libpq's words in one line. Internal
// to pg_store.
#pragma once

#include <string>
#include <string_view>

#include "core/ledger/failure.hpp"
#include "core/values/result.hpp"

namespace sluice::pg {

/// By SQLSTATE:
/// kBusy     another transaction was in the way (serialization, deadlock, a row that came first)
/// kIo       the server or the connection is gone, starts, is a standby, or has no room left in
///           memory or connections: the same again can succeed
/// kNoSpace  its disk is full
/// kInvalid  a value that it does not take: an input is at fault, not the server
/// kCorrupt, kPermission, kUnsupported: a person must look
[[nodiscard]] ErrorCode code_of(std::string_view sqlstate) noexcept;

/// @param text  May be null.
[[nodiscard]] std::string one_line(const char* text);

/// kIo.
[[nodiscard]] LedgerFailure no_connection(const char* why);

/// Why an attempt to connect failed: libpq's words at PQERRORS_VERBOSE, where SQLSTATEs stand, and
/// what they mean: is it worth trying again?
[[nodiscard]] Error refusal(const char* verbose);

}  // namespace sluice::pg
