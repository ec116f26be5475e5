// A store with order events of five lines in its queue, about 1.1 KB each, as shops send them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/shopify_order.hpp"
#include "core/commands/commands.hpp"
#include "core/protocol/record.hpp"
#include "core/shops/translator.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/command_key.hpp"

namespace sluice::bench {

inline constexpr Timestamp kReceived{1'767'225'600, 0};
inline constexpr std::int64_t kFirstOrdered = kReceived.seconds - 30 * 86'400;
inline constexpr std::size_t kAppendBatch = 2000;

inline void check(bool ok, const std::string& what) {
    if (!ok) {
        std::fprintf(stderr, "%s\n", what.c_str());
        std::exit(1);
    }
}

inline std::string line_of(std::uint64_t order, int line) {
    const std::string number = std::to_string(line);
    return R"({"line_item_id":"li-)" + std::to_string(order) + "-" + number + R"(","sku":"SKU-)" +
           std::to_string((order * 7 + static_cast<unsigned>(line)) % 5000) +
           R"(","variant_sku":"VAR-)" + number + R"(-BLUE","amount":")" + number +
           R"(9.90","tax":")" + number + R"(.58","quantity":"1"})";
}

/// About 1.1 KB, as a shop sends it. `update` 0: a new order; else one of its refunds, each with a
/// version and an amount of its own.
inline std::string order_body(std::uint64_t order, std::uint32_t update) {
    const std::int64_t ordered = kFirstOrdered + static_cast<std::int64_t>(order / 100);
    std::string body = R"({"platform_order_id":"order-)" + std::to_string(1'000'000'000 + order) +
                       R"(","platform_customer_id":"customer-)" + std::to_string(order % 100'000) +
                       R"(","email":"someone@example.com","platform_ordered_at":")" +
                       Timestamp{ordered, 0}.to_string() + R"(","platform_updated_at":")" +
                       Timestamp{ordered + 1, update}.to_string() +
                       R"(","amount":"199.50","tax":"17.90","shipping":"4.90",)"
                       R"("currency_code":"USD","discounts":[{"code":"SPRING)" +
                       std::to_string(order % 50) +
                       R"(","type":"DISCOUNT_CODE","value_type":"PERCENTAGE","value":"10"}],)"
                       R"("line_items":[)";
    for (int line = 1; line <= 5; ++line) {
        body += (line == 1 ? "" : ",") + line_of(order, line);
    }
    body += "]";
    if (update != 0) {
        body += R"(,"refund_line_items":[{"refund_line_item_id":"r-)" + std::to_string(order) +
                R"(","line_item_id":"li-)" + std::to_string(order) +
                R"(-1","platform_refunded_at":"2026-03-01T00:00:00Z","sku":"S","amount":")" +
                std::to_string(1 + update % 19) + R"(.00","tax":"0.00","quantity":"1"}])";
    }
    return body + "}";
}

/// Ten percent of everything.
inline Program plain_program() {
    Program program;
    program.id = ProgramId("spring");
    program.account_id = AccountId("acme");
    program.account = {1};
    program.late_days = kProgramDaysMax;
    program.default_rate = *parse_rate("10%");
    return program;
}

/// Two hundred rules, for SKUs, creators, groups and times, with tiers, and a cap: what a large
/// program has. One line in about 33 meets a rule of its SKU.
inline Program rich_program() {
    Program program = plain_program();
    const Currency usd = *Currency::parse("USD");
    const auto tiers = [usd](const char* above) {
        return std::vector<Tier>{{{usd, Decimal(100'000, 2)}, *parse_rate(above)}};
    };
    for (int i = 0; i < 150; ++i) {
        program.rules.push_back(
            {RuleMatch::kSku, "SKU-" + std::to_string(33 * i), *parse_rate("7.5%"), {}});
    }
    for (int i = 0; i < 20; ++i) {
        Rule rule{RuleMatch::kNoItem, "", *parse_rate("11%"), tiers("12%")};
        rule.creator = "creator-" + std::to_string(i);
        program.rules.push_back(rule);
    }
    for (int i = 0; i < 30; ++i) {
        Rule rule{RuleMatch::kSku, "SKU-" + std::to_string(50 * i + 1), *parse_rate("12%"), {}};
        rule.group = "group-" + std::to_string(i);
        rule.until = Timestamp{kReceived.seconds, 0};
        program.rules.push_back(rule);
    }
    program.default_tiers = tiers("13%");
    program.max_per_order = {{usd, Decimal(50'000, 2)}};
    const Status valid = validate(program);
    check(valid.ok(), valid ? "" : valid.error().message);
    return program;
}

struct Bench {
    explicit Bench(const std::filesystem::path& folder) : paths(folder / "apply_rate") {
        std::filesystem::remove_all(paths.root);
        const Status made = store::init_store(paths, {});
        check(made.ok(), made ? "" : made.error().message);
        auto opened = store::Queue::open(paths, {});
        check(opened.ok(), opened ? "" : opened.error().message);
        queue = std::move(*opened);
    }
    /// Opens a store that exists, and leaves it.
    /// @param now  Receipt of what is appended.
    Bench(store::StorePaths existing, Timestamp now)
        : paths(std::move(existing)), received(now), is_kept(true) {
        auto opened = store::Queue::open(paths, {});
        check(opened.ok(), opened ? "" : opened.error().message);
        queue = std::move(*opened);
    }
    ~Bench() {
        queue.reset();
        if (!is_kept) {
            std::filesystem::remove_all(paths.root);
        }
    }

    /// The worker applies events of shops that the registry has.
    void register_shops(std::uint32_t upto) {
        if (registered >= upto) {
            return;
        }
        auto registry = store::Registry::open(paths, store::Registry::Mode::kReadWrite);
        check(registry.ok(), registry ? "" : registry.error().message);
        const AccountId acme("acme");
        const auto known = (*registry)->account(acme);
        check(known.ok(), known ? "" : known.error().message);
        Status made =
            *known ? Status() : (*registry)->create_account(acme, std::nullopt, kReceived);
        for (; made && registered < upto; ++registered) {
            const ShopId id("shop-" + std::to_string(registered + 1));
            const auto there = (*registry)->shop(id);
            const bool is_new = there.ok() && !*there;
            made = is_new ? (*registry)->create_shop(id, acme, kReceived) : Status();
        }
        check(made.ok(), made ? "" : made.error().message);
    }

    /// @param shop  0: clicks of links have none.
    void append(Topic topic, const std::vector<std::string>& bodies, std::uint32_t shop = 1,
                const std::optional<RecordSource>& source = {}) {
        register_shops(shop);
        RecordMeta meta;
        meta.topic = topic;
        meta.source = source;
        meta.account_number = {1};
        meta.account_id = "acme";
        const std::string shop_id = "shop-" + std::to_string(shop);
        if (shop != 0) {
            meta.shop_number = {shop};
            meta.shop_id = shop_id;
        }
        meta.received_at = received;
        std::vector<std::string> prefixes;
        std::vector<store::AppendItem> items(bodies.size());
        RecordEnvelope envelope;
        std::uint64_t seq = queue->last_seq()->value;
        for (const std::string& body : bodies) {
            ++seq;
            if (is_command(topic)) {
                const auto held = store::HeldCommandKeys::load(paths.command_key);
                check(held.ok(), held ? "" : held.error().message);
                meta.seal = held->keys().seal(meta, sha256(body), queue->uuid(), {seq});
            }
            envelope.encode(meta, body);
            prefixes.emplace_back(envelope.prefix());
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].prefix = prefixes[i];
            items[i].body = bodies[i];
            items[i].received_at = received;
        }
        queue->append(items, received);
        check(items.back().outcome == store::AppendOutcome::kStored, "the queue is full");
    }

    void programs(const Program& program = plain_program()) {
        append(Topic::kProgramApply, {encode_request({{}, {}, ProgramApply{{program}}})});
        CreatorImport creators;
        for (std::uint32_t i = 0; i < 40; ++i) {  // one order in five stays without a creator
            creators.rows.push_back({i + 2, CreatorId("creator-" + std::to_string(i)), program.id,
                                     "SPRING" + std::to_string(i)});
        }
        append(Topic::kCreatorImport, {encode_request({{}, {}, creators})});
    }

    void create(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t order = first; order < end;) {
            std::vector<std::string> bodies;
            for (; bodies.size() < kAppendBatch && order < end; ++order) {
                bodies.push_back(order_body(order, 0));
            }
            append(Topic::kOrderCreate, bodies);
        }
    }

    /// Webhooks of Shopify, translated as nginx does it before it stores them.
    void create_of_shopify(std::uint64_t first, std::uint64_t end) {
        RecordSource source;
        source.topic = "orders/updated";
        source.triggered_at = "2025-12-01T10:00:01.516267807Z";
        source.signature = Digest256{};
        SourceRequest request;
        request.topic = source.topic;
        request.anon_field = "svc_anon_id";
        for (std::uint64_t order = first; order < end;) {
            std::vector<std::string> bodies;
            for (; bodies.size() < kAppendBatch && order < end; ++order) {
                const std::string sent = shopify_order(order, 5);
                request.body = sent;
                const Translation translation = translator.translate(request, {});
                check(translation.kind == TranslationKind::kOrder, "an order was not translated");
                bodies.emplace_back(translation.body);
            }
            append(Topic::kOrderUpdate, bodies, 1, source);
        }
    }

    /// Refunds random orders of all ages, so that the changed rows are far apart.
    void refund(std::uint64_t count, std::uint64_t orders) {
        for (std::uint64_t done = 0; done < count;) {
            std::vector<std::string> bodies;
            for (; bodies.size() < kAppendBatch && done < count; ++done) {
                bodies.push_back(order_body(random() % orders, ++updates));
            }
            append(Topic::kOrderUpdate, bodies);
        }
    }

    store::StorePaths paths;
    std::unique_ptr<store::Queue> queue;
    Timestamp received = kReceived;
    bool is_kept = false;
    std::atomic<bool> stop = false;
    std::mt19937_64 random{1};
    std::uint32_t updates = 0;
    std::uint32_t registered = 0;  ///< Shops of the registry.
    Translator translator{};
};

}  // namespace sluice::bench
