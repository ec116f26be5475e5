// Packed rows: values that only `sluice explain` reads, as bytes. Internal to pg_store; pure.
// Unpacking throws DamagedField.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/order_state.hpp"

namespace sluice::pg {

/// 67 bytes each, big endian: seq 8, topic 1, decision 1, cancelled 1, anomalies 4, digest 16,
/// version 8 + 4, received 8 + 4, first entry 8, node 4.
[[nodiscard]] std::string pack_events(const EventTrace* events, std::size_t count);
void unpack_events(std::string_view bytes, std::vector<EventTrace>& events);

/// Type 1, verdict 1, code 4, touched 8 + 4, program and creator with a byte of length each.
[[nodiscard]] std::string pack_candidates(const std::vector<Candidate>& candidates);
[[nodiscard]] std::vector<Candidate> unpack_candidates(std::string_view bytes);

}  // namespace sluice::pg
