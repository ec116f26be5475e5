// Kept exports: the bytes of every file of payments that was sent, so that --again writes the same
// bytes or refuses; and the checks of payouts before a file is written (K2).
#pragma once

#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/result.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

/// Returns `<store>/exports/<message>`.
[[nodiscard]] std::string kept_file(const Frame& frame, const std::string& message);

/// Keeps the bytes of a message, readable by the owner of the store alone.
[[nodiscard]] Status keep_export(const Frame& frame, const std::string& message,
                                 const std::string& bytes);

/// Returns the payouts of an exported message.
[[nodiscard]] std::vector<Payout> payouts_of_message(LedgerReader& ledger, AccountNumber account,
                                                     const std::string& message);

/// Refuses a message of which a payout has ended unpaid, because the bank would pay it twice.
[[nodiscard]] Status check_unended(const std::string& message, const std::vector<Payout>& payouts);

/// Returns the payouts that the `payout sent` or `payout export` with this id sent.
[[nodiscard]] std::vector<Payout> sent_payouts(LedgerReader& ledger, AccountNumber account,
                                               const std::string& command);

/// Returns the SHA-256 of the exported message's bytes, from the payout's memo entry SENT, or an
/// empty text if the payout has no such entry.
[[nodiscard]] std::string proven_sha256(LedgerReader& ledger, const Payout& payout);

/// Refuses a payout without a payee, one whose creator has another payee by now, and one whose row
/// was altered after it was closed.
/// @param creator  As reports show the id.
/// @param account  Of the payout, for the commands that the refusal names.
[[nodiscard]] Status check_payee(LedgerReader& ledger, const Payout& payout,
                                 const std::string& creator, const std::string& account);

}  // namespace sluice::cli
