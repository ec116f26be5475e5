// Words: what libpq and the server say, in one line. Internal to this room.
#pragma once

#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"

namespace sluice::pg {

/// @param text  May be null.
[[nodiscard]] std::string one_line(const char* text);

/// kIo.
[[nodiscard]] LedgerFailure no_connection(const char* why);

/// Why an attempt to connect failed: libpq's words at PQERRORS_VERBOSE, where SQLSTATEs stand, and
/// what they mean: is it worth trying again?
[[nodiscard]] Error refusal(const char* verbose);

}  // namespace sluice::pg
