// Covering: which programs cover a shop, and what the ledger knows of an account, read together.
#pragma once

#include <string_view>
#include <vector>

#include "core/commands/policy.hpp"
#include "core/ledger/ledger.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {

/// What every input of an account needs to know of it.
struct AccountSettings {
    AccountRow row;
    Policy policy;               ///< The defaults if the account has none.
    std::uint32_t blocking = 0;  ///< Bits of the anomaly kinds that block.
};
/// Throws LedgerFailure if the stored policy is damaged.
[[nodiscard]] AccountSettings account_settings(LedgerReader& ledger, AccountNumber account);

/// Programs that cover a shop, by program id. They point into `rows`.
[[nodiscard]] std::vector<Covering> covering_programs(const std::vector<ProgramRow>& rows,
                                                      std::string_view shop_id,
                                                      LedgerReader& ledger);

/// A hold on the creator, in the program or in all.
[[nodiscard]] bool is_held(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
                           const ProgramId& program);
/// HOLD, CREATOR_HOLD and the kinds of anomalies that block the order now.
[[nodiscard]] std::vector<std::string> blocked_by(const OrderState& order, LedgerReader& ledger);

}  // namespace sluice
