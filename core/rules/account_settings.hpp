// Account settings: what every input of an account needs to know of it, read together.
#pragma once

#include <cstdint>

#include "core/commands/policy.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

struct AccountSettings {
    AccountRow row;
    Policy policy;               ///< The defaults if the account has none.
    std::uint32_t blocking = 0;  ///< Bits of the anomaly kinds that block.
};
/// Throws LedgerFailure if the stored policy is damaged.
[[nodiscard]] AccountSettings account_settings(LedgerReader& ledger, AccountNumber account);

}  // namespace sluice
