// Sums by day and month against the postings of the journal.
#include <type_traits>

#include "core/audit/parts.hpp"
#include "core/journal/journal.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/values/hour_sums.hpp"

namespace sluice {
namespace {

/// Names a sum without the node, since the parts of all nodes are added up.
std::string sum_name(const char* table, AccountNumber account, std::uint32_t date) {
    return std::string("table ") + table + ", account " + std::to_string(account.value) + ", " +
           std::to_string(date);
}

/// Compares each sum of two rows.
template <class Row>
void compare(const std::string& name, const Row& stored, const Row& posted, Findings& findings) {
    for (const Column& column : table_of<Row>().rest) {
        with_value(column.kind, column.find(&stored), [&](const auto& value) {
            using Value = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::uint64_t> || std::is_same_v<Value, Decimal>) {
                findings.compare('b', name, column.name, value, "its postings",
                                 *static_cast<const Value*>(column.find(&posted)));
            }
        });
    }
}

}  // namespace

void SumAudit::count(const JournalGroup& group, const JournalEntry& entry) {
    if (is_memo(entry.reason)) {
        return;
    }
    const std::uint32_t day = day_of(group.accounting_date);
    add_posting(days_[{group.account, day, group.program, entry.currency}].posted, group, entry);
    months_[{group.account, day / 100, group.creator, group.program, entry.currency}].posted +=
        statement_amounts(entry);
}

void SumAudit::check(LedgerReader& ledger, Findings& findings) {
    ledger.scan(MonthlySum{}, {}, [this](const MonthlySum& part) {
        add_columns(
            months_[{part.account, part.month, part.creator, part.program, part.currency}].stored,
            part);
    });
    for (const auto& [key, sum] : months_) {
        const auto& [account, month, creator, program, currency] = key;
        compare(sum_name("monthly", account, month) + ", creator " + creator.str() + ", program " +
                    program.str() + ", currency " + std::string(currency.code()),
                sum.stored, sum.posted, findings);
    }
    check_days(ledger, findings);
}

void SumAudit::check_days(LedgerReader& ledger, Findings& findings) {
    ledger.scan(DailySum{}, {}, [this](const DailySum& part) {
        add_columns(days_[{part.account, part.day, part.program, part.currency}].stored, part);
    });
    for (const auto& [key, sum] : days_) {
        const auto& [account, day, program, currency] = key;
        compare(sum_name("daily", account, day) + ", program " + program.str() + ", currency " +
                    std::string(currency.code()),
                sum.stored, sum.posted, findings);
    }
}

void audit_open_sums(LedgerReader& ledger, Findings& findings) {
    std::map<std::string, OpenHours> sums;  // what is stored less what is open, by key
    const auto add = [&sums](OpenHours part) {
        part.node = 0;
        const auto [sum, added] = sums.try_emplace(sort_key(part), part);
        if (!added) {
            add_columns(sum->second, part);
        }
    };
    ledger.scan(OpenHours{}, {}, [&add](const OpenHours& part) { add(part); });
    ledger.scan(OpenAmount{}, {}, [&add](const OpenAmount& row) { add(open_hours(row, -1)); });
    for (const auto& [key, left] : sums) {
        HourReader hours(left.hours);
        for (HourSum one; hours.next(one);) {
            findings.add('e', row_name(left),
                         "the hour " + start_of_hour(left.span, one.hour).to_string() +
                             " exceeds the open amounts by " +
                             Decimal(one.units, left.currency.minor_units()).to_string() +
                             " and a number of " + std::to_string(one.amounts));
        }
        if (!hours.is_complete()) {
            findings.add('e', row_name(left), "hours: not as sluice writes them");
        }
    }
}

}  // namespace sluice
