// Programs as events need them: which cover a shop, and their rates, prepared once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/rules/rate_book.hpp"

namespace sluice {

/// Valid for as long as the ledger's programs_revision stays; looks at it with every call.
class ProgramCache {
public:
    /// The programs that cover a shop, by program id. Valid until the next change of a program.
    [[nodiscard]] const std::vector<const ProgramRow*>& covering(LedgerReader& ledger,
                                                                 AccountNumber account,
                                                                 ShopNumber shop,
                                                                 std::string_view shop_id);
    /// The current rates of a program. nullptr: the account has no such program.
    [[nodiscard]] const RateBook* rates(LedgerReader& ledger, AccountNumber account,
                                        const ProgramId& program);
    void clear() noexcept;

private:
    struct Account {
        std::vector<ProgramRow> rows;
        std::unordered_map<std::uint32_t, std::vector<const ProgramRow*>> by_shop;
        std::unordered_map<std::string, std::unique_ptr<RateBook>> rates;
    };
    Account& account_of(LedgerReader& ledger, AccountNumber account);

    std::uint64_t revision_ = 0;
    std::unordered_map<std::uint32_t, Account> accounts_;
};

}  // namespace sluice
