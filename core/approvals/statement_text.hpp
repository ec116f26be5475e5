// Statement text: what an approver signs, in words that a person can read (controls K5). Internal
// to core/approvals.
#pragma once

#include <string>

#include "core/approvals/subject.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Returns lines `key: value`: the command, who requested it, payees before and after, the change
/// for each creator, the totals of a period, each payout; then the totals. Whatever a forget
/// changes later leaves them as they are, because a rebuild verifies the signature again.
[[nodiscard]] std::string statement_lines(const ApprovalSubject& subject, LedgerReader& ledger);

}  // namespace sluice
