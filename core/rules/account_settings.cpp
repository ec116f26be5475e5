#include "core/rules/account_settings.hpp"

#include <optional>
#include <utility>

#include "core/commands/program_json.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/plausibility.hpp"

namespace sluice {

AccountSettings account_settings(LedgerReader& ledger, AccountNumber account) {
    AccountSettings settings;
    settings.row.account = account;
    if (!ledger.load(settings.row)) {
        settings.row = AccountRow{};
        settings.row.account = account;
    }
    if (!settings.row.policy.empty()) {
        std::optional<Policy> policy = decode_policy(settings.row.policy);
        if (!policy) {
            throw LedgerFailure(
                {ErrorCode::kCorrupt,
                 "ledger: the policy of account " + settings.row.account_id.str() + " is damaged"});
        }
        settings.policy = *std::move(policy);
    }
    settings.blocking = blocking_kinds(settings.policy);
    return settings;
}

}  // namespace sluice
