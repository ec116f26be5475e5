// Ids that sluice makes: of commands, and of the payouts that a close makes (rule P2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Returns `C260131140509-7KQ4M9`: receipt as YYMMDDhhmmss (UTC), and the first 30 bits of
/// SHA-256(queue UUID, sequence number as 8 bytes big endian) in Crockford's base 32.
[[nodiscard]] std::string command_id(std::string_view node, SequenceNumber seq,
                                     Timestamp received_at);
/// Returns `C260131140509-`, with which every id of that second begins.
[[nodiscard]] std::string command_id_prefix(Timestamp received_at);

/// Returns the second in which the command of a command_id() or posting_id() was received, or
/// kFirstInstant for any other text.
[[nodiscard]] Timestamp second_of(std::string_view command_id);

/// Returns `C260131140509-7KQ4M9-0001`: names what one row of an import posted.
/// @param number  1, 2, ... within the command.
[[nodiscard]] std::string posting_id(std::string_view command, std::uint64_t number);
/// Returns the command id that a posting_id() begins with; a command id as it is.
[[nodiscard]] std::string command_of(std::string_view posting_id);

// A payout id contains the command id of its payout run, so it is unique over all nodes.

/// Returns `P260131140509-7KQ4M9-0001`.
/// @param run  The payout run: the command id of the close.
/// @param number  1, 2, ... within the payout run.
[[nodiscard]] std::string payout_id(std::string_view run, std::uint64_t number);
/// Returns `P260131140509-7KQ4M9-`, with which every payout id of the payout run begins.
[[nodiscard]] std::string payout_id_prefix(std::string_view run);
/// The bytes of a payout_id_prefix(), and of the shortest payout_id().
inline constexpr std::size_t kPayoutIdPrefixBytes = 21, kPayoutIdBytesMin = 25;
/// Returns whether the text has the form of a payout id, whose last digits a bank may have cut.
[[nodiscard]] bool looks_like_payout_id(std::string_view text) noexcept;
/// Returns `00017KQ4M9` of `P260131140509-7KQ4M9-0001`: the part that differs within a payout run
/// comes first, because readers cut references at the end. Another text stays as it is.
[[nodiscard]] std::string short_payout_id(std::string_view payout_id);
/// Returns the command id of the close that made the payout.
[[nodiscard]] std::string payout_run_of(std::string_view payout_id);
/// Returns true if the payout was made by the payout run; false for an empty `run`.
[[nodiscard]] bool is_of_payout_run(std::string_view payout_id, std::string_view run) noexcept;

}  // namespace sluice
