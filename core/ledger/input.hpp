// An input as it came from the queue or the archive.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/forget_found.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"

namespace sluice {

struct Input {
    SequenceNumber seq;
    std::string_view record;  ///< decode_record() reads it.
    /// The body stored outside the queue, already compared with its SHA-256.
    std::string_view bulk_body;
    /// Set if it cannot be applied, whatever it says: no body, no memory. It goes to the dead
    /// letters with this reason.
    std::optional<std::string> dead_reason;
    /// SHA-256 of the body as it was sent, if `record` no longer holds those bytes (forgotten
    /// customers); duplicates are recognised by it.
    std::optional<Digest256> body_sha256;
    /// Set if it met a damaged row of an order (O6): an event goes to the dead letters with this
    /// reason, a command is refused with it.
    std::optional<std::string> damage;
    /// For a FORGET: the orders and digests found in the archive and the ledger. nullptr means that
    /// they were not searched.
    const ForgetFound* forget_found = nullptr;
};

}  // namespace sluice
