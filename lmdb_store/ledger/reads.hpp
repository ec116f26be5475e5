// The reading half of the embedded ledger, for snapshots and for the writer alike. Internal to this
// room.
#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/order_value.hpp"
#include "lmdb_store/ledger/row_value.hpp"
#include "lmdb_store/ledger/tables.hpp"

namespace sluice::store {

/// `Base` is LedgerReader or LedgerTxn. The class that derives from both halves owns the
/// transaction.
template <class Base>
class LedgerPointReads : public Base {
public:
    bool load_order(const OrderKey& key, OrderState& state) override;
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override;
    std::optional<RefundOwner> refund_owner(AccountNumber account, ShopNumber shop,
                                            std::string_view refund_id) override;
    std::optional<Anomaly> anomaly(const OrderKey& key, AnomalyKind kind) override;
    std::vector<CodeRow> code_owners(AccountNumber account, const Digest256& code) override;
    std::optional<Membership> membership(AccountNumber account, const ProgramId& program,
                                         const CreatorId& creator) override;
    void visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                       Timestamp upto, const Visitor<Touch>& visit) override;
    std::vector<ProgramRow> programs(AccountNumber account) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override;
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override;
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override;

    const LedgerHead& head() const override { return node_.head; }
    ChainHead chain(AccountNumber account) override;
    std::optional<ShopRow> shop(ShopNumber shop) override;
    std::optional<ProgramRow> program(const ProgramId& program) override;
    std::optional<ProgramRow> program_version(const ProgramId& program,
                                              std::uint32_t version) override;
    std::optional<CommandRow> command(SequenceNumber seq) override;
    std::optional<DeadLetter> dead_letter(SequenceNumber seq) override;
    std::optional<Balance> balance(const BalanceKey& key) override;
    std::vector<JournalGroup> order_journal(const OrderState& state) override;

    std::vector<OrderKey> waiting_orders(const WaitKey& key, const std::optional<OrderKey>& after,
                                         std::size_t max) override;
    std::optional<WaitKey> next_waiting(const WaitKey& from) override;
    std::optional<WaitKey> next_source(const WaitKey& from) override;

protected:
    explicit LedgerPointReads(const RowAccess& rows) : rows_(rows) {}
    /// Reads the head of a queue; one that is not there has number 0.
    void load_head(std::string_view node);

    RowAccess rows_;
    NodeHead node_;
    OrderValue order_value_;
    RowValue row_value_;

private:
    /// Decodes the value of `key`, if there is one, into `row`.
    template <class Row>
    std::optional<Row> find(Table table, const LedgerKey& key, Row row);
    std::optional<ProgramRow> program_row(Table table, const LedgerKey& key,
                                          const ProgramId& program);
    std::optional<CatalogKey> lowest_cut_product(RowCursor& cursor, CatalogKey found,
                                                 std::string_view prefix);
};

/// In the order that the interface promises, also where cut ids sort by their digests.
template <class Base>
class LedgerReads : public LedgerPointReads<Base> {
public:
    void scan_shops(const Visitor<ShopRow>& visit) override;
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override;
    void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) override;
    void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) override;
    void scan_balances(const Visitor<Balance>& visit) override;
    void scan_open(AccountNumber account, const ProgramId& program, bool adjustment, Timestamp from,
                   Timestamp to, const Visitor<OpenAmount>& visit) override;
    void scan_anomalies(AccountNumber account, ShopNumber shop,
                        const Visitor<Anomaly>& visit) override;
    void scan_catalog(AccountNumber account, ShopNumber shop,
                      const Visitor<CatalogRecord>& visit) override;
    void scan_payouts(const Visitor<Payout>& visit) override;
    void scan_programs(const Visitor<ProgramRow>& visit) override;
    void scan_memberships(AccountNumber account, const ProgramId& program,
                          const Visitor<Membership>& visit) override;
    void scan_codes(AccountNumber account, const ProgramId& program,
                    const Visitor<CodeRow>& visit) override;
    void scan_commands(const Visitor<CommandRow>& visit) override;
    void scan_dead(const Visitor<DeadLetter>& visit) override;
    std::optional<Work> first_work() override;

protected:
    using LedgerPointReads<Base>::LedgerPointReads;
    using LedgerPointReads<Base>::rows_;
    using LedgerPointReads<Base>::node_;
    using LedgerPointReads<Base>::order_value_;
    using LedgerPointReads<Base>::row_value_;

private:
    void load_open(OpenAmount& row);
};

extern template class LedgerPointReads<LedgerReader>;
extern template class LedgerPointReads<LedgerTxn>;
extern template class LedgerReads<LedgerReader>;
extern template class LedgerReads<LedgerTxn>;

}  // namespace sluice::store
