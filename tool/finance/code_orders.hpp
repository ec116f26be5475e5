// Code orders: the orders that carry a discount code, for commands on all of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "program/cli/cli.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {

struct CodeOptions {
    std::string code;
    std::optional<Timestamp> from, until;  ///< Time of the sale: [from, until).

    [[nodiscard]] bool is_given() const noexcept { return !code.empty(); }
};
/// Trims a code. Returns kInvalid if it is empty.
[[nodiscard]] Result<std::string> parse_code(std::string_view text);
/// Adds `--code`, `--from` and `--until`. Returns `--code`.
Option add_code_options(Subcommand app, CodeOptions& target);

/// Visits the account's orders that carry the code, by the time of the sale, until `visit` returns
/// false.
void visit_code_orders(LedgerReader& ledger, AccountNumber account, const CodeOptions& options,
                       const Visitor<OrderState>& visit);

/// Finds the orders that the filter takes, in the account that `submit` names, or else in the only
/// one that has orders with the code; sets that account. Returns kConflict if several have some,
/// kLimit if there are more than kCodeOrdersMax.
[[nodiscard]] Result<CodeOrders> find_code_orders(
    const Frame& frame, const CodeOptions& options, SubmitOptions& submit,
    const std::function<bool(const OrderState&)>& filter);

}  // namespace sluice::cli
