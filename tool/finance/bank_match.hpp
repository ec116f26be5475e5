// Bank match: what becomes of each line of a bank's file, judged against the payouts of an account.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "tool/bank/bank_file.hpp"

namespace sluice::cli {

enum class BankOutcome : std::uint8_t {
    kMoved,      ///< Recorded now, or would be.
    kKnown,      ///< Recorded before.
    kPending,    ///< The bank has not decided.
    kUnmatched,  ///< No payout of the account.
    kDiffers,    ///< A payout of the account, and something else than it says.
};

/// A line of the bank's file, with the payout that it names and what becomes of it.
struct JudgedLine {
    BankLine line;
    std::optional<Payout> payout{};
    BankOutcome outcome = BankOutcome::kUnmatched;
    PayoutVerb verb = PayoutVerb::kSettle;
    std::string creator{};
    std::string note{};
    /// Names a payout or a payment that this account should know, so a person has to look.
    bool needs_person = false;
    /// Recorded before without a reference, which is to be recorded now.
    bool records_ref = false;
};

/// Returns the lines in the order of the file. A status of a whole message becomes a line for each
/// payout of the message that the file does not name.
[[nodiscard]] std::vector<JudgedLine> judge_bank_file(LedgerReader& ledger, AccountNumber account,
                                                      const AccountId& account_id,
                                                      const BankFile& file);

/// Returns the reason of the command that records the line. That of a settlement ends in the
/// reference of the bank's posting.
[[nodiscard]] std::string reason_of(const BankFile& file, const JudgedLine& judged);

}  // namespace sluice::cli
