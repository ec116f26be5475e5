// Forget search: finds the orders of a person, and the digests that the ledger has of the person
// (rule F1).
//
// It reads the inputs as they came, from the archive and the dead letters, and the orders of the
// ledger, which hold customers and devices as digests only.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/forget/task.hpp"
#include "core/ledger/input.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// An input as it is stored.
struct StoredInput {
    std::string_view record;
    std::string_view bulk_body;              ///< Empty if there is none, or it is missing.
    std::optional<Digest256> body_sha256{};  ///< Set if the input was edited after it was stored.

    [[nodiscard]] Pseudonyms pseudonyms() const noexcept {
        return body_sha256 ? Pseudonyms::kRead : Pseudonyms::kRefused;
    }
};
/// Visits every stored input, in any order. Called more than once.
using ScanInputs = std::function<Status(const std::function<void(const StoredInput&)>& visit)>;

/// The first id of a creator, and all ids.
struct CreatorIds {
    CreatorId first;
    std::set<CreatorId> all;
};
[[nodiscard]] CreatorIds ids_of_creator(AccountNumber account, const std::string& id,
                                        LedgerReader& ledger);

/// Searches before the command is applied. Throws LedgerFailure.
/// @param archive  Every input that the node has archived: all came before the command.
[[nodiscard]] Result<ForgetFound> search_forgotten(const ForgetWhom& whom, LedgerReader& ledger,
                                                   const ScanInputs& archive);
/// Searches later, on any node, for ids in its archive and dead letters that were not found yet.
/// Does not search the ledger's orders, because they may have changed since. Finds nothing new in
/// inputs that were edited for this task. Throws LedgerFailure.
/// @param archive  Inputs that the node has archived and that came before the command.
[[nodiscard]] Result<ForgetFound> search_more(const ForgetJob& job, LedgerReader& ledger,
                                              const ScanInputs& archive);

/// Returns whether the ledger has an order, an input or a click of the person, or the name or a
/// payee of the creator, and not only the id that names the person.
/// @param found  As search_forgotten() returned it.
[[nodiscard]] bool finds_anything(const ForgetWhom& whom, const ForgetFound& found,
                                  LedgerReader& ledger);

/// Returns whether the order is one of the person's own and has numbers.
[[nodiscard]] bool holds_numbers(const ForgetWhom& whom, const ForgetFound& found,
                                 const OrderState& state);

/// Visits every order of the account that holds an id that was found, or numbers of an order of the
/// person. Throws LedgerFailure.
void visit_forgotten(const ForgetWhom& whom, const ForgetFound& found, LedgerReader& ledger,
                     const std::function<void(const OrderState&)>& visit);

}  // namespace sluice
