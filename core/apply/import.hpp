// What people bring in: creators, their codes, touches (books A1, A2).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

// Each is all or nothing.

[[nodiscard]] Result<Reply> import_creators(const CreatorImport& command,
                                            const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<Reply> remove_creator(const CreatorRemove& command,
                                           const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<Reply> import_touches(const TouchImport& command,
                                           const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<Reply> set_creator(const CreatorSet& command, const CommandContext& context,
                                        LedgerTxn& txn);
[[nodiscard]] Result<Reply> rename_creator(const CreatorRename& command,
                                           const CommandContext& context, ProgramCache& programs,
                                           LedgerTxn& txn);

/// Programs that the rows of an import name, each read once.
class ProgramsByName {
public:
    explicit ProgramsByName(LedgerReader& ledger) : ledger_(ledger) {}
    /// nullptr: there is no such program.
    [[nodiscard]] const ProgramRow* find(const ProgramId& id);

private:
    LedgerReader& ledger_;
    std::map<std::string, std::optional<ProgramRow>> rows_;
};

}  // namespace sluice
