// Ledger: stores orders, commissions and everything that explains them.
//
// The rules (core/apply/apply and what it calls) see only these interfaces; the embedded ledger
// (lmdb_store) and PostgreSQL (pg_store) implement them.
//
// Errors:  storage failures are thrown as LedgerFailure, so that rules read as rules. The code that
//          began the transaction catches it and destroys the transaction, which aborts it. None of
//          its writes is then visible.
// Threads: one object is used by one thread at a time. Snapshots do not block the writer.
// Reads in a transaction see its own writes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ledger/failure.hpp"
#include "core/ledger/head.hpp"
#include "core/ledger/input.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/ledger/table.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// Reads of one consistent state.
class LedgerReader : public Interface {
public:
    // -- Described tables (core/ledger/table.hpp) ----------------------------------------------
    /// Fills in the row whose key is given. Returns false if there is none; the rest of the row is
    /// then unspecified.
    [[nodiscard]] virtual bool load_row(RowRef row) = 0;
    virtual void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) = 0;
    template <Described Row>
    [[nodiscard]] bool load(Row& row) {
        return load_row(row);
    }
    template <Described Row>
    void scan(const Row& first, KeyRange range, const std::type_identity_t<Visitor<Row>>& visit) {
        scan_rows(first, range, [&visit](RowView row) { return visit(row.as<Row>()); });
    }
    /// Returns the rows that scan() visits and for which `fits`, if given, returns true. Requires:
    /// they fit in memory.
    template <Described Row>
    [[nodiscard]] std::vector<Row> rows(
        const Row& first, KeyRange range,
        const std::type_identity_t<std::function<bool(const Row&)>>& fits = {}) {
        std::vector<Row> found;
        scan(first, range, [&](const Row& row) {
            if (!fits || fits(row)) {
                found.push_back(row);
            }
        });
        return found;
    }

    // -- Point reads, on the path of every event ----------------------------------------------
    /// Reuses the buffers of `state`. Returns false if there is no such order; `state` is then
    /// unspecified.
    [[nodiscard]] virtual bool load_order(const OrderKey& key, OrderState& state) = 0;
    /// Hints that these orders are loaded next. A ledger behind a network fetches them together.
    virtual void expect_orders(std::span<const OrderKey> keys) { static_cast<void>(keys); }
    /// Hints that order_journal() is asked for these orders next, until this is called again.
    virtual void expect_journals(std::span<const OrderKey> keys) { static_cast<void>(keys); }
    /// Returns whether an event beyond kEventsInlineMax has this topic and digest.
    [[nodiscard]] virtual bool has_event(const OrderKey& key, Topic topic,
                                         const EventDigest& digest) = 0;
    /// Returns the owners of a code in the account's programs, by program id.
    [[nodiscard]] virtual std::vector<CodeRow> code_owners(AccountNumber account,
                                                           const Digest256& code);
    /// Visits the clicks of one anonymous id in one program at or before `upto`, the latest first,
    /// in any order at one instant.
    virtual void visit_clicks(AccountNumber account, const Digest256& anon,
                              const ProgramId& program, Timestamp upto,
                              const Visitor<Click>& visit) = 0;
    /// Returns the copy that lists this variant with the lowest (language, country, product id).
    [[nodiscard]] virtual std::optional<CatalogKey> find_variant(AccountNumber account,
                                                                 ShopNumber shop,
                                                                 std::string_view variant_sku) = 0;
    /// Returns the copies of a product, by (language, country).
    [[nodiscard]] virtual std::vector<CatalogKey> product_copies(AccountNumber account,
                                                                 ShopNumber shop,
                                                                 const ProductId& product) = 0;
    [[nodiscard]] virtual std::optional<CatalogRecord> catalog(const CatalogKey& key) = 0;

    // -- Point reads of commands, reports and explanations -------------------------------------
    [[nodiscard]] virtual const LedgerHead& head() const = 0;
    [[nodiscard]] virtual ChainHead chain(AccountNumber account) = 0;
    [[nodiscard]] virtual std::optional<Balance> balance(const BalanceKey& key) = 0;
    /// Returns the group of a node's journal that begins with this entry.
    [[nodiscard]] virtual std::optional<JournalGroup> journal_group(std::string_view node,
                                                                    std::uint64_t entry) = 0;
    /// Returns a stored order's journal, by node and entry number, without credits that name it.
    [[nodiscard]] virtual std::vector<JournalGroup> order_journal(const OrderState& state) = 0;

    // -- Scans: rows one at a time, in bounded memory, in the stated order ----------------------
    virtual void scan_shops(const Visitor<ShopRow>& visit) = 0;  ///< By shop id.
    virtual void scan_orders(AccountNumber account, ShopNumber shop,
                             const Visitor<OrderState>& visit) = 0;  ///< By order id (bytes).
    /// Events beyond kEventsInlineMax, by sequence number and node.
    virtual void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) = 0;
    /// Visits groups whose first entry is `from_entry` or later, by node and entry number.
    virtual void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) = 0;
    /// Visits balances by key, from the first one on that is not before `from`.
    virtual void scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) = 0;
    void scan_balances(const Visitor<Balance>& visit) { scan_balances_from({}, visit); }
    virtual void scan_catalog(AccountNumber account, ShopNumber shop,
                              const Visitor<CatalogRecord>& visit) = 0;  ///< By key.
    /// Visits the groups that name the creator with an accounting date in [from, to), by
    /// (accounting date, node, first entry), from an index. Statements are made of them.
    virtual void scan_creator_journal(AccountNumber account, const CreatorId& creator,
                                      Timestamp from, Timestamp to,
                                      const Visitor<JournalGroup>& visit) = 0;
    /// Visits the groups of one account on all nodes with an accounting date in [from, to), by
    /// (creator, accounting date, node, first entry). A period close adds them up.
    virtual void scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                                      const Visitor<JournalGroup>& visit) = 0;
    /// Returns the cleared rows of these programs as they are now, whatever changes later. Each
    /// payout's rows follow one another, and in a program credits come before orders. The reader
    /// must outlive the result. A stored ledger uses bounded memory.
    [[nodiscard]] virtual std::unique_ptr<ClearedRows> cleared(AccountNumber account,
                                                               std::span<const ClearedOf> programs);
    virtual void scan_heads(const Visitor<LedgerHead>& visit) = 0;  ///< Every node's, by UUID.
    virtual void scan_chains(const Visitor<NodeChain>& visit) = 0;  ///< Every node's and account's.
    /// Returns the row with the highest number, or nothing. A stored ledger reads that row alone.
    [[nodiscard]] virtual std::optional<AppliedBatch> latest_batch();

    // -- Reads of the described tables, by what they mean ---------------------------------------
    /// Returns the current ones, by program id. Throws LedgerFailure if one is damaged.
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
    /// Returns an empty id for number 0, a credit's. Throws LedgerFailure if there is no such shop.
    [[nodiscard]] ShopId shop_id(ShopNumber shop);
    [[nodiscard]] std::optional<CommandRow> command(SequenceNumber seq);
    [[nodiscard]] std::optional<DeadLetter> dead_letter(SequenceNumber seq);
    /// Returns whether the group is a credit or the reversal of one: the order that it names does
    /// not list it.
    [[nodiscard]] bool is_of_credit(const JournalGroup& group);
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
    /// Returns at most `max` orders that wait for `key`, after `after` in the order of their keys.
    [[nodiscard]] std::vector<WaitingOrder> waiting_orders(const WaitKey& key,
                                                           const std::optional<WaitingOrder>& after,
                                                           std::size_t max);
    /// Returns the first key from `from` on, of the same account and kind, that an order waits for.
    [[nodiscard]] std::optional<WaitKey> next_waiting(const WaitKey& from);
    /// Returns the first key of its account and kind, from `from` on, that has a click or an owner.
    [[nodiscard]] std::optional<WaitKey> next_source(const WaitKey& from);

protected:
    /// Visits the rows that cleared() sorts, in the order of the index, each with its sort key.
    /// Memory: one row, and the shops' ids.
    void scan_cleared(AccountNumber account, std::span<const ClearedOf> programs,
                      const std::function<void(std::string key, const OpenAmount& row)>& visit);
};

/// The ledger's only writer. Destroyed without commit(), it leaves nothing behind.
class LedgerTxn : public virtual LedgerReader {
public:
    virtual void put_row(RowView row) = 0;    ///< Inserts or replaces a described row.
    virtual void erase_row(RowView row) = 0;  ///< Erases by key; the row may be missing.
    template <Described Row>
    void put(const Row& row) {
        put_row(row);
    }
    template <Described Row>
    void erase(const Row& row) {
        erase_row(row);
    }
    template <Described Row>
    void erase_all(const Row& first, KeyRange range) {
        for (const Row& row : rows(first, range)) {
            erase(row);
        }
    }

    /// Adds the row's numbers and amounts to the stored row of its key, which is erased if it then
    /// is_dropped(). A stored ledger writes it once, with commit(); reads before do not see it.
    virtual void add_row(RowView change);

    /// Announces the next inputs, before the first of them is applied, so that the ledger may read
    /// ahead. Returns how many of them, from the front, this transaction takes: at least one, or
    /// none if it `holds_some` already and the first one needs a transaction of its own.
    [[nodiscard]] virtual std::size_t expect(std::span<const Input> inputs, bool holds_some);

    /// Written with commit(). Only core/apply/apply changes them.
    [[nodiscard]] virtual LedgerHead& mutable_head() = 0;
    [[nodiscard]] virtual ChainHead& mutable_chain(AccountNumber account) = 0;
    virtual void put_order(const OrderState& state) = 0;
    /// Stores an order that was loaded before and of which only the allocations to payouts
    /// (LineAccrual::allocated, Position::payouts) and the anomalies that show have changed.
    virtual void put_allocated(const OrderState& state) { put_order(state); }
    /// Stores an order after one of its events. A ledger may leave the row of an old order as it
    /// is, and keep the change in a row of its own.
    virtual void put_updated(const OrderState& state) { put_order(state); }
    virtual void put_event(const OrderKey& key, const EventTrace& event) = 0;
    virtual void append_journal(const JournalGroup& group) = 0;
    /// Adds `change` to this node's part of its balance, written once with commit(). Reads see it.
    virtual void add_to_balance(const Balance& change) = 0;
    void put_program(const ProgramRow& row);  ///< Current one and its version.
    void put_click(const Click& row);         ///< With the row by which it is deleted some day.
    void erase_click(const Click& row);
    /// Replaces the copy and its variant lookups. `old`: the stored copy, nullptr if it is new.
    virtual void put_catalog(const CatalogRecord& record, const CatalogRecord* old) = 0;
    virtual void delete_catalog(const CatalogRecord& old) = 0;

    /// Notes the place of this transaction among those of all nodes (K9), right before commit().
    virtual void note_batch(const BatchStep& step);
    /// Returns the row that commit() has written for note_batch().
    [[nodiscard]] std::optional<AppliedBatch> noted_batch() const { return noted_; }
    /// Durable when it returns. Throws LedgerFailure.
    virtual void commit() = 0;

protected:
    std::optional<AppliedBatch> noted_;
};

/// An open ledger.
class Ledger : public Interface {
public:
    /// @param node  UUID of the queue that is drained. Its head is created if it is new.
    [[nodiscard]] virtual std::unique_ptr<LedgerTxn> begin(std::string_view node) = 0;
    [[nodiscard]] virtual std::unique_ptr<LedgerReader> snapshot(std::string_view node) = 0;
    /// Makes what snapshots showed survive the loss of a server. Throws LedgerFailure otherwise.
    virtual void confirm() {}
};

}  // namespace sluice
