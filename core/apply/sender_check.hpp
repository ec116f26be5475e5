// Sender check: whether a record is of a shop and a time that its store knows (controls K14).
//
// nginx can write any record to the queue, so the numbers and the time of a record decide nothing
// before they are compared. A replay has neither registry nor clock; it keeps the verdicts of the
// worker, which are archived.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/commands/seal.hpp"
#include "core/protocol/record.hpp"
#include "core/values/interface.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Beginnings of the reasons of dead letters.
inline constexpr std::string_view kNotRegistered = "SHOP_NOT_REGISTERED";
inline constexpr std::string_view kFromFuture = "RECEIVED_IN_FUTURE";

/// A receipt this far ahead of the clock is from a clock that was wrong, or forged.
inline constexpr std::int64_t kReceiptAheadSeconds = kSecondsPerDay;

class SenderCheck : public Interface {
public:
    /// Returns why the record's shop is none of this store, or nothing.
    [[nodiscard]] virtual std::optional<std::string> shop_fault(const RecordMeta& meta) = 0;
    /// Returns whether the time is more than kReceiptAheadSeconds ahead.
    [[nodiscard]] virtual bool is_from_future(Timestamp received_at) = 0;
};

/// Returns whether the reason is a verdict that a replay cannot give again, so that it is archived.
[[nodiscard]] inline bool is_verdict(std::string_view dead_reason) noexcept {
    return is_not_sealed(dead_reason) || dead_reason.starts_with(kNotRegistered) ||
           dead_reason.starts_with(kFromFuture);
}

}  // namespace sluice
