#include "core/orders/account_change.hpp"

#include <optional>
#include <utility>

#include "core/orders/post.hpp"
#include "core/rules/account.hpp"

namespace sluice {

Result<ProgramRow> program_of_account(LedgerReader& ledger, const CommandContext& context,
                                      const ProgramId& program) {
    std::optional<ProgramRow> row = ledger.program(program);
    if (!row || row->program.account != context.account) {
        return not_found("account " + context.account_id.str() + " has no program " +
                         program.str());
    }
    return *std::move(row);
}

std::uint64_t post_memo(LedgerTxn& txn, const CommandContext& context, AccountNumber account,
                        JournalReason reason, std::string_view line, const CreatorId& creator,
                        const ProgramId& program) {
    JournalGroup group =
        group_of(context.source, account, account_settings(txn, account).row.closed_until);
    group.creator = creator;
    group.program = program;
    group.entries.push_back(memo_of(reason, line));
    return post_group(txn, std::move(group));
}

}  // namespace sluice
