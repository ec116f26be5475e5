// A warm hot path allocates nothing for a valid request.
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

#include "core/intake/intake.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "unit/core/intake/allocation_count.hpp"
#include "unit/core/intake/intake_fixture.hpp"
#include "unit/core/protocol/order_fixture.hpp"

namespace sluice {
namespace {

using test::allocated_bytes;
using test::allocation_count;

TEST(AllocationRules, TheCounterCounts) {
    const std::size_t before = allocation_count();
    void* const memory = ::operator new(100);  // clang leaves out an allocation that nothing needs
    EXPECT_EQ(allocation_count(), before + 1);
    ::operator delete(memory);
}

TEST(AllocationRules, AValidOrderAllocatesNothingOnceWarm) {
    std::string lines;
    for (int i = 0; i < 50; ++i) {
        lines += R"({"line_item_id":"n)" + std::to_string(i) +
                 R"(","sku":"s","amount":"1","tax":"0","quantity":"1"},)";
    }
    const std::string many = test::edited("\"line_items\": [", "\"line_items\": [" + lines);
    const std::vector<std::string> bodies = {std::string(test::kOrder), many,
                                             test::edited("c-1", std::string(500, 'c'))};
    OrderEventParser parser;
    std::size_t valid = 0;
    std::size_t allocated = 0;
    for (int round = 0; round < 3; ++round) {
        const std::size_t before = allocation_count();
        for (const std::string& body : bodies) {
            valid += parser.parse(body, Topic::kOrderUpdate, "svc_anon_id") != nullptr ? 1U : 0U;
        }
        allocated = allocation_count() - before;
    }
    EXPECT_EQ(valid, 9U);
    EXPECT_EQ(allocated, 0U);
}

TEST(AllocationRules, MemoryOfABodyAbove8MbIsFreed) {
    const std::string large = test::edited("\"c-1\"", '"' + std::string((8U << 20) + 1, 'c') + '"');
    OrderEventParser parser;
    const auto allocated_by = [&parser](std::string_view body) {
        const std::size_t before = allocation_count();
        EXPECT_NE(parser.parse(body, Topic::kOrderUpdate, "svc_anon_id"), nullptr);
        return allocation_count() - before;
    };
    EXPECT_GT(allocated_by(test::kOrder), 0U);
    EXPECT_EQ(allocated_by(test::kOrder), 0U);
    EXPECT_GT(allocated_by(large), 0U);
    parser.trim();
    EXPECT_GT(allocated_by(test::kOrder), 0U) << "the buffers were given back";
    EXPECT_GT(allocated_by(large), 0U);
    EXPECT_GT(allocated_by(test::kOrder), 0U) << "at the latest by the next parse";
}

TEST(AllocationRules, MemoryOfALongListIsFreed) {
    std::string lines;
    for (int i = 0; i < 20'000; ++i) {
        lines += R"({"line_item_id":"n)" + std::to_string(i) +
                 R"(","sku":"s","amount":"1","tax":"0","quantity":"1"},)";
    }
    const std::string many = test::edited("\"line_items\": [", "\"line_items\": [" + lines);
    OrderEventParser parser;
    const auto allocated_by = [&parser](std::string_view body) {
        const std::size_t before = allocation_count();
        EXPECT_NE(parser.parse(body, Topic::kOrderUpdate, "svc_anon_id"), nullptr);
        return allocation_count() - before;
    };
    EXPECT_GT(allocated_by(many), 0U);
    EXPECT_EQ(allocated_by(many), 0U);
    parser.trim();
    EXPECT_GT(allocated_by(many), 0U);
}

TEST(AllocationRules, MemoryOfALargeWebhookIsFreed) {
    constexpr std::size_t kValues = 200'000;
    std::string body = R"({"x":[0)";
    for (std::size_t i = 1; i < kValues; ++i) {
        body += ",0";
    }
    body += "]}";
    IntakeScratch scratch;
    SourceRequest request;
    request.topic = "orders/updated";
    request.body = body;
    EXPECT_EQ(scratch.translator.translate(request, {}).kind, TranslationKind::kFaults);
    const std::size_t before = allocated_bytes();
    scratch.trim();
    EXPECT_LT(allocated_bytes() + kValues * 16, before) << "the tree has a node for each value";
    EXPECT_EQ(scratch.translator.translate(request, {}).kind, TranslationKind::kFaults);
}

TEST(AllocationRules, SigningAndTheEnvelopeAllocateNothingOnceWarm) {
    const SigningKey key("a secret of more than sixteen bytes");
    RecordEnvelope envelope;
    RecordMeta meta;
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.request_id = "0123456789abcdef0123456789abcdef";
    const Digest256 expected = key.sign(test::kOrder);
    envelope.encode(meta, test::kOrder);
    const std::size_t before = allocation_count();
    const bool verified = key.verify(test::kOrder, expected);
    envelope.encode(meta, test::kOrder);
    EXPECT_EQ(allocation_count(), before);
    EXPECT_TRUE(verified);
}

TEST(AllocationRules, IntakeOfAnEventAllocatesNothingOnceWarm) {
    test::World world;
    test::Request request;
    request.body = test::kOrder;
    request.set("X-SVC-SHOP-ID", {"shop-1"})
        .set("X-SVC-TOPIC", {"ORDER_UPDATE"})
        .set("X-Signature", {test::signature_of(test::kOrder)})
        .set("Content-Type", {"application/json; charset=utf-8"});
    const RequestHead head = request.head();
    const Opened opened = open_event(head, world.registry);
    world.gate.counted.reserve(10);
    std::size_t allocated = 0;
    for (int round = 0; round < 2; ++round) {
        const std::size_t before = allocation_count();
        WholeBody body(request.body);
        const Accepting accepting = accept_event(head, world.names, opened.sender, body, world.gate,
                                                 test::kNow, world.scratch);
        allocated = allocation_count() - before;
        EXPECT_FALSE(accepting.answer);
    }
    EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace sluice
