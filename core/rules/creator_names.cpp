#include "core/rules/creator_names.hpp"

#include "core/commands/program.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {

CreatorId first_id(LedgerReader& ledger, AccountNumber account, const CreatorId& given) {
    CreatorAlias alias{account, given, {}};
    return ledger.load(alias) ? alias.creator : given;
}

CreatorId shown_id(LedgerReader& ledger, AccountNumber account, const CreatorId& first) {
    CreatorRow row{account, first, {}, {}, {}};
    return ledger.load(row) && !row.shown_as.empty() ? row.shown_as : first;
}

CreatorId shown_id_until(LedgerReader& ledger, AccountNumber account, const CreatorId& first,
                         Timestamp until) {
    if (shown_id(ledger, account, first) == first) {
        return first;  // an id is never used again: it was never renamed
    }
    CreatorId shown = first;
    ledger.scan_creator_journal(account, first, kFirstInstant, until,
                                [&](const JournalGroup& group) {
                                    for (const JournalEntry& entry : group.entries) {
                                        if (entry.reason == JournalReason::kMarkRenamed) {
                                            shown = CreatorId(entry.line.str());
                                        }
                                    }
                                    return true;
                                });
    return shown;
}

}  // namespace sluice
