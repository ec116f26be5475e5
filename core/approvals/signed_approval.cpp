#include "core/approvals/signed_approval.hpp"

#include <algorithm>
#include <utility>

#include "core/approvals/statement_text.hpp"
#include "core/protocol/ssh_signature.hpp"

namespace sluice {
namespace {

constexpr std::string_view kSigned = "signed ";

/// UUID of the first queue that wrote the ledger: all its nodes and rebuilds have the same.
std::string ledger_id(LedgerReader& ledger) {
    std::optional<LedgerHead> first;
    ledger.scan_heads([&first](const LedgerHead& head) {
        if (!first || head.number < first->number) {
            first = head;
        }
    });
    return first ? first->node : std::string();
}

std::string names_of(const Policy& policy) {
    std::string names;
    for (const std::string& entry : policy.approvers) {
        names.append(names.empty() ? "" : ", ").append(approver_name(entry));
    }
    return names;
}

Error needs_signature(const std::string& actor, const std::string& id) {
    return refused(actor + " approves with a signature: sluice approvals show " + id +
                   " --statement > " + id + ".txt; ssh-keygen -Y sign -n " +
                   std::string(kApprovalNamespace) + " -f KEY " + id + ".txt; sluice approve " +
                   id + " --signature " + id + ".txt.sig");
}

/// Returns the approver whose key made the signature.
Result<Approver> signer_of(const std::string& signature, const Policy& policy) {
    const auto key = ssh_signer(signature);
    if (!key) {
        return key.error();
    }
    for (const std::string& entry : policy.approvers) {
        auto approver = parse_approver(entry);
        if (approver && approver->key && approver->key->blob() == *key) {
            return std::move(*approver);
        }
    }
    return refused("the signature is by the key " + ssh_fingerprint(*key) +
                   ", which none of the approvers has: " + names_of(policy));
}

}  // namespace

Result<Approver> parse_approver(std::string_view entry) {
    Approver approver{std::string(approver_name(entry)), std::nullopt};
    if (approver.name.empty()) {
        return Error{ErrorCode::kInvalid, "approvers: expected a name"};
    }
    if (approver.name.size() != entry.size()) {
        auto key = SshPublicKey::parse(entry.substr(approver.name.size() + 1));
        if (!key) {
            return Error{ErrorCode::kInvalid,
                         "approvers: " + approver.name + ": " + key.error().message};
        }
        approver.key = std::move(*key);
    }
    return approver;
}

std::string approval_statement(LedgerReader& ledger, const AccountId& account_id,
                               const ApprovalSubject& subject) {
    return "sluice approval 2\nstore: " + ledger_id(ledger) + "\naccount: " + account_id.str() +
           "\nid: " + subject.id + "\ndigest: " + to_hex(subject.digest) + "\n" +
           statement_lines(subject, ledger);
}

Result<Approving> approving(const Approve& command, const ApprovalSubject& subject,
                            const CommandContext& context, const Policy& policy,
                            LedgerReader& ledger) {
    if (has_signature_note(context.source.note)) {
        return refused(
            "the reason of an approval ends like the proof of a signature: choose other "
            "words");
    }
    if (command.signature.empty()) {
        const bool has_key = std::any_of(policy.approvers.begin(), policy.approvers.end(),
                                         [&](const std::string& entry) {
                                             return approver_name(entry) == context.actor() &&
                                                    entry.size() != context.actor().size();
                                         });
        return has_key ? Result<Approving>(needs_signature(context.actor(), command.id))
                       : Result<Approving>(Approving{context, std::nullopt});
    }
    auto approver = signer_of(command.signature, policy);
    if (!approver) {
        return approver.error();
    }
    SignedApproval row;
    row.account = context.account;
    row.command_id = context.source.command_id;
    row.subject = subject.id;
    row.approver = approver->name;
    row.ssh_key = approver->key->text();
    row.statement = approval_statement(ledger, context.account_id, subject);
    row.signature = command.signature;
    if (Status right =
            verify_ssh_signature(row.signature, kApprovalNamespace, row.statement, *approver->key);
        !right) {
        return refused(right.error().message + "; sign what `sluice approvals show " + subject.id +
                       " --statement` prints now");
    }
    Approving made{context, std::move(row)};
    made.context.source.actor = approver->name;
    std::string& note = made.context.source.note;
    note += (note.empty() ? "" : " ") + signature_note(*made.row);
    return made;
}

std::optional<std::string> fault_of(const SignedApproval& row) {
    const auto key = SshPublicKey::parse(row.ssh_key);
    if (!key) {
        return key.error().message;
    }
    if (Status right = verify_ssh_signature(row.signature, kApprovalNamespace, row.statement, *key);
        !right) {
        return right.error().message;
    }
    if (row.statement.find("\nid: " + row.subject + "\n") == std::string::npos) {
        return "the statement is about another subject";
    }
    return std::nullopt;
}

std::string signature_note(const SignedApproval& row) {
    return std::string(kSigned) +
           to_hex(sha256(row.ssh_key + "\n" + row.statement + row.signature));
}

bool has_signature_note(std::string_view note) noexcept {
    constexpr std::size_t kHexBytes = 2 * sizeof(Digest256);
    return note.size() >= kHexBytes && note.substr(0, note.size() - kHexBytes).ends_with(kSigned) &&
           note.find_last_not_of("0123456789abcdef") == note.size() - kHexBytes - 1;
}

}  // namespace sluice
