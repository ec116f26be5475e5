// A ledger in memory, for tests of the rules: the interface and nothing else.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice::test {

/// All tables as sorted maps; a transaction works on a copy and swaps it in.
struct MemoryTables {
    using VariantKey =
        std::tuple<AccountNumber, ShopNumber, std::string, std::string, std::string, ProductId>;

    std::array<std::map<std::string, AnyRow>, kDescribedTables> rows;  ///< By their sort keys.
    std::map<std::string, LedgerHead> heads;  ///< By node; programs_revision is shared.
    std::uint64_t programs_revision = 0;
    std::map<std::pair<AccountNumber, std::string>, ChainHead> chains;
    std::map<OrderKey, OrderState> orders;
    std::map<OrderKey, std::vector<EventTrace>> events;
    std::map<std::pair<std::string, std::uint64_t>, JournalGroup> journal;  ///< By node, entry.
    std::map<BalanceKey, Balance> balances;
    std::map<CatalogKey, CatalogRecord> catalog;
    std::map<VariantKey, CatalogKey> variants;
};

class MemoryLedger : public Ledger {
public:
    MemoryLedger();
    [[nodiscard]] std::unique_ptr<LedgerTxn> begin(std::string_view node) override;
    [[nodiscard]] std::unique_ptr<LedgerReader> snapshot(std::string_view node) override;

private:
    std::shared_ptr<MemoryTables> tables_;
};

}  // namespace sluice::test
