// Payout ids: unique over all nodes, since they hold the run's command id (books P2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// `P260131140509-7KQ4M9-0001`.
/// @param run  The command id of the close (core/rules/command_id.hpp).
/// @param number  1, 2, ... within the run.
[[nodiscard]] std::string payout_id(std::string_view run, std::uint64_t number);

}  // namespace sluice
