// The checks of a body whose digests are known before its bytes: the same verdicts as for one that
// lies in memory, and what they say when the bytes cannot be had.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/intake/body.hpp"
#include "core/intake/intake.hpp"
#include "unit/core/intake/intake_fixture.hpp"
#include "unit/core/protocol/order_fixture.hpp"

namespace sluice {
namespace {

using test::kNow;
using test::Request;
using test::signature_of;
using test::World;

/// Digests of pieces; its bytes, unless the disk has lost them.
class Streamed final : public CheckedBody {
public:
    Streamed(BodyDigests digests, std::string text, Reason gone)
        : digests_(std::move(digests)), text_(std::move(text)), gone_(gone) {
        for (std::size_t at = 0; at < text_.size(); at += 7) {
            digests_.add(std::string_view(text_).substr(at, 7));
        }
    }
    std::optional<bool> is_signed_by(const SigningKey& key, const Digest256& signature) override {
        if (const auto known = digests_.is_signed_by(key, signature)) {
            return known;
        }
        ++looked_again;
        return gone_ == Reason::kNone ? std::optional(key.verify(text_, signature)) : std::nullopt;
    }
    Digest256 sha256() override { return digests_.sha256(); }
    Reason read(std::string_view& text) override {
        ++reads;
        text = gone_ == Reason::kNone ? std::string_view(text_) : text;
        return gone_;
    }

    int reads = 0;
    int looked_again = 0;

private:
    BodyDigests digests_;
    std::string text_;
    Reason gone_;
};

Request order(const std::string& body, const std::string& signature) {
    Request request;
    request.set("X-SVC-SHOP-ID", {"shop-1"})
        .set("X-SVC-TOPIC", {"ORDER_UPDATE"})
        .set("X-Signature", {signature})
        .set("Content-Type", {"application/json"});
    request.body = body;
    return request;
}

struct Sent {
    Accepting accepting;
    int reads = 0;
    int looked_again = 0;
};

Sent send_streamed(
    World& world, const Request& request, Reason gone = Reason::kNone,
    const std::function<void()>& meanwhile = [] {}) {
    const RequestHead head = request.head();
    Opened opened = open_event(head, world.registry);
    Streamed body(BodyDigests::of_signed(opened.sender, kWriteOrders, kNow), request.body, gone);
    meanwhile();
    opened = open_event(head, world.registry);  // as when the last byte has come
    Accepting accepting =
        accept_event(head, world.names, opened.sender, body, world.gate, kNow, world.scratch);
    return {std::move(accepting), body.reads, body.looked_again};
}

const std::string kBody(test::kOrder);

TEST(StreamedBodyRules, ARightSignatureIsRightInPieces) {
    World world;
    const Sent sent = send_streamed(world, order(kBody, signature_of(kBody)));
    EXPECT_FALSE(sent.accepting.answer);
    EXPECT_EQ(sent.looked_again, 0) << "the digests were ready";
    EXPECT_EQ(sent.reads, 1);
}

TEST(StreamedBodyRules, AWrongSignatureIs401WithoutTheBytes) {
    World world;
    for (const char* shop : {"shop-1", "shop-of-nobody"}) {
        Request request = order(kBody, signature_of(kBody + " "));
        request.set("X-SVC-SHOP-ID", {shop});
        for (const Reason gone : {Reason::kNone, Reason::kDiskFull}) {
            const Sent sent = send_streamed(world, request, gone);
            ASSERT_TRUE(sent.accepting.answer);
            EXPECT_EQ(sent.accepting.answer->status, 401);
            EXPECT_FALSE(sent.accepting.rate);
            EXPECT_EQ(sent.reads, 0) << "who cannot sign makes nobody read";
            EXPECT_EQ(sent.looked_again, 0) << "an unknown shop costs one dummy signature";
        }
    }
}

TEST(StreamedBodyRules, EachOfTheAccountsTokensMayHaveSigned) {
    World world;
    world.registry.add_token(world.acme, "a second secret of acme", kWriteOrders);
    world.registry.add_token(world.acme, "may write products only", kWriteProducts);
    const auto sent = [&](const char* secret) {
        return send_streamed(world, order(kBody, signature_of(kBody, secret)));
    };
    EXPECT_FALSE(sent("a second secret of acme").accepting.answer);
    EXPECT_EQ(sent("may write products only").accepting.answer->status, 401);
}

TEST(StreamedBodyRules, ATokenThatWasRevokedMeanwhileIsRefused) {
    World world;
    const Sent sent = send_streamed(world, order(kBody, signature_of(kBody)), Reason::kNone, [&] {
        world.acme->tokens.clear();
        world.registry.add_token(world.acme, "another secret of acme", kWriteOrders);
    });
    ASSERT_TRUE(sent.accepting.answer);
    EXPECT_EQ(sent.accepting.answer->status, 401);
}

TEST(StreamedBodyRules, ATokenThatWasMadeMeanwhileIsAskedWithTheBytes) {
    World world;
    const Request request = order(kBody, signature_of(kBody, "a second secret of acme"));
    const auto make = [&] {
        world.registry.add_token(world.acme, "a second secret of acme", kWriteOrders);
    };
    EXPECT_FALSE(send_streamed(world, request, Reason::kNone, make).accepting.answer);
    World full;
    const Sent lost = send_streamed(full, request, Reason::kDiskFull, [&] {
        full.registry.add_token(full.acme, "a second secret of acme", kWriteOrders);
    });
    ASSERT_TRUE(lost.accepting.answer);
    EXPECT_EQ(lost.accepting.answer->status, 503) << "nobody can tell; a 401 could lose the event";
}

TEST(StreamedBodyRules, BytesThatCannotBeHadAre503WithTheRate) {
    World world;
    const Sent sent = send_streamed(world, order(kBody, signature_of(kBody)), Reason::kDiskFull);
    ASSERT_TRUE(sent.accepting.answer);
    EXPECT_EQ(sent.accepting.answer->status, 503);
    EXPECT_EQ(sent.accepting.answer->reason, Reason::kDiskFull);
    EXPECT_TRUE(sent.accepting.answer->rate);
    EXPECT_TRUE(sent.accepting.is_body_gone);
}

TEST(StreamedBodyRules, TheWindowComesBeforeTheBytes) {
    World world;
    world.gate.verdict->allowed = false;
    const Sent sent = send_streamed(world, order(kBody, signature_of(kBody)));
    ASSERT_TRUE(sent.accepting.answer);
    EXPECT_EQ(sent.accepting.answer->status, 429);
    EXPECT_EQ(sent.reads, 0);
}

TEST(StreamedBodyRules, ABatchWithLostBytesStillNamesItsKey) {
    World world;
    const std::string body = R"({"products":[]})";
    Request request;
    request.set("Authorization", {std::string("Bearer ") + World::kSecret})
        .set("X-SVC-SHOP-ID", {"shop-1"})
        .set("X-SVC-TOPIC", {"PRODUCT_UPSERT"})
        .set("X-Signature", {to_hex(sha256(body))})
        .set("Idempotency-Key", {"key"})
        .set("Content-Type", {"application/json"});
    const RequestHead head = request.head();
    Opened opened = open_catalog(head, world.names, world.registry, kNow);
    ASSERT_FALSE(opened.answer);
    Streamed streamed(BodyDigests::of_batch(), body, Reason::kIoError);
    const Accepting got = accept_catalog(head, opened.sender, streamed, world.gate, world.scratch);
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 503);
    EXPECT_TRUE(got.is_body_gone);
    EXPECT_EQ(got.accepted.meta.idempotency_key, "key");
    EXPECT_EQ(got.accepted.body_sha256, sha256(body));
}

}  // namespace
}  // namespace sluice
