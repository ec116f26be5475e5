// Forget search: which orders a forget is about, and by which digests the ledger knows their
// person (books F1).
//
// It looks through what is stored as it came: the archive, dead letters; and through the orders of
// the ledger, which know customers and devices only as digests.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/forget/task.hpp"
#include "core/ledger/forget_found.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// An input as it is stored.
struct StoredInput {
    std::string_view record;
    std::string_view bulk_body;              ///< Empty: there is none, or it is missing.
    std::optional<Digest256> body_sha256{};  ///< Set: it was edited after it was stored.

    [[nodiscard]] Pseudonyms pseudonyms() const noexcept {
        return body_sha256 ? Pseudonyms::kRead : Pseudonyms::kRefused;
    }
};
/// Goes through every stored input, in any order; more than once.
using ScanInputs = std::function<Status(const std::function<void(const StoredInput&)>& visit)>;

/// Before the command is applied.
/// @param archive  Every input that the node has archived: all that came before the command.
/// Throws LedgerFailure.
[[nodiscard]] Result<ForgetFound> search_forgotten(const ForgetWhom& whom, LedgerReader& ledger,
                                                   const ScanInputs& archive);
/// After that, on any node: what its archive and its dead letters know beyond what was found. The
/// ledger's orders are left alone: they may have changed since. On what was edited for this task
/// already it finds nothing new.
/// @param archive  What the node has archived and came before the command.
/// Throws LedgerFailure.
[[nodiscard]] Result<ForgetFound> search_more(const ForgetJob& job, LedgerReader& ledger,
                                              const ScanInputs& archive);

/// Goes through every order of the account that holds what a forget has found. Throws
/// LedgerFailure.
void visit_forgotten(const ForgetWhom& whom, const ForgetFound& found, LedgerReader& ledger,
                     const std::function<void(const OrderState&)>& visit);

}  // namespace sluice
