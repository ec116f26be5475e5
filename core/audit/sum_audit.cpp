// Sums by day and month against the postings of the journal.
#include "core/audit/parts.hpp"
#include "core/journal/journal.hpp"
#include "core/positions/open_amounts.hpp"

namespace sluice {
namespace {

StatementAmounts negated(const StatementAmounts& amounts) {
    return {-amounts.earned, -amounts.adjusted, -amounts.paid_out, -amounts.settled};
}

/// Names a sum without the node, since the parts of all nodes are added up.
std::string sum_name(const char* table, AccountNumber account, std::uint32_t date) {
    return std::string("table ") + table + ", account " + std::to_string(account.value) + ", " +
           std::to_string(date);
}

std::string excess(const StatementAmounts& amounts) {
    return "its postings exceed it by earned " + amounts.earned.to_string() + ", adjusted " +
           amounts.adjusted.to_string() + ", paid_out " + amounts.paid_out.to_string() +
           ", settled " + amounts.settled.to_string();
}

}  // namespace

void SumAudit::count(const JournalGroup& group, const JournalEntry& entry) {
    const std::uint32_t day = day_of(group.accounting_date);
    Day& counts = days_[{group.account, day, group.program}];
    if (entry.reason == JournalReason::kMemoAttributed) {
        ++counts.attributed;
    } else if (entry.reason == JournalReason::kMemoDetached) {
        ++counts.detached;
    }
    if (is_memo(entry.reason)) {
        return;
    }
    const StatementAmounts amounts = statement_amounts(entry);
    counts.amounts[entry.currency] += amounts;
    months_[{group.account, day / 100, group.creator, group.program, entry.currency}] += amounts;
}

void SumAudit::check(LedgerReader& ledger, Findings& findings) {
    ledger.scan(MonthlySum{}, {}, [this](const MonthlySum& part) {
        months_[{part.account, part.month, part.creator, part.program, part.currency}] +=
            negated(part);
        return true;
    });
    for (const auto& [key, left] : months_) {
        const auto& [account, month, creator, program, currency] = key;
        if (!left.is_zero()) {
            findings.add('b',
                         sum_name("monthly", account, month) + ", creator " + creator.str() +
                             ", program " + program.str() + ", currency " +
                             std::string(currency.code()),
                         excess(left));
        }
    }
    check_days(ledger, findings);
}

void SumAudit::check_days(LedgerReader& ledger, Findings& findings) {
    std::uint64_t orders = 0;
    ledger.scan(DailySum{}, {}, [&](const DailySum& part) {
        Day& left = days_[{part.account, part.day, part.program}];
        left.amounts[part.currency] += negated(part);
        left.attributed -= part.attributed;
        left.detached -= part.detached;
        orders += part.orders;
        return true;
    });
    for (const auto& [key, left] : days_) {
        const auto& [account, day, program] = key;
        const std::string name = sum_name("daily", account, day) + ", program " + program.str();
        for (const auto& [currency, amounts] : left.amounts) {
            if (!amounts.is_zero()) {
                findings.add('b', name + ", currency " + std::string(currency.code()),
                             excess(amounts));
            }
        }
        if (left.attributed != 0 || left.detached != 0) {
            findings.add('b', name, "its attributions are not those of the journal");
        }
    }
    std::uint64_t all_orders = 0;
    ledger.scan_heads([&all_orders](const LedgerHead& head) {
        all_orders += head.totals.orders;
        return true;
    });
    findings.compare('b', "table daily", "the number of orders", orders, "the heads", all_orders);
}

void audit_open_sums(LedgerReader& ledger, Findings& findings) {
    std::map<std::string, OpenDaily> sums;  // what is stored less what is open, by key
    const auto add = [&sums](OpenDaily part) {
        part.node = 0;
        const auto [sum, added] = sums.try_emplace(sort_key(part), part);
        if (!added) {
            add_columns(sum->second, part);
        }
    };
    ledger.scan(OpenDaily{}, {}, [&add](const OpenDaily& part) {
        add(part);
        return true;
    });
    ledger.scan(OpenAmount{}, {}, [&add](const OpenAmount& row) {
        add(taken(open_sum(row)));
        return true;
    });
    for (const auto& [key, left] : sums) {
        if (!is_dropped(left)) {
            findings.add('e', row_name(left),
                         "it exceeds the open amounts by above " + left.above.to_string() +
                             ", below " + left.below.to_string() + ", amounts " +
                             left.amounts.to_string());
        }
    }
}

}  // namespace sluice
