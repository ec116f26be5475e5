#include "lmdb_store/ledger/ledger.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "unit/ledger_digest.hpp"
#include "unit/lmdb_store/ledger/fixture.hpp"

namespace sluice::store {
namespace {

TEST_F(LedgerTest, AQueueThatWasNeverDrainedHasAnEmptyHead) {
    const auto snapshot = ledger_->snapshot(kNode);
    EXPECT_EQ(snapshot->head().node, kNode);
    EXPECT_EQ(snapshot->head().applied_seq.value, 0U);
    EXPECT_EQ(snapshot->head().next_entry, 1U);
    EXPECT_EQ(snapshot->head().totals, Totals{});
}

TEST_F(LedgerTest, ATransactionIsSeenWhollyOrNotAtAll) {
    {
        auto txn = ledger_->begin(kNode);
        txn->mutable_head().applied_seq = {5};
        txn->put_order(samples_.order(order("a")));
        OrderState state;
        EXPECT_TRUE(txn->load_order(order("a"), state)) << "reads see its own writes";
    }
    OrderState state;
    EXPECT_FALSE(ledger_->snapshot(kNode)->load_order(order("a"), state));
    const auto before = ledger_->snapshot(kNode);
    {
        auto txn = ledger_->begin(kNode);
        txn->mutable_head().applied_seq = {6};
        txn->put_order(samples_.order(order("b")));
        txn->commit();
    }
    EXPECT_FALSE(before->load_order(order("b"), state)) << "a snapshot does not move";
    const auto after = ledger_->snapshot(kNode);
    EXPECT_TRUE(after->load_order(order("b"), state));
    EXPECT_EQ(after->head().applied_seq.value, 6U);
}

TEST_F(LedgerTest, OrdersAreScannedByIdAlsoBeyondTheCut) {
    std::vector<std::string> ids = {"b", "a", "aa", "\x01", "zz"};
    for (const char* end : {"3", "1", "2", ""}) {
        ids.push_back(std::string(600, 'm') + end);
        ids.push_back(std::string(390, 'm') + end);
    }
    {
        auto txn = ledger_->begin(kNode);
        for (const std::string& id : ids) {
            txn->put_order(samples_.order(order(id)));
        }
        txn->put_order(samples_.order({kAccount, {9}, OrderId("another shop")}));
        txn->commit();
    }
    std::sort(ids.begin(), ids.end());
    std::vector<std::string> scanned;
    ledger_->snapshot(kNode)->scan_orders(kAccount, kShop, [&](const OrderState& state) {
        scanned.push_back(state.key.order_id.str());
        return true;
    });
    EXPECT_EQ(scanned, ids);
    scanned.clear();
    ledger_->snapshot(kNode)->scan_orders(kAccount, kShop, [&](const OrderState& state) {
        scanned.push_back(state.key.order_id.str());
        return scanned.size() < 3;
    });
    EXPECT_EQ(scanned.size(), 3U);
}

TEST_F(LedgerTest, ClicksComeLatestFirstAndTheBoundIsInclusive) {
    const Digest256 anon = sha256("device");
    auto txn = ledger_->begin(kNode);
    const auto add_click = [&](const char* program, Timestamp at, const char* creator) {
        txn->put(Click{kAccount, anon, ProgramId(program), at, CreatorId(creator), {1}, 1, {}});
    };
    for (const int second : {10, 30, 20, 40}) {
        add_click("p", {second, 0}, "c");
    }
    add_click("p", {30, 1}, "later");
    add_click("p2", {30, 0}, "other");
    add_click("o", {30, 0}, "other");
    std::vector<std::int64_t> seconds;
    const auto collect = [&](const Click& click) {
        EXPECT_EQ(click.creator.view(), "c");
        EXPECT_EQ(click.imported_row, 1U);
        seconds.push_back(click.occurred_at.seconds);
        return true;
    };
    txn->visit_clicks(kAccount, anon, ProgramId("p"), {30, 0}, collect);
    EXPECT_EQ(seconds, (std::vector<std::int64_t>{30, 20, 10}));
    seconds.clear();
    txn->visit_clicks(kAccount, anon, ProgramId("p"), {9, 999'999'999}, collect);
    EXPECT_TRUE(seconds.empty());
}

TEST_F(LedgerTest, WaitingOrdersComeInSlices) {
    const WaitKey key{kAccount, WaitKind::kCode, sha256("spring10")};
    const WaitKey other{kAccount, WaitKind::kCode, sha256("summer")};
    auto txn = ledger_->begin(kNode);
    std::vector<OrderKey> all;
    for (int i = 10; i < 60; ++i) {
        all.push_back(order("order" + std::to_string(i)));
    }
    all.push_back(order(std::string(1000, 'z')));
    for (const OrderKey& waiting : all) {
        txn->put(WaitingOrder{key, {}, waiting.shop, waiting.order_id});
        txn->put(WaitingOrder{other, {}, waiting.shop, waiting.order_id});
    }
    std::vector<OrderKey> seen;
    std::optional<WaitingOrder> after;
    for (;;) {
        const auto slice = txn->waiting_orders(key, after, 7);
        for (const WaitingOrder& row : slice) {
            seen.push_back({kAccount, row.shop, row.order_id});
        }
        if (slice.size() < 7) {
            break;
        }
        after = slice.back();
        txn->erase(slice.front());
    }
    EXPECT_EQ(seen, all);
    EXPECT_EQ(txn->next_waiting({kAccount, WaitKind::kAnon, {}}), std::nullopt);
    EXPECT_EQ(txn->next_waiting({kAccount, WaitKind::kCode, {}}), std::min(key, other));
}

TEST_F(LedgerTest, AVariantBelongsToTheLowestCopy) {
    auto txn = ledger_->begin(kNode);
    const auto put = [&](std::string product, std::string language) {
        CatalogRecord record;
        record.key = {kAccount, kShop, ProductId(product), language, ""};
        record.json = "{}";
        record.variant_skus = {"v"};
        txn->put_catalog(record, nullptr);
    };
    EXPECT_FALSE(txn->find_variant(kAccount, kShop, "v"));
    put("a", "de");
    EXPECT_EQ(txn->find_variant(kAccount, kShop, "v")->product_id.view(), "a");
    for (const char* end : {"7", "3", "5"}) {
        put(std::string(500, 'p') + end, "");
    }
    EXPECT_EQ(txn->find_variant(kAccount, kShop, "v")->product_id.view(),
              std::string(500, 'p') + "3");
    put("b", "");
    EXPECT_EQ(txn->find_variant(kAccount, kShop, "v")->product_id.view(), "b");
    EXPECT_FALSE(txn->find_variant(kAccount, kShop, "va"));

    CatalogRecord old;
    old.key = {kAccount, kShop, ProductId("b"), "", ""};
    old.json = "{}";
    old.variant_skus = {"v"};
    CatalogRecord renamed = old;
    renamed.variant_skus = {"w"};
    txn->put_catalog(renamed, &old);
    EXPECT_EQ(txn->find_variant(kAccount, kShop, "v")->product_id.view(),
              std::string(500, 'p') + "3");
    txn->delete_catalog(renamed);
    EXPECT_FALSE(txn->find_variant(kAccount, kShop, "w"));
    EXPECT_FALSE(txn->catalog(old.key));
}

TEST_F(LedgerTest, TheMapGrowsAutomatically) {
    open(200'000);
    for (int i = 0; i < 60; ++i) {
        for (;;) {  // as the drain loop does: abort and retry
            try {
                auto txn = ledger_->begin(kNode);
                for (int j = 0; j < 50; ++j) {
                    txn->put_order(samples_.order(order(std::to_string(i * 50 + j))));
                }
                txn->commit();
                break;
            } catch (const LedgerFailure& failure) {
                ASSERT_EQ(failure.error().code, ErrorCode::kFull) << failure.what();
            }
        }
    }
    int orders = 0;
    ledger_->snapshot(kNode)->scan_orders(kAccount, kShop, [&](const OrderState&) {
        ++orders;
        return true;
    });
    EXPECT_EQ(orders, 3000);
    EXPECT_GT(ledger_->size().bytes_map, 1'000'000U);
}

TEST_F(LedgerTest, O5_AnEventWithoutDigestIsNoLongerRecognised) {
    EventTrace event = samples_.event();
    const EventDigest digest = event.digest;
    auto txn = ledger_->begin(kNode);
    txn->put_event(order("a"), event);
    EXPECT_TRUE(txn->has_event(order("a"), event.topic, digest));
    event.digest = {};
    txn->put_event(order("a"), event);
    EXPECT_FALSE(txn->has_event(order("a"), event.topic, digest));
    EXPECT_FALSE(txn->has_event(order("a"), event.topic, {}));
    txn->commit();
    EXPECT_THAT(ledger_->verify(kNode, 10), testing::IsEmpty());
}

TEST_F(LedgerTest, TheDumpDoesNotDependOnTheTransactions) {
    const auto fill = [](EmbeddedLedger& ledger, int per_txn) {
        OrderSamples samples(5);
        int done = 0;
        while (done < 60) {
            auto txn = ledger.begin(kNode);
            for (int i = 0; i < per_txn; ++i, ++done) {
                const auto entry = static_cast<std::uint64_t>(done) + 1;
                const OrderKey key = order("o" + std::to_string(done % 20));
                txn->put_order(samples.order(key));
                txn->append_journal(group_of(entry, key, done + 1));
                txn->add_to_balance(owed(done + 1));
                txn->mutable_head().next_entry = entry + 1;
            }
            txn->commit();
        }
        return ledger_digest(*ledger.rows(kNode));
    };
    const Digest256 one_by_one = fill(*ledger_, 1);
    const auto second = folder_ / "second";
    std::filesystem::create_directory(second);
    ASSERT_TRUE(EmbeddedLedger::create(second).ok());
    auto other = EmbeddedLedger::open(second, EmbeddedLedger::Mode::kReadWrite);
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(fill(**other, 30), one_by_one);
    (*other)->begin("a change")->commit();
    EXPECT_NE(ledger_digest(*(*other)->rows(kNode)), one_by_one);
}

TEST_F(LedgerTest, TheFirstDifferenceIsNamedByTableAndKey) {
    const auto second = folder_ / "second";
    std::filesystem::create_directory(second);
    ASSERT_TRUE(EmbeddedLedger::create(second).ok());
    auto other = EmbeddedLedger::open(second, EmbeddedLedger::Mode::kReadWrite, 1U << 20);
    ASSERT_TRUE(other.ok());
    const auto difference = [&] {
        return first_difference(*ledger_->rows(kNode), *(*other)->rows(kNode));
    };
    const auto put = [](EmbeddedLedger& ledger, const char* code, const char* creator) {
        auto txn = ledger.begin(kNode);
        txn->put(
            CodeRow{kAccount, ProgramId("spring"), sha256(code), {}, code, CreatorId(creator), {}});
        txn->commit();
    };
    EXPECT_FALSE(difference().has_value());
    ledger_->begin(kNode)->commit();
    EXPECT_EQ(difference()->table, "heads") << "which the other has not at all";
    (*other)->begin(kNode)->commit();
    EXPECT_FALSE(difference().has_value());
    put(*ledger_, "A", "anna");
    EXPECT_EQ(difference()->table, "codes");
    const std::string key = difference()->key_hex;
    EXPECT_EQ(key.substr(0, 8), "00000007");
    EXPECT_EQ(first_difference(*(*other)->rows(kNode), *ledger_->rows(kNode))->key_hex, key);
    put(**other, "A", "berta");
    EXPECT_EQ(difference()->key_hex, key) << "the same key, another value";
    put(**other, "A", "anna");
    EXPECT_FALSE(difference().has_value());
    put(*ledger_, "B", "anna");
    put(**other, "C", "anna");
    const std::string lower = to_hex(std::min(sha256("B"), sha256("C")));
    EXPECT_THAT(difference()->key_hex, testing::HasSubstr(lower)) << "the lower of two keys";
    EXPECT_EQ(first_difference(*(*other)->rows(kNode), *ledger_->rows(kNode))->key_hex,
              difference()->key_hex);
}

TEST_F(LedgerTest, AVisitorThatHasSeenEnoughIsNotCalledAgain) {
    auto txn = ledger_->begin(kNode);
    for (int i = 1; i <= 3; ++i) {
        const OrderKey key = order(std::string(600, 'm') + std::to_string(i));
        txn->put_order(samples_.order(key));
        txn->append_journal(group_of(static_cast<std::uint64_t>(i), key, 100));
        txn->add_to_balance(owed(100));
        txn->mutable_chain({static_cast<std::uint32_t>(i)}).entries = 1;
    }
    txn->put_order(samples_.order(order("zz")));
    int seen = 0;
    const auto first_only = [&](const auto&) {
        ++seen;
        return false;
    };
    txn->scan_orders(kAccount, kShop, first_only);
    EXPECT_EQ(seen, 1) << "of ids that were cut";
    txn->scan_journal(1, first_only);
    EXPECT_EQ(seen, 2);
    txn->scan_heads(first_only);
    EXPECT_EQ(seen, 3);
    txn->scan_chains(first_only);
    EXPECT_EQ(seen, 4);
    txn->scan_balances(first_only);
    EXPECT_EQ(seen, 5);
}

TEST_F(LedgerTest, AScanOfWaitingOrdersEndsWithItsAccount) {
    const WaitKey key{kAccount, WaitKind::kCode, sha256("spring10")};
    auto txn = ledger_->begin(kNode);
    txn->put(WaitingOrder{
        {{kAccount.value + 1}, WaitKind::kCode, sha256("a")}, {}, kShop, OrderId("o")});
    txn->put(
        CodeRow{{kAccount.value + 1}, ProgramId("p"), sha256("a"), {}, "a", CreatorId("c"), {}});
    EXPECT_EQ(txn->next_waiting({kAccount, WaitKind::kCode, {}}), std::nullopt);
    EXPECT_EQ(txn->next_source({kAccount, WaitKind::kCode, {}}), std::nullopt);
    txn->put(WaitingOrder{key, {}, order("o").shop, order("o").order_id});
    EXPECT_EQ(txn->next_waiting({kAccount, WaitKind::kAnon, {}}), std::nullopt) << "of this kind";
    EXPECT_EQ(txn->next_waiting({kAccount, WaitKind::kCode, {}}), key);
}

TEST_F(LedgerTest, ADamagedValueIsAnErrorWithARemedy) {
    {
        auto txn = ledger_->begin(kNode);
        OrderState small;  // in the leaf with its key, not on pages of its own
        small.key = order("a-name-that-is-found-again");
        small.currency = currency_of("USD");
        txn->put_order(small);
        txn->commit();
    }
    ledger_.reset();
    const auto path = folder_ / "data.mdb";
    std::string bytes;
    {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    const std::string name = "a-name-that-is-found-again";
    for (std::size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at)) {
        at += name.size();
        bytes[at] = static_cast<char>(bytes[at] ^ 0x55);  // the value follows
        bytes[at + 1] = static_cast<char>(bytes[at + 1] ^ 0x55);
        bytes[at + 2] = static_cast<char>(bytes[at + 2] ^ 0x55);
    }
    std::ofstream(path, std::ios::binary) << bytes;
    open();
    OrderState state;
    try {
        (void)ledger_->snapshot(kNode)->load_order(order(name), state);
        FAIL() << "the damage was not seen";
    } catch (const LedgerFailure& failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::kCorrupt);
        EXPECT_NE(failure.error().message.find("rebuild"), std::string::npos) << failure.what();
    }
}

}  // namespace
}  // namespace sluice::store
