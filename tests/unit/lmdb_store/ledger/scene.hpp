// A ledger with a row of every kind, for the tests of what happens when one cannot be read or
// written.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/journal/journal.hpp"
#include "core/ledger/ledger.hpp"
#include "unit/lmdb_store/rows/row_samples.hpp"

namespace sluice::store {

/// Rows come in sets, each known by its number.
struct LedgerScene {
    static constexpr const char* kNode = "11111111-2222-3333-4444-555555555555";
    static constexpr AccountNumber kAccount{7};
    static constexpr ShopNumber kShop{8};
    static constexpr Timestamp kAt{1'700'000'000, 0};

    /// Ids of the sets from here on are longer than what a key holds.
    static constexpr int kLongIds = 1000;

    static std::string id(int number) {
        return std::to_string(number) + std::string(number < kLongIds ? 0 : 600, 'x');
    }
    static OrderKey order(int number) { return {kAccount, kShop, OrderId(id(number))}; }
    static CatalogRecord copy_of(int number, const char* variant) {
        CatalogRecord record;
        record.key = {kAccount, kShop, ProductId(id(number)), "de", ""};
        record.json = "{}";
        record.variant_skus = {variant, "always"};
        return record;
    }
    /// The set's row of a described table; alike each time.
    static AnyRow row_of(const DescribedTable& table, int number) {
        OrderSamples samples(static_cast<std::uint64_t>(number));
        AnyRow row = sample_row(table, samples, number < kLongIds ? 40 : 600);
        if (row.view().is<ShopRow>()) {
            auto& shop = row.ref().as<ShopRow>();
            shop.account = kAccount;
            shop.shop_id = ShopId("shop-" + std::to_string(number));
        }
        return row;
    }
    static EventTrace event(int number) {
        EventTrace event = OrderSamples(static_cast<std::uint64_t>(number)).event();
        event.seq = {static_cast<std::uint64_t>(number)};
        return event;
    }

    /// A row of every kind.
    static void write_rows(LedgerTxn& txn, int number) {
        OrderSamples samples(static_cast<std::uint64_t>(number));
        for (const DescribedTable& table : described_tables()) {
            txn.put_row(row_of(table, number).view());
        }
        OrderState state = samples.order(order(number));
        state.events = {event(1)};
        state.events.front().node = txn.head().number;
        state.events.front().first_entry = 0;
        state.other_groups = {txn.head().next_entry};
        state.events_count = 2;
        txn.put_order(state);
        repeat_much_later(txn, state.key);
        txn.put_event(order(number), event(number));
        EventTrace posted_nothing = event(number);
        posted_nothing.first_entry = 0;
        txn.put_event(order(number), posted_nothing);
        write_journal(txn, number);
        const CatalogRecord old = copy_of(number, "old");
        txn.put_catalog(old, nullptr);
        txn.put_catalog(copy_of(number, "new"), &old);
    }
    /// Counts a duplicate of an event of the order, as if it came so much later that the order's
    /// row stays as it is, and gets a change.
    static void repeat_much_later(LedgerTxn& txn, const OrderKey& key) {
        OrderState state;
        ASSERT_TRUE(txn.load_order(key, state));
        ++state.duplicates_count;
        const SequenceNumber applied = txn.head().applied_seq;
        txn.mutable_head().applied_seq = {1'000'000};
        txn.put_updated(state);
        txn.mutable_head().applied_seq = applied;
    }
    static void write_journal(LedgerTxn& txn, int number) {
        JournalGroup group;
        group.node = kNode;
        group.first_entry = txn.head().next_entry;
        group.event_seq = {static_cast<std::uint64_t>(number)};
        group.account = kAccount;
        group.shop = kShop;
        group.order_id = order(number).order_id;
        group.program = ProgramId("spring");
        group.creator = CreatorId("anna");
        group.accounting_date = kAt;
        group.entries.push_back(
            {LineItemId("l"), currency_of("USD"), Decimal(100, 2), JournalReason::kAccrual, 0});
        seal(group, txn.mutable_chain(kAccount));
        txn.append_journal(group);
        txn.add_to_balance({{Decimal(100, 2), {}, {}},
                            {kAccount, group.program, group.creator, currency_of("USD")}});
        txn.mutable_head().next_entry += 1;
        txn.mutable_head().applied_seq = group.event_seq;
    }
    static void delete_rows(LedgerTxn& txn, int number) {
        for (const DescribedTable& table : described_tables()) {
            if (table.number != kTableNumber<ShopRow>) {
                txn.erase_row(row_of(table, number).view());
            }
        }
        txn.delete_catalog(copy_of(number, "new"));
    }
    /// Asks for everything. How many rows there were.
    static int read_rows(LedgerReader& reader, int number) {
        int rows = 0;
        const auto count = [&](const auto&) { return ++rows > 0; };
        for (const DescribedTable& table : described_tables()) {
            AnyRow row = row_of(table, number);
            rows += reader.load_row(row.ref()) ? 1 : 0;
            reader.scan_rows(AnyRow(table).view(), {}, count);
        }
        OrderState state;
        rows += reader.load_order(order(number), state) ? 1 : 0;
        rows += static_cast<int>(reader.order_journal(state).size());
        const EventTrace trace = event(number);
        rows += reader.has_event(order(number), trace.topic, trace.digest) ? 1 : 0;
        const auto click = row_of(table_of<Click>(), number).ref().as<Click>();
        reader.visit_clicks(click.account, click.anon, click.program, click.occurred_at, count);
        rows += reader.find_variant(kAccount, kShop, "always") ? 1 : 0;
        rows +=
            static_cast<int>(reader.product_copies(kAccount, kShop, ProductId(id(number))).size());
        rows += reader.catalog(copy_of(number, "").key) ? 1 : 0;
        rows += reader.chain(kAccount).entries > 0 ? 1 : 0;
        rows +=
            reader.balance({kAccount, ProgramId("spring"), CreatorId("anna"), currency_of("USD")})
                ? 1
                : 0;
        reader.scan_shops(count);
        reader.scan_orders(kAccount, kShop, count);
        reader.scan_events(order(number), count);
        reader.scan_journal(1, count);
        reader.scan_creator_journal(kAccount, CreatorId("anna"), {}, kAt.plus_seconds(1), count);
        reader.scan_account_journal(kAccount, {}, kAt.plus_seconds(1), count);
        reader.scan_balances(count);
        reader.scan_heads(count);
        reader.scan_chains(count);
        reader.scan_catalog(kAccount, kShop, count);
        return rows;
    }
};

}  // namespace sluice::store
