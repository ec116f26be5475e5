// Error: what a failure of PostgreSQL means for the drain. Internal to this room.
#pragma once

#include <string_view>

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

}  // namespace sluice::pg
