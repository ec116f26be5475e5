// Signed approvals: an approver whose entry in the policy has an SSH key approves by a signature of
// a statement, and by nothing else (controls K5).
//
// The statement names the ledger, the account, the subject and its digest, so that a signature is
// good for one approval only, and what the approval lets happen, for the person who signs it. The
// row keeps both, and the memo entry APPROVED has their digest in its note, so the journal's chain
// covers them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/approvals/subject.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/programs/policy.hpp"
#include "core/protocol/ssh_signature.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// An entry of Policy::approvers.
struct Approver {
    std::string name;
    std::optional<SshPublicKey> key;  ///< Set if only signatures count.
};
/// Parses `gina`, or `gina ssh-ed25519 AAAA...`. Returns kInvalid for a key that cannot be read.
[[nodiscard]] Result<Approver> parse_approver(std::string_view entry);

/// The namespace of `ssh-keygen -Y sign -n`.
inline constexpr std::string_view kApprovalNamespace = "sluice-approval";

/// Returns the text that an approver signs.
[[nodiscard]] std::string approval_statement(LedgerReader& ledger, const AccountId& account_id,
                                             const ApprovalSubject& subject);

/// The approver as the actor of the command, and the row that proves it.
struct Approving {
    CommandContext context;  ///< As the command's, with the name of the approver as its actor.
    std::optional<SignedApproval> row;
};
/// Refuses a signature by a key of none of the approvers, of another statement or namespace, or a
/// truncated one; and an approval without a signature by an approver who has a key.
[[nodiscard]] Result<Approving> approving(const Approve& command, const ApprovalSubject& subject,
                                          const CommandContext& context, const Policy& policy,
                                          LedgerReader& ledger);

/// Checks a stored row by itself: signature, key and statement. Returns why it proves nothing.
[[nodiscard]] std::optional<std::string> fault_of(const SignedApproval& row);
/// Text that the note of the memo entry APPROVED ends in.
[[nodiscard]] std::string signature_note(const SignedApproval& row);
/// Returns true if the note ends as signature_note() writes it.
[[nodiscard]] bool has_signature_note(std::string_view note) noexcept;

}  // namespace sluice
