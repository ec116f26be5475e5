// The writing half of the PostgreSQL ledger: caches in front of the server, and rows that are
// written together. Internal to this room.
//
// Locks, always in this order, so that nodes wait for each other in a line:
//   1. the node's head (another process of the same node is done before this one reads)
//   2. the gate: shared for events and products, exclusive for commands and the work they leave,
//      so that no event of another node misses a creator, code or touch that comes in just now
//   3. orders and products of the batch, by key
// New rows take none: where two nodes make the same one, the second fails and is tried again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

/// The connection of a transaction goes back to the ledger when it ends.
using Lease = std::unique_ptr<Connection, std::function<void(Connection*)>>;

/// The ledger's row that all nodes share; written under the exclusive gate.
struct SharedState {
    std::uint64_t programs_revision = 0;
    std::uint64_t imports = 0;
    std::uint64_t payouts = 0;
    friend bool operator==(const SharedState&, const SharedState&) = default;
};

/// Told when a commit begins (with the checkpoint that it sets), when it was acknowledged, and what
/// the checkpoint is when a transaction begins.
struct CommitEvents {
    std::function<void(SequenceNumber)> begins;
    std::function<void()> acknowledged;
    std::function<void(SequenceNumber)> checkpoint;
};

/// A base, so that the connection is there before the reads that refer to it.
struct LeaseHolder {
    Lease lease_;
};

class PgTxn final : private LeaseHolder, public Reads<LedgerTxn> {
public:
    /// Begins, locks the head of `node` and reads it.
    PgTxn(Lease lease, std::string_view node, CommitEvents events);

    bool load_order(const OrderKey& key, OrderState& state) override;
    std::optional<RefundOwner> refund_owner(AccountNumber account, ShopNumber shop,
                                            std::string_view refund_id) override;
    std::optional<Anomaly> anomaly(const OrderKey& key, AnomalyKind kind) override;
    std::vector<CodeRow> code_owners(AccountNumber account, const Digest256& code) override;
    std::optional<Membership> membership(AccountNumber account, const ProgramId& program,
                                         const CreatorId& creator) override;
    void visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                       Timestamp upto, const Visitor<Touch>& visit) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override;
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override;
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override;
    ChainHead chain(AccountNumber account) override { return mutable_chain(account); }
    std::optional<Work> first_work() override;

    void prefetch(const BatchKeys& keys) override;
    void prefetch_skus(std::span<const BatchKeys::ShopText> skus) override;
    bool wants_prefetch() const noexcept override { return true; }

    LedgerHead& mutable_head() override { return node_.head; }
    ChainHead& mutable_chain(AccountNumber account) override;
    void put_shop(const ShopRow& row) override;
    void put_order(const OrderState& state) override;
    void put_event(const OrderKey& key, const EventTrace& event) override;
    void put_refund_owner(AccountNumber account, ShopNumber shop, std::string_view refund_id,
                          const RefundOwner& owner) override;
    void put_anomaly(const Anomaly& anomaly) override;
    void append_journal(const JournalGroup& group) override;
    void add_to_balance(const BalanceKey& key, const Decimal& total, const Decimal& paid) override;
    void put_open(const OpenAmount& row) override;
    void delete_open(const OpenAmount& row) override;
    void put_waiting(const WaitKey& key, const OrderKey& order) override;
    void delete_waiting(const WaitKey& key, const OrderKey& order) override;
    void put_code(const CodeRow& row) override;
    void delete_code(const CodeRow& row) override;
    void put_membership(const Membership& row) override;
    void put_touch(const Touch& touch) override;
    void put_program(const ProgramRow& row) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;
    void put_payout(const Payout& payout) override;
    void put_command(const CommandRow& row) override;
    void put_dead_letter(const DeadLetter& letter) override;
    void delete_dead_letter(SequenceNumber seq) override;
    void put_work(const Work& work) override;
    void delete_work(std::uint64_t number) override;

    void commit() override;

protected:
    void settle() override;

private:
    enum class Gate : std::uint8_t { kOpen, kShared, kExclusive };
    struct CachedOrder {
        OrderState state;
        bool stored = false;  ///< It is in the table, as of `revision`.
        bool exists = false;
        bool changed = false;
        std::uint64_t revision = 0;
    };
    struct CachedRefund {
        std::optional<RefundOwner> owner;
        bool changed = false;
    };
    struct CachedAnomaly {
        Anomaly row;
        bool changed = false;
    };
    struct OrderHash {
        std::size_t operator()(const OrderKey& key) const noexcept {
            return std::hash<OrderId>{}(key.order_id) * 31 + key.shop.value;
        }
    };
    /// What is not written yet, and by how much journal and balance differ: at commit, not at all.
    struct Delta {
        Decimal total, paid;
        Decimal unbalanced;
        bool changed = false;
    };
    using ShopKey = std::tuple<AccountNumber, ShopNumber, std::string>;
    using OpenKey =
        std::tuple<AccountNumber, ProgramId, bool, Timestamp, ShopNumber, OrderId, Currency>;
    using VariantKey =
        std::tuple<AccountNumber, ShopNumber, std::string, std::string, std::string, std::string>;
    using TouchKey = std::tuple<AccountNumber, Digest256, ProgramId, Timestamp, CreatorId>;
    using AnonKey = std::pair<AccountNumber, Digest256>;
    using Copies = std::map<std::pair<std::string, std::string>, CatalogRecord>;

    // txn.cpp
    void adopt_head();
    void pass_gate(Gate wanted);
    void send_gate(Gate wanted);
    void read_shared(const Rows& rows);
    void check_sums() const;
    void send_head();
    // txn_prefetch.cpp
    void fetch_orders(const BatchKeys& keys);
    void fetch_refunds(const BatchKeys& keys);
    void fetch_sources(std::vector<WaitKey> keys);
    void fetch_codes(const std::vector<WaitKey>& keys);
    void fetch_touches(const std::vector<WaitKey>& keys);
    void fetch_chains(const BatchKeys& keys);
    void fetch_products(const std::vector<ShopKey>& keys);
    void add_copies(const Rows& rows, const std::vector<ShopKey>& keys);
    CachedOrder& cached(const OrderKey& key);
    Copies& copies(AccountNumber account, ShopNumber shop, const ProductId& product);
    // txn_flush.cpp
    void flush();
    void flush_orders();
    void update_order(const OrderKey& key, CachedOrder& order);
    void flush_refunds();
    void flush_anomalies();
    void flush_journal();
    void flush_balances();
    void flush_open();
    void flush_waiting();
    void flush_touches();
    void flush_variants();
    void flush_chains();

    CommitEvents events_;
    SequenceNumber checkpoint_;  ///< Before this transaction.
    Gate gate_ = Gate::kOpen;
    SharedState shared_, shared_before_;

    std::unordered_map<OrderKey, CachedOrder, OrderHash> orders_;
    std::map<ShopKey, CachedRefund> refunds_;
    std::map<std::pair<OrderKey, AnomalyKind>, CachedAnomaly> anomalies_;
    std::map<AnonKey, std::vector<CodeRow>> codes_;
    std::map<AnonKey, std::vector<Touch>> touches_;  ///< All of an id, the latest first.
    std::map<std::tuple<AccountNumber, ProgramId, CreatorId>, std::optional<Membership>> members_;
    std::map<ShopKey, std::optional<CatalogKey>> variants_;
    std::map<ShopKey, Copies> products_;
    std::map<std::uint32_t, ChainHead> chains_;
    std::optional<std::optional<Work>> first_work_;

    RowWriter journal_;
    std::map<BalanceKey, Delta> balances_;
    std::map<OpenKey, std::optional<OpenAmount>> open_;     ///< Nothing: it goes.
    std::map<std::pair<WaitKey, OrderKey>, bool> waiting_;  ///< False: it goes.
    std::map<VariantKey, bool> variant_rows_;
    std::map<TouchKey, Touch> touch_rows_;
    std::map<std::uint64_t, std::uint64_t> imports_;  ///< Of inputs of this transaction.
};

class PgSnapshot final : private LeaseHolder, public Reads<LedgerReader> {
public:
    PgSnapshot(Lease lease, std::string_view node);
};

}  // namespace sluice::pg
