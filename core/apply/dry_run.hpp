// Dry run: what a command would change, without changing it (rule A4).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// The number of orders of which the creator would have accrued another amount, and the sums over
/// these orders.
struct DryRunRow {
    ProgramId program;
    CreatorId creator;
    Currency currency;
    std::uint64_t orders = 0;
    Decimal before, after, difference;
};

/// Adds up, order by order, what two states of a ledger say.
class Differences {
public:
    /// Adds one order; nullptr stands for an order that does not exist.
    void add(const OrderState* before, const OrderState* after);
    [[nodiscard]] std::vector<DryRunRow> rows() const;

private:
    using Key = std::tuple<ProgramId, CreatorId, Currency>;
    using Accruals = std::map<Key, Decimal>;

    [[nodiscard]] static Accruals accruals_of(const OrderState* order);

    std::map<Key, DryRunRow> rows_;
};

struct DryRun {
    std::string text;             ///< The result that the command would have.
    std::vector<DryRunRow> rows;  ///< By program, creator, currency.
};

/// Runs the command with all the work that it leaves, over the reader and changes in memory, as if
/// another actor had approved it. Work of earlier inputs is finished first and not part of the
/// result. Returns the refusal if the command would be refused. Throws LedgerFailure.
/// @param context  The function sets its sequence number, and its command id if it has none.
[[nodiscard]] Result<DryRun> dry_run(const Command& command, CommandContext context,
                                     LedgerReader& ledger);

}  // namespace sluice
