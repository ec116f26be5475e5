// report approvals
#include <string>

#include "core/approvals/signed_approval.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/lists/report.hpp"
#include "core/protocol/ssh_signature.hpp"

namespace sluice::lists {
namespace {

/// Returns `valid`, `unsigned`, or why the signature proves nothing.
std::string verdict_of(const JournalGroup& group, const SignedApproval* row) {
    if (row == nullptr) {
        return has_signature_note(group.note) ? "the signature is missing" : "unsigned";
    }
    if (!group.note.ends_with(signature_note(*row)) || group.actor != row->approver) {
        return "the signature is not the one that the journal proves";
    }
    return fault_of(*row).value_or("valid");
}

Json fingerprint_of(const SignedApproval* row) {
    const auto key =
        row == nullptr ? Result<SshPublicKey>(not_found({})) : SshPublicKey::parse(row->ssh_key);
    return key.ok() ? Json(key->fingerprint()) : Json();
}

bool is_approval(const JournalGroup& group) {
    return group.entries.front().reason == JournalReason::kMemoApproved;
}

}  // namespace

const List<ApprovalOf>& approval_list() {
    using Of = const ApprovalOf&;
    static const List<ApprovalOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
        {"command_id", kText, kLedger, [](Of of) -> Value { return of.group.command_id; }},
        {"subject", kText, kLedger, [](Of of) -> Value { return of.subject; }},
        {"approved_by", kText, kLedger, [](Of of) -> Value { return of.group.actor; }},
        {"approved_at", kTime, kLedger, [](Of of) -> Value { return of.group.recorded_at; }},
        {"key", kText, kLedger, [](Of of) -> Value { return of.key; }},
        {"verdict", kText, kLedger, [](Of of) -> Value { return of.verdict; }}};
    return list;
}

std::uint64_t write_approvals(LedgerReader& ledger, const ReportFilter& filter, bool verifies,
                              RowOutput& out) {
    const auto accounts = account_ids(ledger);
    std::uint64_t faults = 0;
    std::string last;  // an approval of a payout run has a memo entry for each payout
    ledger.scan_journal(0, [&](const JournalGroup& group) {
        const auto account = accounts.find(group.account);
        const bool wanted = account != accounts.end() && is_approval(group) &&
                            (!filter.account || *filter.account == account->second);
        if (!wanted || group.command_id == last) {
            return;
        }
        last = group.command_id;
        SignedApproval row{.account = group.account, .command_id = group.command_id};
        const SignedApproval* const found = ledger.load(row) ? &row : nullptr;
        const std::string verdict = verdict_of(group, found);
        faults += verdict == "valid" || verdict == "unsigned" ? 0U : 1U;
        const std::string subject = found != nullptr          ? found->subject
                                    : group.payout_id.empty() ? group.entries.front().line.str()
                                                              : group.payout_id;
        out.add(approval_list().row({account->second, group, subject, fingerprint_of(found),
                                     verifies ? Json(verdict) : Json()}));
    });
    return verifies ? faults : 0;
}

}  // namespace sluice::lists
