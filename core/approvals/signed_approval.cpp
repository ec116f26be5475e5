#include "core/approvals/signed_approval.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/orders/reply.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::string_view kSigned = "signed ";

// ---- What an approver signs, in words that a person can read ------------------------------------

std::string line_of(const char* key, const std::string& value) {
    return std::string(key) + ": " + value + "\n";
}

/// `ending 3000, sha256 1a2b3c4d5e6f`, or `none`. A forgotten payee has the same words.
std::string payee_words(std::string_view payee) {
    constexpr std::size_t kDigestDigits = 12;
    if (payee.empty()) {
        return "none";
    }
    const std::string ending = payee_ending(payee);
    return (ending.empty() ? std::string() : "ending " + ending + ", ") + "sha256 " +
           to_hex(payee_digest(payee)).substr(0, kDigestDigits);
}

using Payees = std::map<CreatorId, std::string>;

/// The payees that a command sets, by the first ids of their creators.
Payees payees_of(const PendingApproval& row, const Command& command, LedgerReader& ledger) {
    Payees payees;
    const auto add = [&](const CreatorId& creator, const std::optional<std::string>& payee) {
        if (payee) {
            payees[first_id(ledger, row.account, creator)] = *payee;
        }
    };
    if (const auto* set = std::get_if<CreatorSet>(&command)) {
        add(set->creator, set->payee);
    } else if (const auto* import = std::get_if<CreatorImport>(&command)) {
        for (const CreatorImport::Row& one : import->rows) {
            add(one.creator, one.payee);
        }
    }
    return payees;
}

std::string payee_lines(const PendingApproval& row, const Command& command, LedgerReader& ledger) {
    std::string text;
    for (const auto& [creator, payee] : payees_of(row, command, ledger)) {
        CreatorRow profile{row.account, creator, {}, {}, {}};
        const std::string before = payee_words(ledger.load(profile) ? profile.payee : "");
        const std::string after = payee_words(payee);
        if (before != after) {
            text += line_of("payee", "of " + shown_id(ledger, row.account, creator).str() +
                                         " from " + before + " to " + after);
        }
    }
    return text;
}

std::string program_lines(const Command& command) {
    std::string text;
    if (const auto* apply = std::get_if<ProgramApply>(&command)) {
        for (const Program& program : apply->programs) {
            text += line_of("program", program.id.str());
        }
        for (const Policy& policy : apply->policies) {
            text += line_of("policy", policy.account_id.str());
        }
    }
    return text;
}

std::string change_lines(const PendingApproval& row, const ShownEffect& effect,
                         LedgerReader& ledger) {
    std::string text = effect.refused ? line_of("change", "refused") : std::string();
    for (const DryRunRow& change : effect.rows) {
        text += line_of("change", shown_id(ledger, row.account, change.creator).str() + " in " +
                                      change.program.str() + ", orders " +
                                      std::to_string(change.orders) + ", from " +
                                      to_string(Money{change.currency, change.before}) + " to " +
                                      to_string(Money{change.currency, change.after}));
    }
    return text;
}

/// Sums by currency of a period close, since the last closed period.
std::string period_lines(const PendingApproval& row, Timestamp until, LedgerReader& ledger) {
    std::string text = line_of("until", until.to_string());
    for (const auto& [currency, total] : period_totals(ledger, row.account, until)) {
        text += line_of("period",
                        std::string(currency.code()) + " earned " + total.earned.to_string() +
                            ", adjusted " + total.adjusted.to_string() + ", paid out " +
                            total.paid_out.to_string() + ", then owed " + total.owed.to_string() +
                            ", in payouts " + total.in_payouts.to_string() + ", paid " +
                            total.paid.to_string());
    }
    return text;
}

std::string command_lines(const ApprovalSubject& subject, LedgerReader& ledger) {
    const PendingApproval& row = *subject.command;
    std::string text =
        line_of("command", command_words(row.topic)) + line_of("requested by", row.actor);
    const Result<Request> request = decode_request(row.topic, row.body);
    if (!request) {
        return text;
    }
    text += program_lines(request->command) + payee_lines(row, request->command, ledger);
    if (const auto* close = std::get_if<PeriodClose>(&request->command)) {
        text += period_lines(row, close->until, ledger);
    }
    return text + (subject.effect ? change_lines(row, *subject.effect, ledger) : "");
}

std::string payout_lines(const ApprovalSubject& subject, LedgerReader& ledger) {
    std::string text = line_of("command", "payout close");
    for (const Payout& payout : subject.payouts) {
        text += line_of("payout", payout.payout_id + " to " +
                                      shown_id(ledger, payout.account, payout.creator).str() +
                                      ", " + to_string(Money{payout.currency, payout.amount}) +
                                      ", items " + std::to_string(payout.items_count) + ", payee " +
                                      payee_words(payout.payee));
    }
    return text;
}

/// Returns lines `key: value`: the command, who requested it, payees before and after, the change
/// for each creator, the totals of a period, each payout; then the totals. Whatever a forget
/// changes later leaves them as they are, because a rebuild verifies the signature again.
std::string statement_lines(const ApprovalSubject& subject, LedgerReader& ledger) {
    std::string text =
        subject.command ? command_lines(subject, ledger) : payout_lines(subject, ledger);
    for (const auto& [currency, amount] : subject.totals) {
        text += line_of("total", to_string(Money{currency, amount}));
    }
    return text;
}

// ---- Signatures ---------------------------------------------------------------------------------

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
    return refused(
        "the signature is by the key " + ssh_fingerprint(*key) +
        ", which none of the approvers has: " + joined(policy.approvers, ", ", approver_name));
}

}  // namespace

Result<Approver> parse_approver(std::string_view entry) {
    Approver approver{std::string(approver_name(entry)), std::nullopt};
    if (approver.name.empty()) {
        return invalid("approvers: expected a name");
    }
    if (approver.name.size() != entry.size()) {
        auto key = SshPublicKey::parse(entry.substr(approver.name.size() + 1));
        if (!key) {
            return invalid("approvers: " + approver.name + ": " + key.error().message);
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
            "the reason of an approval ends like the proof of a signature: choose other words");
    }
    if (command.signature.empty()) {
        const bool has_key = std::ranges::any_of(policy.approvers, [&](const std::string& entry) {
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
    SignedApproval row{.account = context.account,
                       .command_id = context.source.command_id,
                       .subject = subject.id,
                       .approver = approver->name,
                       .ssh_key = approver->key->text(),
                       .statement = approval_statement(ledger, context.account_id, subject),
                       .signature = command.signature};
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
