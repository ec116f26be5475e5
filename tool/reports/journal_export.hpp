// Journal export: postings of the journal for the general ledger of a company, as hledger,
// beancount or CSV read them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/journal_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

enum class JournalForm : std::uint8_t { kHledger, kBeancount, kCsv };

/// Which names of accounts and currencies an export declares: those that no posting before its
/// period has, none, or all that it has. Ledgers that open a name twice are refused by beancount.
enum class Declarations : std::uint8_t { kOnce, kNever, kAlways };

/// Names of the ledger accounts in the general ledger, such as `1740` or
/// `Liabilities:Commission:{program}:{creator}`.
class AccountMap {
public:
    /// The names without a file. Every name has account, program and creator, so that a balance of
    /// the general ledger is a row of `report balances`.
    AccountMap();
    /// Reads the columns ledger_account and code, optionally account_id, program_id and currency.
    /// The first row that fits decides. Returns kInvalid as `file:line: expectation`.
    [[nodiscard]] static Result<AccountMap> read(const std::string& file, JournalForm form);

    struct Place {
        std::string account, program, creator, currency;
    };
    /// Returns the name of a ledger account, with the ids in the characters that `form` allows.
    [[nodiscard]] std::string name_of(LedgerAccount account, const Place& place,
                                      JournalForm form) const;

private:
    struct Row {
        LedgerAccount ledger_account;
        std::string code;
        std::string account, program, currency;  ///< Empty means any.
    };
    std::vector<Row> rows_;
};

struct JournalExport {
    JournalForm form = JournalForm::kHledger;
    AccountMap map;
    std::optional<AccountId> account;  ///< Absent means every account.
    std::optional<Timestamp> from, to;
    Declarations open = Declarations::kOnce;
};

/// Writes the postings by account, creator and accounting date, one transaction for each group of
/// the journal. Memo entries are left out. Throws LedgerFailure.
void write_journal_export(LedgerReader& ledger, const JournalExport& of, std::FILE* out);

}  // namespace sluice::cli
