// Owned input: an input as it was copied out of a queue or an archive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/ledger/head.hpp"
#include "core/ledger/input.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/archive/archive.hpp"

namespace sluice::worker {

/// An input that owns its bytes.
struct OwnedInput {
    SequenceNumber seq;
    std::string record;
    std::string bulk_body;
    std::string bulk_file;                   ///< Name in queue/bulk/, or empty.
    std::optional<std::string> dead_reason;  ///< Set if its body is lost or damaged.
    /// Read from the archive, if personal data was removed from the record since.
    std::optional<store::ArchivedInput::Original> original;
    SequenceNumber last_seq;  ///< The last number that it stands for (ArchivedInput::last_seq).
    Digest256 chain{};        ///< LedgerHead::inputs_sha256 after it; set when it was applied here.
    std::optional<InputClass> input_class;  ///< Set when it was applied here.
    std::uint64_t token = 0;                ///< As Applied has it, as has `received_at`.
    Timestamp received_at;
    std::optional<ForgetFound> forget_found;  ///< Result of the search for a FORGET.
    std::optional<std::string> damage;        ///< Set if a FORGET's search met damage.
    std::string verdict;  ///< The reason, if it became a dead letter here by is_verdict().

    [[nodiscard]] Input view() const;
};

}  // namespace sluice::worker
