// Receipt search: from what an event's answer was logged with (`$sluice_receipt`) to its record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/receipt.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "worker/cli/cli.hpp"

namespace sluice::cli {

enum class RecordPlace : std::uint8_t {
    kLane,     ///< Durable, without a number yet.
    kQueue,    ///< It waits for the worker.
    kApplied,  ///< In the ledger, or among its dead letters.
};
[[nodiscard]] std::string_view to_string(RecordPlace place) noexcept;  // in_lane, queued, applied

struct FoundRecord {
    RecordPlace place = RecordPlace::kLane;
    SequenceNumber seq;     ///< 0: none yet.
    std::string record;     ///< decode_record() reads it.
    std::string bulk_body;  ///< Of a record whose body lay beside the queue.
    /// Of the body as it was sent, if a person's data was taken out of it since.
    std::optional<Digest256> original_sha256;
};

/// What `$sluice_receipt` shows: a place in a lane, or the sequence number where that was known at
/// once (catalog batches, large events, a queue without lanes).
struct RecordName {
    std::optional<Receipt> receipt;  ///< Nothing: by `seq`.
    SequenceNumber seq;
    std::string node_tag{};  ///< Of the queue; empty: of this node's.
};

/// kInvalid: it is none, and says what one looks like.
[[nodiscard]] Result<RecordName> parse_record_name(std::string_view text);

/// Looks in the lanes, then in the queue, then in the archive of this store, from their beginnings.
/// @param applied  The ledger's checkpoint of this node.
/// kNotFound: it is nowhere (any more), or of another node.
[[nodiscard]] Result<FoundRecord> find_record(const Frame& frame, const RecordName& name,
                                              SequenceNumber applied);

}  // namespace sluice::cli
