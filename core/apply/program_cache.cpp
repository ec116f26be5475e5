#include "core/apply/program_cache.hpp"

#include <algorithm>

namespace sluice {

ProgramCache::Account& ProgramCache::account_of(LedgerReader& ledger, AccountNumber account) {
    const std::uint64_t revision = ledger.head().programs_revision;
    if (revision != revision_) {
        accounts_.clear();
        revision_ = revision;
    }
    const auto [found, added] = accounts_.try_emplace(account.value);
    if (added) {
        found->second.rows = ledger.programs(account);
    }
    return found->second;
}

const std::vector<const ProgramRow*>& ProgramCache::covering(LedgerReader& ledger,
                                                             AccountNumber account, ShopNumber shop,
                                                             std::string_view shop_id) {
    Account& cached = account_of(ledger, account);
    const auto [found, added] = cached.by_shop.try_emplace(shop.value);
    if (added) {
        for (const ProgramRow& row : cached.rows) {
            if (row.program.covers(shop_id)) {
                found->second.push_back(&row);
            }
        }
    }
    return found->second;
}

const RateBook* ProgramCache::rates(LedgerReader& ledger, AccountNumber account,
                                    const ProgramId& program) {
    Account& cached = account_of(ledger, account);
    std::unique_ptr<RateBook>& book = cached.rates[program.str()];
    for (const ProgramRow& row : cached.rows) {
        if (!book && row.program.id == program) {
            book = std::make_unique<RateBook>(row);
        }
    }
    return book.get();
}

void ProgramCache::clear() noexcept {
    accounts_.clear();
    revision_ = 0;
}

}  // namespace sluice
