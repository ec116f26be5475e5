#include "unit/ledger/replay_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/apply/dry_run.hpp"
#include "core/approvals/signed_approval.hpp"
#include "core/commands/seal.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/personal_ids.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/ssh_signer.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using store::RowDifference;

Policy four_eyes() {
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = {1};
    policy.approve_adjust_above = std::vector<Money>{*parse_money("20.00 USD")};
    policy.approvers = {"gina " + SshSigner().public_key(), "frank"};
    return policy;
}

/// The pending `adjust` is approved by a signature, so that its proof is a row.
void sign_approval(Books& books) {
    std::string id;
    const auto reader = books.read();
    reader->scan(PendingApproval{}, {}, [&id](const PendingApproval& row) {
        id = row.command_id;
        return false;
    });
    const auto shown =
        shown_approval(*reader, {1}, AccountId("acme"), id, reader->head().last_received);
    ASSERT_TRUE(shown.ok()) << shown.error().message;
    const std::string statement = approval_statement(*reader, AccountId("acme"), shown->subject);
    const Applied done = books.command(Approve{id, {}, SshSigner().sign(statement)});
    ASSERT_FALSE(done.failed) << done.text;
}

/// A command with a seal, which the ledger keeps.
void sealed(Books& books) {
    CommandKeys keys;
    keys.rotate(sha256("key"), {});
    const std::string body =
        encode_request({{}, "as agreed", CreatorSet{CreatorId("ann"), {}, "P-2", {}, {}}});
    RecordMeta meta;
    meta.topic = Topic::kCreatorSet;
    meta.account_number = {1};
    meta.account_id = "acme";
    meta.received_at = instant("2026-02-20T00:00:00Z");
    meta.actor = "eve";
    meta.seal = keys.seal(meta, sha256(body), Books::kNode, {books.last_seq().value + 1});
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    books.input(std::string(envelope.prefix()) + body);
}

/// Inputs that leave a row in as many tables as they can.
void live(Books& books) {
    Program tiers = program();
    tiers.default_tiers.push_back({*parse_money("50.00 USD"), *parse_rate("12%")});
    tiers.tiers_apply = TiersApply::kMonth;
    tiers.max_per_order.push_back(*parse_money("40.00 USD"));
    Rule fresh = rule(RuleMatch::kNoItem, "", "20%");
    fresh.customer = CustomerKind::kNew;
    tiers.rules.push_back(fresh);
    books.command(ProgramApply{{tiers}, {four_eyes()}});
    books.creator("ann", "spring", "ANN");
    books.creator("ben", "spring", "BEN");
    books.click("device-1", "ben", "spring", "2025-12-31T00:00:00Z");
    books.clicks({{anon_digest("device-3"), instant("2026-01-01T00:00:00Z"), LinkId("ann-mug"),
                   ProgramId("spring"), CreatorId("ann")}});
    books.command(LinkSet{LinkVerb::kCreate,
                          {{0, LinkId("ann-cup"), ProgramId("spring"), CreatorId("ann"),
                            "https://s.example/", false}}});
    books.raw(Topic::kClick,
              encode_clicks({ClickSource::kLink,
                             {{anon_digest("device-3"), instant("2025-12-30T00:00:00Z"),
                               LinkId("ann-cup"), ProgramId(), CreatorId()}}}));
    books.products(Topic::kProductUpsert,
                   R"([{"platform_product_id":"p","title":"T","brand":"B","tags":["t"],)"
                   R"("collections":["c"],"variants":[{"variant_sku":"v"}]}])");
    OrderText order;
    order.codes = {"ANN"};
    order.numbers = {"#1001"};
    order.customer = "c-1";
    order.lines[0].variant_sku = "v";
    order.updated = "2026-01-02T00:00:00Z";
    books.create(order, "device-1");
    order.refunds.push_back({"r1", "l1", "25.00"});
    order.updated = "2026-01-03T00:00:00Z";
    books.update(order);
    for (unsigned i = 0; i < kEventsInlineMax + 2; ++i) {
        order.shipping = std::to_string(i) + ".00";
        order.updated = "2026-01-04T00:00:00." + std::to_string(1000 + i) + "Z";
        books.update(order);
    }
    OrderText waiting;
    waiting.id = "waits";
    waiting.codes = {"NOBODY"};
    books.create(waiting, "device-2");
    OrderText landed;
    landed.id = "landed";
    landed.ordered = "2026-01-01T12:00:00Z";
    books.create(landed, "device-3");
    OrderText large;
    large.id = "large";
    large.amount = "1.00";  // less than its lines: an anomaly
    large.codes = {"BEN"};
    books.create(large);
    books.raw(Topic::kOrderUpdate, "not an order");
    books.creator("cid", "spring", "NOBODY");  // attributes the order that waits
    waiting.id = "waits on";
    waiting.codes = {"NEVER"};
    books.create(waiting);
    books.key = "key-1";
    books.adjust("o1", "3.00");
    books.key.clear();
    books.actor = "eve";
    books.adjust("o1", "99.00");
    sign_approval(books);
    books.adjust("o1", "98.00");  // waits
    books.command(
        Credit{CreatorId("ann"), ProgramId("spring"), *parse_money("4.00 USD"), OrderId("o9"), {}});
    books.command(
        OpeningImport{instant("2025-06-01T00:00:00Z"),
                      {{2, CreatorId("ben"), ProgramId("spring"), *parse_money("6.00 USD")}}});
    books.command(Hold{{OrderId("waits on"), {}, {}}});
    books.command(Hold{{std::nullopt, CreatorId("ben"), {}}});
    books.command(CreatorSet{CreatorId("ann"), "Ann", "P-1", {}, {}});
    sealed(books);
    books.command(CreatorRename{CreatorId("ben"), CreatorId("benno")});
    OrderText forgotten;
    forgotten.id = "gone";
    forgotten.customer = "c-9";
    books.create(forgotten);
    books.forget(ForgetBy::kOrder, "gone");
    books.command(AnomalyAck{OrderId("large"), "LINES_EXCEED_AMOUNT"});
    books.source = SourceText{};
    books.raw(Topic::kOrderUpdate,
              R"({"platform_order_id":"unread","platform_updated_at":"2026-01-02T00:00:00Z"})");
    books.remove("never seen", "2026-01-02T00:00:00Z");
    books.source.reset();
    books.receive_at("2026-03-02T00:00:00Z");
    books.close_account("2026-03-01T00:00:00Z");
    books.command(PeriodClose{instant("2026-03-01T00:00:00Z"), true});
}

}  // namespace

ReplayScene::ReplayScene() : folder_(cli::TemporaryFolder::make("sluice-replay-test").value()) {
    const std::unique_ptr<Ledger> scratch = make_ledger("Memory");
    Books books(*scratch);
    live(books);
    fs::create_directory(archive());
    auto writer = store::ArchiveWriter::open(archive(), std::string(Books::kNode), {});
    for (const Kept& kept : books.archive()) {
        store::ArchivedInput input;
        input.seq = kept.seq;
        input.record = kept.record;
        if (kept.body_sha256) {
            input.original = {*kept.body_sha256, kept.digest.value_or(Digest256{})};
        }
        EXPECT_TRUE((*writer)->add(input, {}).ok());
    }
    EXPECT_TRUE((*writer)->flush().ok());
}

worker::ReplayOutcome ReplayScene::audit(const worker::LedgerPlace& place) {
    const fs::path temporary = folder_.path() / "temporary";
    fs::create_directory(temporary);
    worker::ReplayOptions options;
    options.ledger = place;
    options.archives = {archive()};
    options.temporary = temporary;
    auto outcome = worker::replay_ledger(options);
    fs::remove_all(temporary);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? std::move(*outcome) : worker::ReplayOutcome{};
}

std::string said(const worker::ReplayOutcome& outcome) {
    std::string text;
    for (const RowDifference& d : outcome.differences) {
        text += d.table + " | " + d.key + " | " + d.column + " | " + d.stored.value_or("-") +
                " | " + d.right.value_or("-") + "\n";
    }
    return text.empty() ? "nothing" : text;
}

bool is_named(const worker::ReplayOutcome& outcome, std::string_view table,
              const std::string& column) {
    return std::any_of(
        outcome.differences.begin(), outcome.differences.end(), [&](const RowDifference& d) {
            return d.table == table && !d.key.empty() &&
                   (d.column.empty() || column.starts_with(d.column) ||
                    d.column.starts_with(column) || d.stored.value_or("").starts_with("damaged") ||
                    (column == "full_id" && d.column == "product_id") ||
                    (column.starts_with("rate_") && d.column == "frozen_rates"));
        });
}

}  // namespace sluice::test
