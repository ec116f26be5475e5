#include "core/audit/audit.hpp"

#include "core/approvals/subject.hpp"
#include "core/audit/parts.hpp"

namespace sluice {
namespace {

/// Checks pending commands against their memo entries (h).
void audit_approvals(LedgerReader& ledger, Findings& findings) {
    const auto is_kept = [](const PendingApproval& row) {
        return row.state == ApprovalState::kPending || !row.body.empty();
    };
    for (const PendingApproval& row : ledger.rows(PendingApproval{}, {}, is_kept)) {
        if (const std::optional<std::string> damage = damage_of(row, ledger)) {
            findings.add('h', row_name(row), *damage);
        }
    }
}

}  // namespace

std::vector<AuditFinding> audit_ledger(LedgerReader& ledger, std::size_t findings_max) {
    Findings findings(findings_max);
    JournalFacts facts;
    ItemFacts items;
    findings.guard('a', [&] { facts = audit_journal(ledger, findings); });
    findings.guard('c', [&] { items = audit_payouts(ledger, facts, findings); });
    findings.guard('d', [&] { audit_orders(ledger, facts, items, findings); });
    findings.guard('e', [&] { audit_open_sums(ledger, findings); });
    findings.guard('d', [&] { audit_openings(ledger, findings); });
    findings.guard('f', [&] { audit_periods(ledger, findings); });
    findings.guard('h', [&] { audit_approvals(ledger, findings); });
    findings.guard('i', [&] { audit_limits(ledger, findings); });
    return std::move(findings).take();
}

std::string to_string(const AuditFinding& finding) {
    return std::string(1, finding.rule) + ": " + finding.row + ": " + finding.wrong;
}

}  // namespace sluice
