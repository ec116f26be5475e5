// Soundness of credits: checks that an amount without an order fits the journal and the payouts
// that made it (rule O6). The rows are input: an edited credit is an error, and is never paid.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// Reads the journal and the active payouts of one creator at a time. Credits that are loaded
/// creator by creator read them once. Within one transaction, nothing may be posted to a creator
/// between two loads of that creator's credits.
class SoundCredits {
public:
    /// `ledger` must outlive this object.
    explicit SoundCredits(LedgerReader& ledger) : ledger_(ledger) {}

    /// Loads a credit, an opening balance or a write-off that is about to be paid, released or
    /// reversed. Returns false if there is none of this id. Throws DamagedRow.
    [[nodiscard]] bool load(const std::string& command_id, MoneyCommand& credit);
    /// Returns the active payouts that have an item of the credit. Requires: load() loaded it last.
    [[nodiscard]] std::vector<std::string> payouts_of(const MoneyCommand& credit);
    /// Notes payouts that have ended and still hold their items, until released() names each.
    void expect_release(std::span<const Payout> ended);
    /// Notes that the payout's item of the command was released.
    void released(const std::string& payout_id, const std::string& command_id);

private:
    /// The postings of one credit.
    struct Posted {
        Decimal amount, reversed;
    };

    void read(AccountNumber account, const CreatorId& creator);
    void read_reversal(const std::string& command_id, const Decimal& amount);
    void read_payouts(const std::vector<std::string>& ids);
    [[nodiscard]] bool load_item(const Payout& payout, const MoneyCommand& credit,
                                 PayoutItem& item);
    [[nodiscard]] std::string damage_of(const MoneyCommand& credit);

    LedgerReader& ledger_;
    AccountNumber account_;
    CreatorId creator_;                     ///< Empty before the first read.
    std::map<std::string, Posted> posted_;  ///< By the credit's command id.
    std::vector<Payout> payouts_;           ///< Active ones, and those that release their items.
    std::set<std::string> ended_;           ///< By payout id.
    std::set<std::pair<std::string, std::string>> released_;  ///< Payout and credit.
};

}  // namespace sluice
