// Receipt search: finds the record that a receipt (`$sluice_receipt`) in nginx's log names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/receipt.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

enum class RecordPlace : std::uint8_t {
    kLane,     ///< Durable, without a number yet.
    kQueue,    ///< Waiting for the worker.
    kApplied,  ///< In the ledger, or among its dead letters.
};
[[nodiscard]] std::string_view to_string(RecordPlace place) noexcept;  // in_lane, queued, applied

struct FoundRecord {
    RecordPlace place = RecordPlace::kLane;
    SequenceNumber seq;     ///< 0 if it has none yet.
    std::string record;     ///< decode_record() reads it.
    std::string bulk_body;  ///< The body, if it was a file of its own.
    /// Digest of the body as it was sent, if a FORGET has edited the body since.
    std::optional<Digest256> original_sha256;
};

/// A record as `$sluice_receipt` names it: by its place in a lane, or by its sequence number if
/// that was known at once (catalog batches, large events, a queue without lanes).
struct RecordName {
    std::optional<Receipt> receipt;  ///< If absent, `seq` names the record.
    SequenceNumber seq;
    std::string node_tag{};  ///< Tag of the node; empty means this node.
};

/// Bytes of the lanes that are read at once.
inline constexpr std::size_t kReadLanesBytes = 256U << 20;
/// Calls `visit` for each record of the queue from `from` on, until it returns false.
[[nodiscard]] Status visit_queue(store::Queue& queue, SequenceNumber from,
                                 const std::function<bool(store::QueuedRecord&)>& visit);

/// Returns kInvalid with an example if `text` is not a receipt.
[[nodiscard]] Result<RecordName> parse_record_name(std::string_view text);

/// Searches the lanes, then the queue, then the archive of this store, each from its beginning.
/// @param applied  The ledger's checkpoint of this node.
/// Returns kNotFound if the record is in none of them, or belongs to another node.
[[nodiscard]] Result<FoundRecord> find_record(const Frame& frame, const RecordName& name,
                                              SequenceNumber applied);

/// Calls `visit` for each applied input of this store, as the archive has it, or else the queue.
/// Skips those that neither has any more.
/// @param seqs  Ascending.
[[nodiscard]] Status visit_applied(const Frame& frame, const std::vector<SequenceNumber>& seqs,
                                   const std::function<void(const FoundRecord&)>& visit);

}  // namespace sluice::cli
