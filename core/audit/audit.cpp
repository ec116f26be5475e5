#include "core/audit/audit.hpp"

#include "core/audit/parts.hpp"

namespace sluice {

std::vector<AuditFinding> audit_ledger(LedgerReader& ledger, std::size_t findings_max) {
    Findings findings(findings_max);
    JournalFacts facts;
    ItemFacts items;
    findings.guard('a', [&] { facts = audit_journal(ledger, findings); });
    if (findings.wanted()) {
        findings.guard('c', [&] { items = audit_payouts(ledger, facts, findings); });
    }
    if (findings.wanted()) {
        findings.guard('d', [&] { audit_orders(ledger, facts, items, findings); });
    }
    if (findings.wanted()) {
        findings.guard('f', [&] { audit_periods(ledger, findings); });
    }
    return std::move(findings).take();
}

std::string to_string(const AuditFinding& finding) {
    return std::string(1, finding.rule) + ": " + finding.row + ": " + finding.wrong;
}

}  // namespace sluice
