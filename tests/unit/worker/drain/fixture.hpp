// A store with orders in its queue, for the tests of the drain.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/protocol/record.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "unit/lmdb_store/temp_store.hpp"
#include "worker/drain/drain.hpp"

namespace sluice::worker {

inline constexpr Timestamp kReceived{1'767'225'600, 0};  // 2026-01-01T00:00:00Z

/// The body of an order: one line of 100.00, updated `version` seconds into 2026.
inline std::string order_body(const std::string& id, int version, const std::string& refund = "",
                              const std::string& code = "SPRING") {
    const std::string at = Timestamp{kReceived.seconds + version, 0}.to_string();
    std::string body = R"({"platform_order_id":")" + id +
                       R"(","platform_customer_id":"c-1","email":"ann@example.com",)"
                       R"("platform_ordered_at":"2026-01-01T00:00:00Z","platform_updated_at":")" +
                       at +
                       R"(","amount":"100.00","tax":"0.00","shipping":"0.00",)"
                       R"("currency_code":"USD","discounts":[{"code":")" +
                       code +
                       R"(","type":"DISCOUNT_CODE","value_type":"PERCENTAGE","value":"10"}],)"
                       R"("line_items":[{"line_item_id":"l1","sku":"s","amount":"100.00",)"
                       R"("tax":"0.00","quantity":"1"}])";
    if (!refund.empty()) {
        body += R"(,"refund_line_items":[{"refund_line_item_id":"r-)" + id +
                R"(","line_item_id":"l1","platform_refunded_at":")" + at +
                R"(","sku":"s","amount":")" + refund + R"(","tax":"0.00","quantity":"1"}])";
    }
    return body + "}";
}

inline Program spring_program() {
    Program made;
    made.id = ProgramId("spring");
    made.account_id = AccountId("acme");
    made.account = {1};
    made.late_days = kProgramDaysMax;  // commands are given long after the orders
    made.default_rate = *parse_rate("10%");
    return made;
}

class DrainStore {
public:
    DrainStore() {
        register_shop("shop-1");
        open_queue();
    }

    /// The next shop of account acme, in the registry.
    void register_shop(const std::string& id) {
        auto registry = store::Registry::open(paths(), store::Registry::Mode::kReadWrite);
        ASSERT_TRUE(registry.ok()) << registry.error().message;
        const AccountId acme("acme");
        const auto known = (*registry)->account(acme);
        if (known.ok() && !*known) {
            ASSERT_TRUE((*registry)->create_account(acme, std::nullopt, kReceived).ok());
        }
        ASSERT_TRUE((*registry)->create_shop(ShopId(id), acme, kReceived).ok());
    }

    void open_queue() {
        queue_.reset();
        auto opened = store::Queue::open(paths(), {});
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        queue_ = std::move(*opened);
    }
    [[nodiscard]] const store::StorePaths& paths() const { return store_.paths(); }
    [[nodiscard]] store::Queue& queue() { return *queue_; }
    void close_queue() { queue_.reset(); }

    static RecordMeta meta_of(Topic topic) {
        RecordMeta meta;
        meta.topic = topic;
        meta.account_number = {1};
        meta.shop_number = {1};
        meta.account_id = "acme";
        meta.shop_id = "shop-1";
        meta.received_at = kReceived;
        meta.actor = is_command(topic) ? "tester" : "";
        return meta;
    }

    /// Appends a record's bytes, whatever they are.
    SequenceNumber append_raw(std::string_view prefix, std::string_view body) {
        store::AppendItem item;
        item.prefix = prefix;
        item.body = body;
        item.received_at = kReceived;
        queue_->append({&item, 1}, kReceived);
        EXPECT_EQ(item.outcome, store::AppendOutcome::kStored);
        return item.seq;
    }
    /// A command is sealed, as the program does it.
    SequenceNumber append(Topic topic, std::string_view body) {
        RecordMeta meta = meta_of(topic);
        if (is_command(topic)) {
            meta.seal = seal_of(meta, body);
        }
        return append(meta, body);
    }
    SequenceNumber append(const RecordMeta& meta, std::string_view body) {
        RecordEnvelope envelope;
        envelope.encode(meta, body);
        return append_raw(envelope.prefix(), body);
    }
    /// Seals for the number that the next record gets.
    CommandSeal seal_of(const RecordMeta& meta, std::string_view body) {
        const auto held = store::HeldCommandKeys::load(paths().command_key);
        EXPECT_TRUE(held.ok()) << held.error().message;
        return held->keys().seal(meta, sha256(body), queue_->uuid(),
                                 {queue_->last_seq()->value + 1});
    }
    SequenceNumber order(const std::string& id, int version, const std::string& refund = "",
                         const std::string& code = "SPRING") {
        return append(Topic::kOrderUpdate, order_body(id, version, refund, code));
    }
    SequenceNumber command(const Command& command) {
        return append(topic_of(command), encode_request({{}, {}, command}));
    }
    /// Many orders in one append.
    void orders(int first, int count, int version = 1) {
        std::vector<std::string> bodies;
        std::vector<std::string> prefixes;
        std::vector<store::AppendItem> items(static_cast<std::size_t>(count));
        RecordEnvelope envelope;
        for (int i = 0; i < count; ++i) {
            bodies.push_back(order_body("o" + std::to_string(first + i), version));
            envelope.encode(meta_of(Topic::kOrderUpdate), bodies.back());
            prefixes.emplace_back(envelope.prefix());
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].prefix = prefixes[i];
            items[i].body = bodies[i];
            items[i].received_at = kReceived;
        }
        queue_->append(items, kReceived);
        EXPECT_EQ(items.back().outcome, store::AppendOutcome::kStored);
    }
    void program_and_creator() {
        command(ProgramApply{{spring_program()}});
        command(CreatorImport{{{2, CreatorId("anna"), ProgramId("spring"), "SPRING"}}});
    }
    /// Appends a body as a bulk file.
    SequenceNumber append_bulk(Topic topic, const std::string& body) {
        auto file = store::BulkFile::write(paths(), body, sha256(body));
        EXPECT_TRUE(file.ok());
        RecordMeta meta = meta_of(topic);
        meta.bulk = file->ref();
        RecordEnvelope envelope;
        envelope.encode(meta, {});
        const SequenceNumber seq = append_raw(envelope.prefix(), {});
        file->keep();
        return seq;
    }

    std::unique_ptr<Drain> drain(const DrainOptions& options = {}) {
        auto opened = Drain::open(paths(), *queue_, opener(), options, events_);
        if (!opened) {
            refused_ = opened.error();
            return nullptr;
        }
        return std::move(*opened);
    }
    /// Drains the whole queue like a separate process, and closes everything.
    void drain_all(const DrainOptions& options = {}) {
        const auto drained = drain(options);
        ASSERT_NE(drained, nullptr) << refused_.message;
        const Status done = drained->run_until_empty(stop_);
        EXPECT_TRUE(done.ok()) << done.error().message;
    }
    std::unique_ptr<store::EmbeddedLedger> ledger() {
        auto opened =
            store::EmbeddedLedger::open(paths().ledger, store::EmbeddedLedger::Mode::kReadWrite);
        EXPECT_TRUE(opened.ok());
        return std::move(*opened);
    }
    LedgerHead head() { return ledger()->snapshot(queue_->uuid())->head(); }
    [[nodiscard]] const Error& refused() const { return refused_; }
    /// The ledger that the worker writes: the embedded one, if `opener_` is empty.
    [[nodiscard]] LedgerOpener opener() const {
        return opener_ ? opener_ : embedded_ledger(paths());
    }

    DrainEvents events_;
    LedgerOpener opener_;
    std::atomic<bool> stop_ = false;

private:
    store::TempStore store_;
    std::unique_ptr<store::Queue> queue_;
    Error refused_;
};

}  // namespace sluice::worker
