// A ledger with a row of every kind, for the tests of what happens when one cannot be read or
// written.
#pragma once

#include <string>

#include "core/ledger/ledger.hpp"
#include "unit/lmdb_store/ledger/samples.hpp"

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
    static OpenAmount open_amount(int number) {
        return {
            kAccount,           ProgramId("spring"), false,        kAt, kShop, OrderId(id(number)),
            currency_of("USD"), CreatorId("anna"),   Decimal(1, 2)};
    }
    static Digest256 digest_of(int number) { return sha256(std::to_string(number)); }
    static CatalogRecord copy_of(int number, const char* variant) {
        CatalogRecord record;
        record.key = {kAccount, kShop, ProductId(id(number)), "de", ""};
        record.json = "{}";
        record.variant_skus = {variant, "always"};
        return record;
    }

    /// A row of every kind.
    static void write_rows(LedgerTxn& txn, int number) {
        OrderSamples samples(static_cast<std::uint64_t>(number));
        const SequenceNumber seq{static_cast<std::uint64_t>(number)};
        txn.put(ShopRow{kAccount, kShop, AccountId("acme"), ShopId("shop-1")});
        OrderState state = samples.order(order(number));
        state.events.clear();
        state.other_groups.clear();
        state.events_count = 0;
        state.attribution = samples.attribution();
        state.dues = {{currency_of("USD"), Decimal(1, 2), {}, {}}};
        txn.put_order(state);
        EventTrace event = samples.event();
        event.seq = seq;
        txn.put_event(order(number), event);
        txn.put(RefundOwner{kAccount, kShop, RefundLineItemId(id(number)), OrderId("o"),
                            LineItemId("l")});
        txn.put(Anomaly{order(number), AnomalyKind::kCancelNotLater, seq, kAt, 1, "text"});
        write_journal(txn, number);
        txn.put(open_amount(number));
        txn.put(waiting_order(number));
        txn.put(
            CodeRow{kAccount, ProgramId("spring"), digest_of(number), "CODE", CreatorId("anna")});
        txn.put(Membership{kAccount, ProgramId("spring"), CreatorId("anna"), false, seq});
        txn.put(Touch{kAccount, digest_of(number), ProgramId("spring"), kAt, CreatorId("anna"), seq,
                      1});
        txn.put_program(program(static_cast<std::uint32_t>(number)));
        const CatalogRecord old = copy_of(number, "old");
        txn.put_catalog(old, nullptr);
        txn.put_catalog(copy_of(number, "new"), &old);
        txn.put(CommandRow{seq, Topic::kProgramApply, "tester", kAt, true, "done"});
        txn.put(dead_letter(seq));
        Work work;
        work.number = seq.value;
        txn.put(work);
    }
    static void write_journal(LedgerTxn& txn, int number) {
        JournalGroup group;
        group.first_entry = txn.head().next_entry;
        group.event_seq = {static_cast<std::uint64_t>(number)};
        group.order = order(number);
        group.program = ProgramId("spring");
        group.creator = CreatorId("anna");
        group.lines.push_back(
            {LineItemId("l"), currency_of("USD"), Decimal(100, 2), JournalReason::kAccrual});
        txn.append_journal(group);
        txn.add_to_balance({kAccount, group.program, group.creator, currency_of("USD")},
                           Decimal(100, 2), Decimal(50, 2));
        Payout payout;
        payout.payout_id = std::to_string(number) + "-1";
        payout.account = kAccount;
        payout.program = group.program;
        payout.creator = group.creator;
        payout.currency = currency_of("USD");
        payout.amount = Decimal(50, 2);
        txn.put_payout(payout);
        txn.mutable_head().next_entry += 1;
        txn.mutable_head().applied_seq = group.event_seq;
        txn.mutable_chain(kAccount).entries += 1;
    }
    static ProgramRow program(std::uint32_t version) {
        ProgramRow row;
        row.program.id = ProgramId("spring");
        row.program.account_id = AccountId("acme");
        row.program.account = kAccount;
        row.program.default_rate = *parse_rate("10%");
        row.version = version;
        return row;
    }
    static DeadLetter dead_letter(SequenceNumber seq) {
        DeadLetter letter;
        letter.seq = seq;
        letter.reason = "because";
        letter.record = "bytes";
        return letter;
    }
    static WaitingOrder waiting_order(int number) {
        return {{kAccount, WaitKind::kCode, digest_of(number)}, kShop, order(number).order_id};
    }
    static void delete_rows(LedgerTxn& txn, int number) {
        txn.erase(open_amount(number));
        txn.erase(waiting_order(number));
        txn.erase(
            CodeRow{kAccount, ProgramId("spring"), digest_of(number), "CODE", CreatorId("anna")});
        txn.delete_catalog(copy_of(number, "new"));
        txn.erase(dead_letter({static_cast<std::uint64_t>(number)}));
        Work work;
        work.number = static_cast<std::uint64_t>(number);
        txn.erase(work);
    }
    /// Asks for everything. How many rows there were.
    static int read_rows(LedgerReader& reader, int number) {
        int rows = 0;
        const auto count = [&](const auto&) { return ++rows > 0; };
        const OrderKey key = order(number);
        OrderState state;
        rows += reader.load_order(key, state) ? 1 : 0;
        rows += reader.refund_owner(kAccount, kShop, id(number)) ? 1 : 0;
        rows += static_cast<int>(reader.code_owners(kAccount, digest_of(number)).size());
        rows += reader.membership(kAccount, ProgramId("spring"), CreatorId("anna")) ? 1 : 0;
        reader.visit_touches(kAccount, digest_of(number), ProgramId("spring"), kAt, count);
        rows += static_cast<int>(reader.programs(kAccount).size());
        rows += reader.find_variant(kAccount, kShop, "always") ? 1 : 0;
        rows +=
            static_cast<int>(reader.product_copies(kAccount, kShop, ProductId(id(number))).size());
        rows += reader.catalog(copy_of(number, "").key) ? 1 : 0;
        rows += reader.chain(kAccount).entries > 0 ? 1 : 0;
        rows += reader.shop(kShop) ? 1 : 0;
        rows += reader.program(ProgramId("spring")) ? 1 : 0;
        rows +=
            reader.program_version(ProgramId("spring"), static_cast<std::uint32_t>(number)) ? 1 : 0;
        rows += reader.command({static_cast<std::uint64_t>(number)}) ? 1 : 0;
        rows += reader.dead_letter({static_cast<std::uint64_t>(number)}) ? 1 : 0;
        rows += reader.first_work() ? 1 : 0;
        reader.scan_shops(count);
        reader.scan_orders(kAccount, kShop, count);
        reader.scan_events(key, count);
        reader.scan_journal(1, count);
        reader.scan_balances(count);
        reader.scan_anomalies(kAccount, kShop, count);
        reader.scan_catalog(kAccount, kShop, count);
        reader.scan_open(kAccount, ProgramId("spring"), false, {}, kAt, count);
        reader.scan_payouts(count);
        reader.scan_programs(count);
        reader.scan_memberships(kAccount, ProgramId("spring"), count);
        reader.scan_codes(kAccount, ProgramId("spring"), count);
        reader.scan_commands(count);
        reader.scan_dead(count);
        const WaitKey from{kAccount, WaitKind::kCode, {}};
        rows += static_cast<int>(
            reader.waiting_orders({kAccount, WaitKind::kCode, digest_of(number)}, {}, 10).size());
        rows += reader.next_waiting(from) ? 1 : 0;
        rows += reader.next_source(from) ? 1 : 0;
        return rows;
    }
};

}  // namespace sluice::store
