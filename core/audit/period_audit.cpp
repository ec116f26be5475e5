#include <map>
#include <optional>

#include "core/audit/parts.hpp"
#include "core/journal/period_sums.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

void compare_sums(const PeriodSum& stored, const PeriodSum& computed, Findings& findings) {
    const std::string name = row_name(computed);
    const auto compare = [&](const char* what, const auto& of_stored, const auto& of_computed) {
        findings.compare('f', name, what, of_stored, "its entries", of_computed);
    };
    compare("opening of owed", stored.opening_owed, computed.opening_owed);
    compare("opening of in_payout", stored.opening_in_payout, computed.opening_in_payout);
    compare("opening of paid", stored.opening_paid, computed.opening_paid);
    compare("its sums by reason", stored.reasons, computed.reasons);
    compare("closing of owed", stored.closing_owed, computed.closing_owed);
    compare("closing of in_payout", stored.closing_in_payout, computed.closing_in_payout);
    compare("closing of paid", stored.closing_paid, computed.closing_paid);
    compare("its number of entries", stored.entries, computed.entries);
    compare("its digest", to_hex(stored.digest), to_hex(computed.digest));
}

void audit_period(LedgerReader& ledger, const Period& period, const std::optional<Timestamp>& from,
                  Findings& findings) {
    std::uint64_t computed_rows = 0;
    period_sums(ledger, period.account, from, period.until, [&](const PeriodSum& computed) {
        ++computed_rows;
        PeriodSum stored = computed;
        if (ledger.load(stored)) {
            compare_sums(stored, computed, findings);
        } else {
            findings.add('f', row_name(computed),
                         "the row is missing, though the period has entries");
        }
    });
    const PeriodSum first{.account = period.account, .until = period.until};
    std::uint64_t stored_rows = 0;
    ledger.scan(first, {2, 2}, [&stored_rows](const PeriodSum& /*row*/) { ++stored_rows; });
    findings.compare('f', row_name(period), "its number of rows", stored_rows, "its entries",
                     computed_rows);
}

std::string text_of(const std::optional<Timestamp>& closed_until) {
    return closed_until ? closed_until->to_string() : "never";
}

/// Checks that each account's `closed_until` is the end of its last period.
void audit_accounts(LedgerReader& ledger, const std::map<AccountNumber, Timestamp>& closed,
                    Findings& findings) {
    ledger.scan(AccountRow{}, {}, [&](const AccountRow& row) {
        const auto found = closed.find(row.account);
        const auto computed = found == closed.end() ? std::nullopt : std::optional(found->second);
        if (row.closed_until != computed) {
            findings.add('f', row_name(row),
                         "it is closed until " + text_of(row.closed_until) + ", its periods say " +
                             text_of(computed));
        }
        return findings.wanted();
    });
}

}  // namespace

void audit_periods(LedgerReader& ledger, Findings& findings) {
    std::map<AccountNumber, Timestamp> closed;
    std::optional<Period> before;
    for (const Period& period : ledger.rows(Period{}, {})) {
        if (!findings.wanted()) {
            return;
        }
        const bool follows = before && before->account == period.account;
        audit_period(ledger, period, follows ? std::optional(before->until) : std::nullopt,
                     findings);
        before = period;
        closed[period.account] = period.until;
    }
    audit_accounts(ledger, closed, findings);
}

}  // namespace sluice
