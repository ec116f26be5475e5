// Program cache: which programs cover a shop, their rates and the account's policy, prepared once
// for many events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/rate_book.hpp"

namespace sluice {

/// Every call compares the ledger's programs_revision, and drops the cache if it changed.
class ProgramCache {
public:
    /// Valid until the next change of a program.
    [[nodiscard]] const std::vector<Covering>& covering(LedgerReader& ledger, AccountNumber account,
                                                        ShopNumber shop, std::string_view shop_id);
    /// Returns the current rates of a program that an order is attributed to. Throws DamagedRow for
    /// the order if its account has no such program.
    [[nodiscard]] const RateBook& rates(LedgerReader& ledger, const OrderKey& order,
                                        const ProgramId& program);
    [[nodiscard]] const AccountSettings& settings(LedgerReader& ledger, AccountNumber account);
    /// Returns the account's current programs.
    [[nodiscard]] const std::vector<ProgramRow>& programs(LedgerReader& ledger,
                                                          AccountNumber account);
    /// True if a rule of the account asks for new or returning customers.
    [[nodiscard]] bool asks_for_customer(LedgerReader& ledger, AccountNumber account);
    void clear() noexcept;

private:
    struct Account {
        AccountSettings settings;
        bool asks_for_customer = false;
        std::vector<ProgramRow> rows;
        std::unordered_map<std::uint32_t, std::vector<Covering>> by_shop;
        std::unordered_map<std::string, std::unique_ptr<RateBook>> rates;
    };
    Account& account_of(LedgerReader& ledger, AccountNumber account);

    std::uint64_t revision_ = 0;
    std::unordered_map<std::uint32_t, Account> accounts_;
};

}  // namespace sluice
