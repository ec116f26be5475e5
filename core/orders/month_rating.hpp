// Month rating: gives the orders of a creator's month the tiers of the month's volume, and posts
// the differences (rule M4, `tiers_apply`).
#pragma once

#include <map>

#include "core/ledger/head.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/left_work.hpp"
#include "core/orders/program_cache.hpp"
#include "core/rules/tiers.hpp"

namespace sluice {

/// Requires: no volume of the month changes while it is used.
class MonthRating {
public:
    /// @param work  Of the kind kTiers.
    MonthRating(const Work& work, ProgramCache& programs, LedgerTxn& txn)
        : work_(work),
          programs_(programs),
          txn_(txn),
          source_(source_of(work)),
          tiers_(work.program, txn) {}

    /// Passes over a damaged order, which `sluice doctor` reports.
    void rate(const OrderKey& order);

private:
    const Money& volume(Currency currency);

    const Work& work_;
    ProgramCache& programs_;
    LedgerTxn& txn_;
    Source source_;  ///< Its note is the volume.
    MonthTiers tiers_;
    std::map<Currency, Money> volumes_;
};

}  // namespace sluice
