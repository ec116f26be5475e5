// Why a record was not stored, in the words of $sluice_reason.
#pragma once

#include "core/intake/intake.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace sluice::ngx {

/// @param outcome  One that is not stored.
[[nodiscard]] Reason reason_of(store::AppendOutcome outcome) noexcept;
/// Of a file or an environment that could not be used.
[[nodiscard]] Reason reason_of(ErrorCode code) noexcept;

}  // namespace sluice::ngx
