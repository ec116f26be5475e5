// Accounting date: the month that an entry counts in. What is received after its month was closed
// counts from the first instant that is still open (books S1).
#pragma once

#include <optional>

#include "core/values/timestamp.hpp"

namespace sluice {

/// @param closed_until  Of the account; nullopt: no period of it was closed.
[[nodiscard]] inline bool is_late(Timestamp received_at,
                                  const std::optional<Timestamp>& closed_until) noexcept {
    return closed_until && received_at < *closed_until;
}

/// As is_late().
[[nodiscard]] inline Timestamp accounting_date(
    Timestamp received_at, const std::optional<Timestamp>& closed_until) noexcept {
    return is_late(received_at, closed_until) ? *closed_until : received_at;
}

}  // namespace sluice
