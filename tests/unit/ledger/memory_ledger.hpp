// A ledger in memory, for tests of the rules: the interface and nothing else.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice::test {

/// All tables as sorted maps; a transaction works on a copy and swaps it in.
struct MemoryTables {
    using ProgramKey = std::pair<AccountNumber, ProgramId>;
    using OpenKey =
        std::tuple<AccountNumber, ProgramId, bool, Timestamp, ShopNumber, OrderId, Currency>;
    using VariantKey =
        std::tuple<AccountNumber, ShopNumber, std::string, std::string, std::string, ProductId>;
    using TouchKey = std::tuple<AccountNumber, Digest256, ProgramId, Timestamp, CreatorId>;

    LedgerHead head;
    std::map<AccountNumber, ChainHead> chains;
    std::map<ShopId, ShopRow> shops;
    std::map<OrderKey, OrderState> orders;
    std::map<OrderKey, std::vector<EventTrace>> events;
    std::map<std::tuple<AccountNumber, ShopNumber, std::string>, RefundOwner> refund_owners;
    std::map<std::pair<OrderKey, AnomalyKind>, Anomaly> anomalies;
    std::map<std::uint64_t, JournalGroup> journal;
    std::map<BalanceKey, Balance> balances;
    std::map<OpenKey, OpenAmount> open;
    std::map<WaitKey, std::set<OrderKey>> waiting;
    std::map<std::tuple<AccountNumber, Digest256, ProgramId>, CodeRow> codes;
    std::map<std::tuple<AccountNumber, ProgramId, CreatorId>, Membership> memberships;
    std::map<TouchKey, Touch> touches;
    std::map<ProgramId, std::map<std::uint32_t, ProgramRow>> programs;
    std::map<CatalogKey, CatalogRecord> catalog;
    std::map<VariantKey, CatalogKey> variants;
    std::vector<Payout> payouts;
    std::map<SequenceNumber, CommandRow> commands;
    std::map<SequenceNumber, DeadLetter> dead;
    std::map<std::uint64_t, Work> work;
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
