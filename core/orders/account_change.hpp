// The steps that commands on an account share.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Returns the account's program, or kNotFound.
[[nodiscard]] Result<ProgramRow> program_of_account(LedgerReader& ledger,
                                                    const CommandContext& context,
                                                    const ProgramId& program);

/// Changes the account's row, or makes it. Invalidates caches.
template <class Change>
void change_account(LedgerTxn& txn, AccountNumber account, const AccountId& account_id,
                    Change change) {
    AccountRow row{.account = account};
    if (!txn.load(row)) {
        row = AccountRow{};
        row.account = account;
        row.account_id = account_id;
    }
    change(row);
    txn.put(row);
    ++txn.mutable_head().programs_revision;
}

/// Posts a memo entry of a command that is about no order. Returns its number.
std::uint64_t post_memo(LedgerTxn& txn, const CommandContext& context, AccountNumber account,
                        JournalReason reason, std::string_view line = {},
                        const CreatorId& creator = {}, const ProgramId& program = {});

}  // namespace sluice
