// Approval subject: what an approver is shown, names by its digest, and signs: a pending command,
// or the payouts of a close that wait (controls K3, K5).
//
// A digest covers everything that the approval lets happen, so that nothing can change between the
// look and the approval. docs/record-format.md lists the bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// The changes of a command for one creator: the number of orders that the creator would gain or
/// lose, or of which another amount would have accrued, and the sums over these orders. A command
/// without orders, such as a credit, has a row of 0 orders.
struct DryRunRow {
    ProgramId program;
    CreatorId creator;
    Currency currency;
    std::uint64_t orders = 0;
    Decimal before, after, difference;
};

/// The changes that a command that waits would make now.
struct ShownEffect {
    Digest256 digest{};  ///< Digest of all changes; zeros if the command would be refused.
    bool refused = false;
    std::vector<DryRunRow> rows{};  ///< Commission by program, creator, currency.
};

struct ApprovalSubject {
    std::string id;  ///< A command, a payout or a payout run.
    Digest256 digest{};
    std::optional<PendingApproval> command{};
    std::optional<ShownEffect> effect{};      ///< See add_effect().
    std::vector<Payout> payouts{};            ///< The payouts that wait, by id.
    std::map<Currency, Decimal> totals{};     ///< Sums of the payouts, or the command's amount.
    std::uint64_t unguarded_count = 0;        ///< Payouts of the run that needed no approval,
    std::map<Currency, Decimal> unguarded{};  ///< and their sums.

    [[nodiscard]] bool waits() const noexcept {
        return command ? command->state == ApprovalState::kPending : !payouts.empty();
    }
};
/// Returns kNotFound if the account has no such command, payout or payout run.
/// @param id  Of a command, payout or payout run. A run that is approved has no payouts left.
[[nodiscard]] Result<ApprovalSubject> approval_subject(LedgerReader& ledger, AccountNumber account,
                                                       const AccountId& account_id,
                                                       const std::string& id);

/// Adds the effect of a command that waits to what is shown, and to the digest.
void add_effect(ApprovalSubject& subject, ShownEffect effect);
/// Returns the digest of payouts together with that of the file of bank accounts.
/// @param payees  SHA-256 of the file of bank accounts, hexadecimal; empty changes nothing.
[[nodiscard]] Digest256 digest_with_payees(const Digest256& payouts, const std::string& payees);

/// Returns the digest of a payout's items and payee, which the memo entries CLOSED, APPROVED and
/// REPOINTED carry.
[[nodiscard]] Digest256 payout_digest(const Digest256& items, std::string_view payee);
[[nodiscard]] Digest256 payout_digest(const Payout& payout);
/// Returns the digest of payouts that wait.
/// @param payouts  Ascending by id.
[[nodiscard]] Digest256 payouts_digest(const std::vector<Payout>& payouts);

/// Returns why the row is not the command that its memo entry PENDING proves, or nullopt (O6).
[[nodiscard]] std::optional<std::string> damage_of(const PendingApproval& row,
                                                   LedgerReader& ledger);
/// Returns the same for a payout: the last of its memo entries CLOSED and REPOINTED proves payee
/// and items, CLOSED or APPROVED that it may be paid, and its postings the amount.
[[nodiscard]] std::optional<std::string> damage_of(const Payout& payout, LedgerReader& ledger);
/// Text of the memo entry REPOINTED of a payout, and the beginning of CLOSED and APPROVED: its
/// digest and, after a repoint, the repoint's number.
[[nodiscard]] std::string payout_memo(const Payout& payout);
/// Text of the memo entry APPROVED: also the SHA-256 of the bank accounts, if it was approved with
/// them.
[[nodiscard]] std::string approved_memo(const Payout& payout);
/// Text of the memo entry PENDING: the SHA-256 of the command without its key and of its amount,
/// program and creator, and its topic. A forget of a creator does not change it. Empty for an
/// unreadable body.
[[nodiscard]] std::string pending_memo(const PendingApproval& row);

/// Loads an adjust, a credit, a write-off or an opening balance of the account.
[[nodiscard]] bool load_posting(LedgerReader& ledger, AccountNumber account, const std::string& id,
                                MoneyCommand& row);
/// Returns the opening balances of an import that were not reversed, in the order of its rows.
[[nodiscard]] std::vector<MoneyCommand> unreversed_postings(LedgerReader& ledger,
                                                            AccountNumber account,
                                                            const std::string& import);
/// Returns what the command posts, by currency: its own amount, or the sums of the opening balances
/// that it imports, or reverses as long as it waits.
[[nodiscard]] std::map<Currency, Decimal> totals_of(const PendingApproval& row,
                                                    LedgerReader& ledger);

/// Payouts of a payout run, by number.
[[nodiscard]] std::vector<Payout> payouts_of_run(LedgerReader& ledger, const std::string& run);

/// Returns the account's payout with this id, or the payouts of its payout run with this id, or
/// nullopt if it has neither.
[[nodiscard]] std::optional<std::vector<Payout>> payouts_named(LedgerReader& ledger,
                                                               AccountNumber account,
                                                               const std::string& id);

/// `13.00 EUR, 5.00 USD`
[[nodiscard]] std::string sums_text(const std::map<Currency, Decimal>& sums);

}  // namespace sluice
