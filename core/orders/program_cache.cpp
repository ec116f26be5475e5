#include "core/orders/program_cache.hpp"

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
        found->second.settings = account_settings(ledger, account);
        for (const ProgramRow& row : found->second.rows) {
            found->second.asks_for_customer |= row.program.asks_for_customer();
        }
    }
    return found->second;
}

const std::vector<Covering>& ProgramCache::covering(LedgerReader& ledger, AccountNumber account,
                                                    ShopNumber shop, std::string_view shop_id) {
    Account& cached = account_of(ledger, account);
    const auto [found, added] = cached.by_shop.try_emplace(shop.value);
    if (added) {
        found->second = covering_programs(cached.rows, shop_id, ledger);
    }
    return found->second;
}

const RateBook& ProgramCache::rates(LedgerReader& ledger, const OrderKey& order,
                                    const ProgramId& program) {
    Account& cached = account_of(ledger, order.account);
    std::unique_ptr<RateBook>& book = cached.rates[program.str()];
    if (!book) {
        const auto row = std::ranges::find_if(cached.rows, [&program](const ProgramRow& other) {
            return other.program.id == program;
        });
        if (row == cached.rows.end()) {
            throw DamagedRow(
                row_name("orders", order),
                "its account has no program " + program.str() + ", which it is attributed to",
                order);
        }
        book = std::make_unique<RateBook>(*row, ledger);
    }
    return *book;
}

const AccountSettings& ProgramCache::settings(LedgerReader& ledger, AccountNumber account) {
    return account_of(ledger, account).settings;
}

const std::vector<ProgramRow>& ProgramCache::programs(LedgerReader& ledger, AccountNumber account) {
    return account_of(ledger, account).rows;
}

bool ProgramCache::asks_for_customer(LedgerReader& ledger, AccountNumber account) {
    return account_of(ledger, account).asks_for_customer;
}

void ProgramCache::clear() noexcept {
    accounts_.clear();
    revision_ = 0;
}

}  // namespace sluice
