// Ledger: where orders, commissions and everything that explains them are kept.
//
// The rules (core/apply/apply and what it calls) see only these interfaces; the embedded ledger
// (lmdb_store) and PostgreSQL (pg_store) implement them.
//
// Errors:  storage failures are thrown as LedgerFailure, so that rules read as rules. The code that
//          began the transaction catches it and lets the transaction go (its destructor aborts);
//          nothing of it is then visible.
// Threads: one object is used by one thread at a time. Snapshots do not block the writer.
// Reads in a transaction see its own writes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ledger/failure.hpp"
#include "core/ledger/head.hpp"
#include "core/ledger/input.hpp"
#include "core/ledger/row_tables.hpp"
#include "core/ledger/rows.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// What of a program has matured: what a standing item matured, and what was sold at or before
/// `sold_until`.
struct MaturedOf {
    ProgramId program;
    Timestamp sold_until;
};

/// Open amounts that a payout close may take from: see LedgerReader::matured(). Sorted as
/// matured_key() says. One thread at a time.
class MaturedRows {
public:
    MaturedRows() = default;
    MaturedRows(const MaturedRows&) = delete;
    MaturedRows& operator=(const MaturedRows&) = delete;
    virtual ~MaturedRows() = default;

    /// From the first row on, as often as it is called, until `visit` returns false. It may read
    /// and write the ledger.
    virtual void visit(const Visitor<OpenAmount>& visit) = 0;
};
/// Creator, currency, program, shop id, order id. @param shop_id  Empty for a credit.
[[nodiscard]] std::string matured_key(const OpenAmount& row, std::string_view shop_id);

/// Reads of one consistent state.
class LedgerReader : public TableReaders<DescribedRows> {
public:
    LedgerReader() = default;
    LedgerReader(const LedgerReader&) = delete;
    LedgerReader& operator=(const LedgerReader&) = delete;
    virtual ~LedgerReader() = default;

    // -- Point reads, on the path of every event ----------------------------------------------
    /// Reuses the buffers of `state`. False: no such order; `state` is then unspecified.
    [[nodiscard]] virtual bool load_order(const OrderKey& key, OrderState& state) = 0;
    /// A hint: these orders are about to be loaded. A ledger behind a network fetches them at once.
    virtual void expect_orders(std::span<const OrderKey> keys) { static_cast<void>(keys); }
    /// Likewise, of order_journal(). Holds until the next call.
    virtual void expect_journals(std::span<const OrderKey> keys) { static_cast<void>(keys); }
    /// Events beyond kEventsInlineMax: is there one with this topic and digest?
    [[nodiscard]] virtual bool has_event(const OrderKey& key, Topic topic,
                                         const EventDigest& digest) = 0;
    /// The owners of a code in the account's programs, by program id.
    [[nodiscard]] virtual std::vector<CodeRow> code_owners(AccountNumber account,
                                                           const Digest256& code);
    /// Touches of one anonymous id in one program at or before `upto`, the latest first; at one
    /// instant in any order.
    virtual void visit_touches(AccountNumber account, const Digest256& anon,
                               const ProgramId& program, Timestamp upto,
                               const Visitor<Touch>& visit) = 0;
    /// Of the copies that list this variant: the lowest (language, country, product id).
    [[nodiscard]] virtual std::optional<CatalogKey> find_variant(AccountNumber account,
                                                                 ShopNumber shop,
                                                                 std::string_view variant_sku) = 0;
    /// Copies of a product, by (language, country).
    [[nodiscard]] virtual std::vector<CatalogKey> product_copies(AccountNumber account,
                                                                 ShopNumber shop,
                                                                 const ProductId& product) = 0;
    [[nodiscard]] virtual std::optional<CatalogRecord> catalog(const CatalogKey& key) = 0;

    // -- Point reads of commands, reports and explanations -------------------------------------
    [[nodiscard]] virtual const LedgerHead& head() const = 0;
    [[nodiscard]] virtual ChainHead chain(AccountNumber account) = 0;
    [[nodiscard]] virtual std::optional<Balance> balance(const BalanceKey& key) = 0;
    /// An order's journal, by node and entry number; credits that name it are not in it. `state` is
    /// the stored order: its traces and other_groups name the groups.
    [[nodiscard]] virtual std::vector<JournalGroup> order_journal(const OrderState& state) = 0;

    // -- Scans: rows one at a time, in bounded memory, in the stated order ----------------------
    virtual void scan_shops(const Visitor<ShopRow>& visit) = 0;  ///< By shop id.
    /// By order id (bytes), within one shop.
    virtual void scan_orders(AccountNumber account, ShopNumber shop,
                             const Visitor<OrderState>& visit) = 0;
    /// Events beyond kEventsInlineMax, by sequence number and node.
    virtual void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) = 0;
    /// Of every node, by node; then by entry number, groups whose first entry is `from_entry` or
    /// later.
    virtual void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) = 0;
    virtual void scan_balances(const Visitor<Balance>& visit) = 0;  ///< By key.
    virtual void scan_catalog(AccountNumber account, ShopNumber shop,
                              const Visitor<CatalogRecord>& visit) = 0;  ///< By key.
    /// Groups that name the creator, accounting date in [from, to), by (accounting date, node,
    /// first entry), from an index: what statements are made of.
    virtual void scan_creator_journal(AccountNumber account, const CreatorId& creator,
                                      Timestamp from, Timestamp to,
                                      const Visitor<JournalGroup>& visit) = 0;
    /// Groups of one account of all nodes, accounting date in [from, to), by (creator, accounting
    /// date, node, first entry): what a period close adds up.
    virtual void scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                                      const Visitor<JournalGroup>& visit) = 0;
    /// What has matured of these programs, as it is now, whatever changes later: each payout's rows
    /// follow one another, of a program its credits before its orders. Requires: this outlives it.
    /// Memory of a stored ledger's: bounded.
    [[nodiscard]] virtual std::unique_ptr<MaturedRows> matured(AccountNumber account,
                                                               std::span<const MaturedOf> programs);
    virtual void scan_heads(const Visitor<LedgerHead>& visit) = 0;  ///< Of every node, by UUID.
    virtual void scan_chains(const Visitor<NodeChain>& visit) = 0;  ///< Of every node and account.

    // -- Reads of the described tables, by what they mean ---------------------------------------
    /// Current programs of an account, by program id. Throws LedgerFailure if one is damaged.
    [[nodiscard]] std::vector<ProgramRow> programs(AccountNumber account);
    [[nodiscard]] std::optional<ProgramRow> program(const ProgramId& program);
    [[nodiscard]] std::optional<ProgramRow> program_version(const ProgramId& program,
                                                            std::uint32_t version);
    void scan_programs(const Visitor<ProgramRow>& visit);  ///< By program id.
    [[nodiscard]] std::optional<RefundOwner> refund_owner(AccountNumber account, ShopNumber shop,
                                                          std::string_view refund_id);
    [[nodiscard]] std::optional<Anomaly> anomaly(const OrderKey& key, AnomalyKind kind);
    [[nodiscard]] std::optional<Membership> membership(AccountNumber account,
                                                       const ProgramId& program,
                                                       const CreatorId& creator);
    [[nodiscard]] std::optional<ShopRow> shop(ShopNumber shop);
    /// Empty for number 0, a credit's. Throws LedgerFailure if there is no such shop.
    [[nodiscard]] ShopId shop_id(ShopNumber shop);
    [[nodiscard]] std::optional<CommandRow> command(SequenceNumber seq);
    [[nodiscard]] std::optional<DeadLetter> dead_letter(SequenceNumber seq);
    /// What matured() sorts, in the order of the index. Memory: one row.
    void scan_matured(AccountNumber account, std::span<const MaturedOf> programs,
                      const Visitor<OpenAmount>& visit);
    void scan_payouts(const Visitor<Payout>& visit);  ///< By id: in the order of closing.
    void scan_anomalies(AccountNumber account, ShopNumber shop,
                        const Visitor<Anomaly>& visit);  ///< By order, kind.
    void scan_memberships(AccountNumber account, const ProgramId& program,
                          const Visitor<Membership>& visit);  ///< By creator id.
    void scan_codes(AccountNumber account, const ProgramId& program,
                    const Visitor<CodeRow>& visit);        ///< By digest.
    void scan_commands(const Visitor<CommandRow>& visit);  ///< By sequence number.
    void scan_dead(const Visitor<DeadLetter>& visit);      ///< By sequence number.
    [[nodiscard]] std::optional<Work> first_work();        ///< By number.
    /// Orders that wait for `key`, behind `after` in the order of their keys, at most `max`.
    [[nodiscard]] std::vector<WaitingOrder> waiting_orders(const WaitKey& key,
                                                           const std::optional<WaitingOrder>& after,
                                                           std::size_t max);
    /// The first key at or after `from`, of the same account and kind, that orders wait for.
    [[nodiscard]] std::optional<WaitKey> next_waiting(const WaitKey& from);
    /// Likewise, the first that has a touch (kAnon) or an owner (kCode).
    [[nodiscard]] std::optional<WaitKey> next_source(const WaitKey& from);
};

/// The ledger's one writer. Destroyed without commit(): nothing happened.
class LedgerTxn : public virtual LedgerReader, public TableWriters<DescribedRows> {
public:
    /// Says which inputs come next, before the first of them is applied. A ledger may read ahead
    /// what they will touch, and says how many of them, from the front, this transaction takes: at
    /// least one, but none if it `holds_some` already and what comes first needs another one.
    [[nodiscard]] virtual std::size_t expect(std::span<const Input> inputs, bool holds_some);

    /// Written with commit(). Only core/apply/apply changes them.
    [[nodiscard]] virtual LedgerHead& mutable_head() = 0;
    [[nodiscard]] virtual ChainHead& mutable_chain(AccountNumber account) = 0;

    virtual void put_order(const OrderState& state) = 0;
    /// put_order() of an order that was loaded before, and of which nothing has changed but what
    /// payouts took of it (LineDue::taken, Position::payouts) and which anomalies show.
    virtual void put_taken(const OrderState& state) { put_order(state); }
    virtual void put_event(const OrderKey& key, const EventTrace& event) = 0;
    virtual void append_journal(const JournalGroup& group) = 0;
    /// Folded in memory, written once with commit(). Reads see the sum.
    /// `change` is added; its key says to what. Into the part of this node.
    virtual void add_to_balance(const Balance& change) = 0;
    void put_program(const ProgramRow& row);  ///< Current one and its version.
    /// Replaces the copy and its variant lookups. `old`: the stored copy, nullptr if it is new.
    virtual void put_catalog(const CatalogRecord& record, const CatalogRecord* old) = 0;
    virtual void delete_catalog(const CatalogRecord& old) = 0;

    /// Durable when it returns. Throws LedgerFailure.
    virtual void commit() = 0;

    /// A stored touch gets another device; it counts as imported when it was.
    virtual void move_touch(const Touch& stored, const Digest256& anon);
};

/// An open ledger.
class Ledger {
public:
    Ledger() = default;
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    virtual ~Ledger() = default;

    /// @param node  UUID of the queue that is drained; its head is created if it is new.
    [[nodiscard]] virtual std::unique_ptr<LedgerTxn> begin(std::string_view node) = 0;
    [[nodiscard]] virtual std::unique_ptr<LedgerReader> snapshot(std::string_view node) = 0;
    /// What snapshots showed so far stays, whichever server is lost, as far as the database
    /// promises that for what it acknowledges. Throws LedgerFailure: that is not known (yet).
    virtual void confirm() {}
};

}  // namespace sluice
