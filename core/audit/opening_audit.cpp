#include <map>
#include <string>
#include <tuple>

#include "core/audit/parts.hpp"
#include "core/ledger/command_rows.hpp"

namespace sluice {
namespace {

using OpeningKey = std::tuple<AccountNumber, ProgramId, CreatorId, Currency>;

/// An opening balance as its posting says.
struct Standing {
    std::string command_id;
    Timestamp at;
};

std::map<OpeningKey, Standing> standing_openings(LedgerReader& ledger) {
    std::map<OpeningKey, Standing> standing;
    ledger.scan(MoneyCommand{}, {}, [&standing](const MoneyCommand& row) {
        if (row.topic == Topic::kOpeningImport && row.reversed_by.empty()) {
            standing[{row.account, row.program, row.creator, row.currency}] = {row.command_id,
                                                                               row.sale_at};
        }
    });
    return standing;
}

std::string date_text(const std::optional<Timestamp>& at) {
    return at ? at->to_string() : "no date";
}

}  // namespace

void audit_openings(LedgerReader& ledger, Findings& findings) {
    std::map<OpeningKey, Standing> standing = standing_openings(ledger);
    std::map<ProgramId, Timestamp> dates;
    for (const auto& [key, opening] : standing) {
        dates[std::get<ProgramId>(key)] = opening.at;
    }
    ledger.scan(OpeningBalance{}, {}, [&](const OpeningBalance& row) {
        const auto found = standing.find({row.account, row.program, row.creator, row.currency});
        if (found == standing.end() || found->second.command_id != row.command_id ||
            found->second.at != row.at) {
            findings.add('d', row_name(row),
                         "it is " + row.command_id + " of " + row.at.to_string() +
                             ", which posted no such balance or was reversed");
        }
        if (found != standing.end()) {
            standing.erase(found);
        }
        return findings.wanted();
    });
    for (const auto& [key, opening] : standing) {
        const auto& [account, program, creator, currency] = key;
        findings.add('d', row_name(OpeningBalance{account, program, creator, currency, {}, {}}),
                     "the row is missing, though " + opening.command_id + " was not reversed");
    }
    ledger.scan_programs([&](const ProgramRow& row) {
        const auto found = dates.find(row.program.id);
        const auto date = found == dates.end() ? std::nullopt : std::optional(found->second);
        findings.compare('d', "table programs, program " + row.program.id.str(),
                         "the date of its opening balances", date_text(row.opening_at),
                         "these balances", date_text(date));
        return findings.wanted();
    });
}

}  // namespace sluice
