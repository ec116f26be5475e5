// Command ids: how people name what they asked for, and what came of it (books section 1, P2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// `C260131140509-7KQ4M9`: receipt as YYMMDDhhmmss (UTC), and the first 30 bits of SHA-256(queue
/// UUID, sequence number as 8 bytes big endian) in Crockford's base 32.
[[nodiscard]] std::string command_id(std::string_view node, SequenceNumber seq,
                                     Timestamp received_at);
/// `C260131140509-`, with which every id of that second begins.
[[nodiscard]] std::string command_id_prefix(Timestamp received_at);

}  // namespace sluice
