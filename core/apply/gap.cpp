#include <set>
#include <string>

#include "core/apply/command.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {

/// The journal of every account says so, because the lost inputs may be of any.
Result<Reply> run_verb(const AcceptGap& command, const CommandContext& context,
                       ProgramCache& /*programs*/, LedgerTxn& txn) {
    if (command.first != context.source.seq || command.last < command.first ||
        command.last.value > kSequenceMax) {
        return refused("the gap is not the one at this place of the queue");
    }
    if (Status given = check_reason(context); !given) {
        return given.error();
    }
    std::set<AccountNumber> accounts;
    txn.scan_shops([&accounts](const ShopRow& row) {
        accounts.insert(row.account);
        return true;
    });
    txn.scan(AccountRow{}, {}, [&accounts](const AccountRow& row) {
        accounts.insert(row.account);
        return true;
    });
    txn.scan(ProgramHead{}, {}, [&accounts](const ProgramHead& row) {
        accounts.insert(row.account);
        return true;
    });
    const std::string numbers =
        std::to_string(command.first.value) + "-" + std::to_string(command.last.value);
    for (const AccountNumber account : accounts) {
        post_memo(txn, context, account, JournalReason::kMemoGapAccepted, numbers);
    }
    return done("inputs " + numbers + " are lost, and the worker continues after them");
}

}  // namespace sluice
