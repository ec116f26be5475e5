// Sender: sends the records of a file to an endpoint until the server accepts or rejects each of
// them. Several requests are in flight; those of one order or product follow each other.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/values/result.hpp"
#include "tool/send/protocol.hpp"
#include "tool/send/rejects.hpp"
#include "tool/send/source.hpp"
#include "tool/send/state.hpp"

namespace sluice::cli {

struct SendLimits {
    std::uint64_t requests_per_second = 0;  ///< 0 means as fast as the server accepts them.
    unsigned share_percent = 50;            ///< Share of the account's rate limit; see LimitShare.
};

struct SendSummary {
    std::uint64_t sent = 0;      ///< Records accepted by this run.
    std::uint64_t rejected = 0;  ///< Records rejected by this run.
    std::uint64_t skipped = 0;   ///< Settled by an earlier run.
};

/// Runs to the end of the file. After an Error (the server refuses, is unreachable for too long,
/// `stop` was set) the state is saved, so that a later run resumes.
[[nodiscard]] Result<SendSummary> send_records(RecordFile& source, SendProtocol& protocol,
                                               SendState& state, const SendLimits& limits,
                                               Rejects& rejects, const std::atomic<bool>& stop);

}  // namespace sluice::cli
