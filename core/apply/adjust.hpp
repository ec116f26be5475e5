// Money by hand: adjust, credit, reverse (books J1, H3).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

// Checked now; booked now, or when another actor approves: then the reply is kWaiting.

[[nodiscard]] Result<Reply> adjust_order(const Adjust& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> book_credit(const Credit& command, const CommandContext& context,
                                        ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> reverse_money(const Reverse& command, const CommandContext& context,
                                          ProgramCache& programs, LedgerTxn& txn);

/// Leaves the command for another actor (H3). @return the reply that says so.
struct AskedAbout {
    std::optional<Money> amount{};
    ProgramId program{};
    CreatorId creator{};
};
[[nodiscard]] Reply wait_for_approval(const CommandContext& context, const AskedAbout& about,
                                      LedgerTxn& txn);

}  // namespace sluice
