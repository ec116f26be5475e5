// Input digest: 32 bytes that name an input as the ledger applied it (controls K14).
//
// The head of a node has a chain over the digests of all its inputs. nginx can write to the queue,
// so bytes that are read from it after they were applied are compared with the chain before they
// are archived or replayed. A rebuild of the archive ends with the same chain.
#pragma once

#include <string>
#include <string_view>

#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// Returns SHA-256 of the record. That of its body, if it is in the record, takes the body's place,
/// so that no byte is hashed twice. The metadata has the digest of a body in a bulk file.
/// @param record  Decoded from `bytes`; nullptr if it is unreadable.
/// @param body_sha256  Of its body.
/// @param scratch  A buffer, for speed.
[[nodiscard]] Digest256 input_digest(std::string_view bytes, const RecordView* record,
                                     const Digest256& body_sha256, std::string& scratch);
/// Decodes and hashes the record, and returns its digest as the other function does.
[[nodiscard]] Digest256 input_digest(std::string_view bytes);

/// Returns the chain after an input, from the one before it (zeros before the first).
[[nodiscard]] Digest256 chain_after(const Digest256& chain, SequenceNumber seq,
                                    const Digest256& input);

}  // namespace sluice
