// Account: its settings and programs, the ids of its creators, and what blocks its orders' payouts
// (rules H1, H2, J4).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/programs/policy.hpp"

namespace sluice {

/// The settings that every input of an account needs, read together.
struct AccountSettings {
    AccountRow row{};
    Policy policy;               ///< The defaults if the account has none.
    std::uint32_t blocking = 0;  ///< Bits of the anomaly kinds that block.
};
/// Throws LedgerFailure if the stored policy is damaged.
[[nodiscard]] AccountSettings account_settings(LedgerReader& ledger, AccountNumber account);
/// Returns bits of the anomaly kinds that block under a policy.
[[nodiscard]] std::uint32_t blocking_kinds(const Policy& policy);

/// Programs that rows of one snapshot or transaction name, each read once.
class ProgramsByName {
public:
    explicit ProgramsByName(LedgerReader& ledger) : ledger_(ledger) {}
    /// Returns nullptr if there is no such program.
    [[nodiscard]] const ProgramRow* find(const ProgramId& id);

private:
    LedgerReader& ledger_;
    std::map<std::string, std::optional<ProgramRow>> rows_;
};

// A creator that was renamed has several ids. Rows name the first one; commands accept all.

/// Returns the first id of the creator with the id `given`.
[[nodiscard]] CreatorId first_id(LedgerReader& ledger, AccountNumber account,
                                 const CreatorId& given);
/// Returns the id that reports show.
[[nodiscard]] CreatorId shown_id(LedgerReader& ledger, AccountNumber account,
                                 const CreatorId& first);
/// Returns the id that reports showed before `until`, by accounting date: a closed month keeps the
/// names that it had.
[[nodiscard]] CreatorId shown_id_until(LedgerReader& ledger, AccountNumber account,
                                       const CreatorId& first, Timestamp until);

/// Returns true if a hold on the creator applies in the program.
[[nodiscard]] bool is_held(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
                           const ProgramId& program);

}  // namespace sluice
