// Journal: the chain of hashes that shows whether an entry was ever altered (rule J1).
//
// Hash of an entry = SHA-256(hash of the account's entry before it on this node, canonical bytes of
// the entry). docs/record-format.md lists the canonical bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/ledger/head.hpp"
#include "core/ledger/rows.hpp"

namespace sluice {

[[nodiscard]] std::string_view to_string(JournalReason reason) noexcept;  // ACCRUAL, ...
[[nodiscard]] std::string_view to_string(AnomalyKind kind) noexcept;      // VERSION_IN_FUTURE, ...

/// What is hashed for `group.lines[index]`, without the hash before it.
[[nodiscard]] std::string canonical_bytes(const JournalGroup& group, std::size_t index);

/// Gives the group its hash and moves the chain on by all of its entries.
void seal(JournalGroup& group, ChainHead& chain);

/// Moves `chain` on as seal() did. False: the group is not what was sealed after that chain.
[[nodiscard]] bool verify_seal(const JournalGroup& group, ChainHead& chain);

}  // namespace sluice
