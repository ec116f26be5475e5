// The reading half of the PostgreSQL ledger, for snapshots and for the writer alike. Internal to
// this room.
//
// Everything here asks the server; the writer puts its caches in front.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/rows.hpp"

namespace sluice::pg {

/// `Base` is LedgerReader or LedgerTxn.
template <class Base>
class PointReads : public Base {
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
    explicit PointReads(Connection& connection) : connection_(connection) {}

    /// Before rows are read: the writer writes what it still holds.
    virtual void settle() {}
    [[nodiscard]] Rows rows(const Statement& statement, const RowWriter& parameters) {
        settle();
        return connection_.query(statement, parameters);
    }

    Connection& connection_;
    NodeHead node_;
};

template <class Base>
class Reads : public PointReads<Base> {
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
    using PointReads<Base>::PointReads;
    using PointReads<Base>::connection_;
    using PointReads<Base>::node_;

private:
    /// Rows in bounded memory, through a cursor; `visit` may run other statements meanwhile.
    void scan(const std::string& sql, const RowWriter& parameters,
              const std::function<bool(RowReader&)>& visit);

    unsigned cursors_count_ = 0;
};

extern template class PointReads<LedgerReader>;
extern template class PointReads<LedgerTxn>;
extern template class Reads<LedgerReader>;
extern template class Reads<LedgerTxn>;

/// The statement `SELECT columns FROM sluice_ledger.rest`, kept for ever under its text.
[[nodiscard]] Statement select_statement(const std::string& columns, const std::string& rest);

}  // namespace sluice::pg
