// Commands of people: their bodies, their results, programs, dead letters, forgetting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/commands/commands.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/protocol/record.hpp"
#include "core/rules/attribution.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Program full_program() {
    Program full = program("spring", "12.5%");
    full.shops = {"shop-1", "shop-2"};
    full.window_days = 7;
    full.base = BaseKind::kGross;
    full.precedence = {AttributionType::kLanded};
    full.clearing_days = 30;
    full.rules = {rule(RuleMatch::kCollection, "sa\"le", "1.50 EUR"),
                  rule(RuleMatch::kVariantSku, "v", "0.0001%")};
    return full;
}

template <class T>
T round_trip(const T& command) {
    const std::string body = encode_request({"key", "why\n", command});
    EXPECT_EQ(body.find('\n'), std::string::npos);
    const Request request = decode_request(topic_of(command), body).value();
    EXPECT_EQ(request.key, "key");
    EXPECT_EQ(request.reason, "why\n");
    return std::get<T>(request.command);
}

TEST(Commands, ProgramsSurviveTheJourneyWhole) {
    const Program sent = full_program();
    EXPECT_EQ(round_trip(ProgramApply{{sent, program("second", "2.00 USD")}}).programs.front(),
              sent);
}

TEST(Commands, ImportsSurviveTheJourneyWhole) {
    const auto creators =
        round_trip(CreatorImport{{{7, CreatorId("c"), ProgramId("p"), "C\"\xC3\x89"}}});
    EXPECT_EQ(creators.rows.at(0).code, "C\"\xC3\x89");
    EXPECT_EQ(creators.rows.at(0).line, 7U);
    const auto clicks =
        round_trip(ClickImport{{{2, anon_digest("a,b"), CreatorId("c"), ProgramId("p"),
                                 instant("2026-01-01T00:00:00.000000001Z")}}});
    EXPECT_EQ(clicks.rows.at(0).device, anon_digest("a,b"));
    EXPECT_EQ(clicks.rows.at(0).occurred_at, instant("2026-01-01T00:00:00.000000001Z"));
}

TEST(Commands, TheOthersSurviveTheJourneyWhole) {
    EXPECT_EQ(round_trip(CreatorRemove{CreatorId("c"), ProgramId("p"), "K"}).code, "K");
    EXPECT_FALSE(round_trip(CreatorRemove{CreatorId("c"), ProgramId("p"), {}}).code.has_value());
    const auto close = round_trip(PayoutClose{instant("2026-01-01T00:00:00Z"),
                                              {ProgramId("p")},
                                              {CreatorId("c")},
                                              {CreatorId("d")},
                                              true,
                                              "digest"});
    EXPECT_EQ(close.until, instant("2026-01-01T00:00:00Z"));
    EXPECT_EQ(close.programs.at(0), ProgramId("p"));
    EXPECT_EQ(close.excluded.at(0), CreatorId("d"));
    EXPECT_TRUE(close.ignore_minimum);
    EXPECT_EQ(round_trip(Adjust{OrderId("o"), Decimal(-1250, 2)}).amount.to_string(), "-12.50");
    const auto credit = round_trip(
        Credit{CreatorId("c"), ProgramId("p"), *parse_money("12.00 USD"), OrderId("o"), {}});
    EXPECT_EQ(to_string(credit.amount), "12.00 USD");
    EXPECT_FALSE(credit.sale_at.has_value());
    const auto opening = round_trip(
        OpeningImport{instant("2026-01-01T00:00:00Z"),
                      {{2, CreatorId("c"), ProgramId("p"), *parse_money("-12.00 USD")}}});
    EXPECT_EQ(opening.at, instant("2026-01-01T00:00:00Z"));
    EXPECT_EQ(opening.rows.at(0).line, 2U);
    EXPECT_EQ(to_string(opening.rows.at(0).amount), "-12.00 USD");
    const auto off =
        round_trip(WriteOff{CreatorId("c"), ProgramId("p"), parse_money("3.00 EUR"), {}});
    EXPECT_EQ(off.program, ProgramId("p"));
    EXPECT_EQ(to_string(off.amount.value()), "3.00 EUR");
    const auto whole =
        round_trip(WriteOff{CreatorId("c"), ProgramId("p"), {}, Currency::parse("EUR").value()});
    EXPECT_FALSE(whole.amount.has_value());
    EXPECT_EQ(whole.currency->code(), "EUR");
    EXPECT_EQ(round_trip(PayoutMove{PayoutVerb::kFailed, {"P1"}, "ref", {}}).verb,
              PayoutVerb::kFailed);
    EXPECT_EQ(round_trip(Release{{OrderId("o"), {}, {}}, ReleaseOf::kReject}).of,
              ReleaseOf::kReject);
    EXPECT_TRUE(round_trip(Detach{{}, "C1", true}).retry);
    EXPECT_TRUE(round_trip(PeriodClose{instant("2026-02-01T00:00:00Z"), true}).allow_late);
    EXPECT_EQ(round_trip(CreatorRename{CreatorId("a"), CreatorId("b")}).new_name, CreatorId("b"));
    EXPECT_EQ(round_trip(DeadReplay{{{7}, {9}}}).seqs.back().value, 9U);
    const Forget forget = round_trip(Forget{ForgetBy::kEmail, "a@b", sha256("R")});
    EXPECT_EQ(forget.value, "a@b");
    EXPECT_EQ(forget.secret, sha256("R"));
    EXPECT_EQ(
        round_trip(Forget{ForgetBy::kCreator, "ann", {}, Forget::Done{true, "why"}}).done->result,
        "why");
}

TEST(Commands, OtherBodiesAreRefused) {
    for (const char* body : {"", "[]", "{}", R"({"rows":[[1,"c"]]})", R"({"programs":[{}]})"}) {
        for (const Topic topic :
             {Topic::kProgramApply, Topic::kCreatorImport, Topic::kClickImport,
              Topic::kCreatorRemove, Topic::kPayoutClose, Topic::kAdjust, Topic::kDeadReplay,
              Topic::kForget, Topic::kOpeningImport, Topic::kWriteOff}) {
            EXPECT_FALSE(decode_request(topic, body).ok()) << to_string(topic) << body;
        }
    }
}

/// A body that this program writes, with one thing changed in it.
TEST(Commands, ABodyWithOneFieldOfAnotherTypeIsRefused) {
    const std::string good = encode_request({"", "", ProgramApply{{full_program()}}});
    ASSERT_TRUE(decode_request(Topic::kProgramApply, good).ok());
    for (const auto& [from, to] :
         {std::pair{"\"window_days\":7", "\"window_days\":\"7\""},
          std::pair{"\"window_days\":7", "\"window_days\":4294967296"},
          std::pair{"\"base\":\"gross\"", "\"base\":\"both\""},
          std::pair{"\"base\":\"gross\"", "\"base\":7"}, std::pair{"\"12.5%\"", "\"a lot\""},
          std::pair{"\"1.50 EUR\"", "\"x EUR\""}, std::pair{"\"collection\"", "\"default\""},
          std::pair{"\"LANDED\"", "\"SEEN\""},
          std::pair{"\"account_number\":1", "\"account_number\":0"}}) {
        std::string body = good;
        ASSERT_NE(body.find(from), std::string::npos) << from << " in " << body;
        body.replace(body.find(from), std::string_view(from).size(), to);
        EXPECT_FALSE(decode_request(Topic::kProgramApply, body).ok()) << to;
    }
}

TEST(Commands, ARowOfAnotherShapeIsRefused) {
    for (const char* body :
         {R"({"rows":["c"]})", R"({"rows":[[1,"c","p"]]})", R"({"rows":[["1","c","p","k"]]})",
          R"({"rows":[[4294967296,"c","p","k"]]})", R"({"rows":[[1,"c","p",5]]})",
          R"({"rows":[[1,"c","p","k"]]})"}) {
        EXPECT_FALSE(decode_request(Topic::kCreatorImport, body).ok()) << body;
    }
    for (const char* body : {R"({"rows":[[1,"","c","p","2026-01-01T00:00:00Z"]]})",
                             R"({"rows":[[1,"a","c","p","yesterday"]]})"}) {
        EXPECT_FALSE(decode_request(Topic::kClickImport, body).ok()) << body;
    }
    EXPECT_FALSE(decode_request(Topic::kDeadReplay, R"({"seqs":["7"]})").ok());
    EXPECT_FALSE(decode_request(Topic::kForget, R"({"customer":"-"})").ok());
    EXPECT_FALSE(
        decode_request(Topic::kPayoutClose, R"({"until":"2026-01-01T00:00:00Z","program":"p"})")
            .ok());
    EXPECT_FALSE(decode_request(Topic::kOrderCreate, "{}").ok()) << "an order is no command";
}

TEST(Programs, TheirWordsAreReadAndWritten) {
    EXPECT_EQ(to_string(Rate{}), "none");
    for (const char* text : {"", "5", "%", "x%", "1.00001%", "-1%", "5 usd", "x USD", "1.50USD"}) {
        EXPECT_FALSE(parse_rate(text).ok()) << text;
    }
    EXPECT_EQ(parse_rule_match("default"), std::nullopt) << "only a program has it";
    EXPECT_EQ(parse_rule_match("sku"), RuleMatch::kSku);
    EXPECT_EQ(parse_rule_match("sku_pattern"), RuleMatch::kSkuPattern);
    EXPECT_EQ(parse_rule_match("any item"), std::nullopt);
}

TEST(Programs, APatternsStarStandsForAnyCharacters) {
    using Pairs = std::vector<std::pair<const char*, const char*>>;
    for (const auto& [pattern, text] : Pairs{{"MUG-*", "MUG-"},
                                             {"MUG-*", "MUG-1"},
                                             {"*-XL", "A-XL"},
                                             {"A*B*C", "AxBxBC"},
                                             {"*", ""},
                                             {"a**b", "ab"}}) {
        EXPECT_TRUE(fits_pattern(pattern, text)) << pattern << " " << text;
    }
    for (const auto& [pattern, text] : Pairs{{"MUG-*", "MUG"},
                                             {"MUG-*", "mug-1"},
                                             {"*-XL", "A-XLL"},
                                             {"A*B*C", "ACB"},
                                             {"", "a"},
                                             {"a*", "ba"}}) {
        EXPECT_FALSE(fits_pattern(pattern, text)) << pattern << " " << text;
    }
}

TEST(Programs, InvalidFilesNameTheirFault) {
    const auto wrong = [](const std::function<void(Program&)>& spoil) {
        Program spoiled = full_program();
        spoil(spoiled);
        const Status status = validate(spoiled);
        return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(wrong([](Program&) {}), "");
    EXPECT_THAT(wrong([](Program& p) { p.id = ProgramId("a b"); }), HasSubstr("id:"));
    EXPECT_THAT(wrong([](Program& p) { p.account_id = AccountId(""); }), HasSubstr("account:"));
    EXPECT_THAT(wrong([](Program& p) { p.shops = {"a", "a"}; }), HasSubstr("twice"));
    EXPECT_THAT(wrong([](Program& p) { p.shops = {""}; }), HasSubstr("shops:"));
    EXPECT_THAT(wrong([](Program& p) { p.window_days = 36'501; }), HasSubstr("window_days"));
    EXPECT_THAT(wrong([](Program& p) { p.clearing_days = 36'501; }), HasSubstr("clearing_days"));
    EXPECT_THAT(wrong([](Program& p) { p.precedence.clear(); }), HasSubstr("precedence:"));
    EXPECT_THAT(wrong([](Program& p) { p.precedence.push_back(p.precedence[0]); }),
                HasSubstr("LANDED is named twice"));
    EXPECT_THAT(wrong([](Program& p) { p.default_rate = {}; }), HasSubstr("default_rate:"));
    EXPECT_THAT(wrong([](Program& p) { p.rules[1].value.clear(); }), HasSubstr("rule 2: value:"));
    EXPECT_THAT(wrong([](Program& p) { p.rules[0].rate = {}; }), HasSubstr("rule 1: rate:"));
    EXPECT_THAT(wrong([](Program& p) { p.rules[0].match = RuleMatch::kDefault; }),
                HasSubstr("rule 1: match:"));
}

class CommandRules : public RulesTest {};
SLUICE_FOR_EVERY_LEDGER(CommandRules);

TEST_P(CommandRules, AreRecordedWithActorAndResult) {
    books.creator("c2", "spring", "SAVE");
    const auto row = books.read()->command(books.last_seq());
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->actor, "finance");
    EXPECT_EQ(row->outcome, CommandOutcome::kRefused);
    EXPECT_EQ(row->result, "line 2: code SAVE belongs to creator c1 in program spring");
    EXPECT_EQ(books.totals().commands, 3U);
}

TEST_P(CommandRules, ProgramsAreVersionedAndUnchangedOnesAreNot) {
    EXPECT_EQ(books.apply({program()}).text, "no change: the ledger has what the file states");
    EXPECT_EQ(books.apply({program("spring", "20%"), program("autumn")}).text,
              "2 programs applied, 2 changed; program spring: default_rate \"10%\" -> \"20%\"; "
              "program autumn: new");
    const auto reader = books.read();
    EXPECT_EQ(reader->program(ProgramId("spring"))->version, 2U);
    EXPECT_EQ(to_string(reader->program_version(ProgramId("spring"), 1)->program.default_rate),
              "10%");
    EXPECT_EQ(reader->programs({1}).size(), 2U);
}

TEST_P(CommandRules, AProgramFileIsAppliedAsAWholeOrNot) {
    Program theirs = program("spring");
    theirs.account = {2};
    theirs.account_id = AccountId("other");
    EXPECT_EQ(books.apply({program("new"), theirs}).text, "program spring belongs to account acme");
    EXPECT_EQ(books.apply({program("new"), program("new")}).text,
              "program new is in the file twice");
    EXPECT_FALSE(books.read()->program(ProgramId("new")).has_value());
}

TEST_P(CommandRules, ImportsNameTheLineOfAnUnknownProgram) {
    EXPECT_EQ(books.creator("c2", "nowhere").text, "line 2: there is no program nowhere");
    EXPECT_EQ(books.click("dev", "c1", "nowhere", "2026-01-01T00:00:00Z").text,
              "line 2: there is no program nowhere");
}

TEST_P(CommandRules, RemovingAnAbsentRowIsAnError) {
    const auto remove = [&](const char* creator, const char* from,
                            std::optional<std::string> code = {}) {
        return books.command(CreatorRemove{CreatorId(creator), ProgramId(from), std::move(code)})
            .failed;
    };
    EXPECT_TRUE(remove("c1", "nowhere"));
    EXPECT_TRUE(remove("c2", "spring"));
    EXPECT_TRUE(remove("c1", "spring", "OTHER"));
    books.creator("c2", "spring", "TWO");
    EXPECT_TRUE(remove("c2", "spring", "SAVE")) << "it is c1's";
    EXPECT_EQ(books.read()->code_owners({1}, code_digest("SAVE")).size(), 1U);
    EXPECT_FALSE(remove("c1", "spring"));
    EXPECT_TRUE(remove("c1", "spring"));
}

// ---- Dead letters -----------------------------------------------------------------------------

TEST_P(CommandRules, ADamagedRecordIsADeadLetterWithItsReason) {
    const Applied applied = books.input("no record at all");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
    const auto letter = books.read()->dead_letter(books.last_seq());
    ASSERT_TRUE(letter.has_value());
    EXPECT_FALSE(letter->topic.has_value());
    EXPECT_EQ(letter->record, "no record at all");
    EXPECT_EQ(books.totals().dead, 1U);
    EXPECT_EQ(books.read()->head().applied_seq, books.last_seq());
}

std::string record_of(const RecordMeta& meta, const std::string& body) {
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    return std::string(envelope.prefix()) + body;
}

TEST_P(CommandRules, ARecordWithoutAShopIsADeadLetter) {
    for (const auto& [account, shop] : {std::pair{0U, 1U}, std::pair{1U, 0U}}) {
        RecordMeta meta;
        meta.account_number = {account};
        meta.shop_number = {shop};
        meta.account_id = "acme";
        meta.shop_id = "shop-1";
        EXPECT_EQ(books.input(record_of(meta, to_json({}))).text, "the record names no shop");
    }
}

/// Two stores with one ledger must have one registry.
TEST_P(CommandRules, ANumberThatIsAnotherShopsInTheLedgerStopsEverything) {
    books.create({});
    const auto before = books.dump();
    RecordMeta meta;
    meta.account_number = {1};
    meta.shop_number = {1};
    meta.account_id = "acme";
    meta.shop_id = "shop-7";
    const auto refused = [&](const RecordMeta& from) {
        Books other(*ledger, Books::kNode, books.last_seq());
        try {
            other.input(record_of(from, to_json({})));
        } catch (const LedgerFailure& failure) {
            EXPECT_EQ(failure.error().code, ErrorCode::kConflict);
            EXPECT_THAT(failure.error().message, HasSubstr("its registry is not the one"));
            return true;
        }
        return false;
    };
    EXPECT_TRUE(refused(meta)) << "another shop";
    meta.shop_id = "shop-1";
    meta.account_number = {7};
    EXPECT_TRUE(refused(meta)) << "another account";
    EXPECT_EQ(books.dump(), before) << "nothing was applied";
}

TEST_P(CommandRules, ABodyThatIsNoBatchIsADeadLetter) {
    const Applied applied = books.raw(Topic::kProductUpsert, "[]");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
    EXPECT_FALSE(applied.text.empty());
}

TEST_P(CommandRules, ABodyThatBreaksTheRulesIsADeadLetter) {
    const Applied applied = books.raw(Topic::kOrderCreate, R"({"platform_order_id":"o1"})");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
    EXPECT_THAT(applied.text, HasSubstr(":"));
    EXPECT_EQ(books.read()->dead_letter(books.last_seq())->shop_id, "shop-1");
    EXPECT_EQ(books.raw(Topic::kAdjust, "{}").input_class, InputClass::kDead);
}

TEST_P(CommandRules, AMissingBulkBodyIsADeadLetterThatCanBeReplayed) {
    OrderText order;
    order.codes = {"SAVE"};
    const std::string body = to_json(order);
    RecordMeta meta;
    meta.topic = Topic::kOrderCreate;
    meta.account_number = {1};
    meta.shop_number = {1};
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.received_at = instant("2026-02-01T00:00:00Z");
    meta.bulk = BulkRef{"body", body.size(), sha256(body)};
    RecordEnvelope envelope;
    envelope.encode(meta, {});
    EXPECT_EQ(books.input(envelope.prefix(), {}, "its bulk file is gone").text,
              "its bulk file is gone");
    const std::string dead = event_no(0);
    EXPECT_EQ(books.command(DeadReplay{}).text, "0 replayed, 1 still dead");
    EXPECT_EQ(books.read()->dead_letter({std::stoull(dead)})->attempts, 2U);
    EXPECT_EQ(books.input(envelope.prefix(), body).input_class, InputClass::kApplied);
}

TEST_P(CommandRules, AReplayIsNotReplayed) {
    books.raw(Topic::kDeadReplay, "no JSON");
    const SequenceNumber dead = books.last_seq();
    EXPECT_EQ(books.command(DeadReplay{}).text, "0 replayed, 1 still dead");
    EXPECT_EQ(books.read()->dead_letter(dead)->reason, "it is not replayed: run the command again");
    EXPECT_EQ(books.read()->dead_letter(dead)->attempts, 2U);
}

TEST_P(CommandRules, AReplayThatSucceedsCountsByItsNewOutcome) {
    OrderText order;
    order.codes = {"SAVE"};
    books.create(order);
    RecordMeta meta;  // The same event in a record that named no shop.
    meta.topic = Topic::kOrderUpdate;
    meta.received_at = instant("2026-02-01T00:00:00Z");
    RecordEnvelope envelope;
    order.updated = "2026-01-02T00:00:00Z";
    order.lines[0].amount = "50.00";
    const std::string body = to_json(order);
    envelope.encode(meta, body);
    books.input(std::string(envelope.prefix()) + body);
    const SequenceNumber dead = books.last_seq();
    auto txn = ledger->begin("11111111-2222-3333-4444-555555555555");
    DeadLetter letter = *txn->dead_letter(dead);  // Repaired by hand.
    meta.account_number = {1};
    meta.shop_number = {1};
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.shop_id = "shop-1";
    meta.account_id = "acme";
    envelope.encode(meta, body);
    letter.record = std::string(envelope.prefix()) + body;
    txn->put(letter);
    txn->commit();
    EXPECT_EQ(books.command(DeadReplay{{dead}}).text, "1 replayed, 0 still dead");
    EXPECT_EQ(books.commission(), "5.00 USD");
    EXPECT_EQ(books.journal().back(), std::to_string(dead.value) + " o1/l1 -5.00 USD UPDATE");
    EXPECT_EQ(books.totals().dead, 0U);
    EXPECT_EQ(books.totals().applied, 2U);
    EXPECT_TRUE(books.command(DeadReplay{{dead}}).failed);
}

// ---- Forgetting (more in forget_test.cpp) ------------------------------------------------------

constexpr const char* kPersonal =
    R"({"platform_order_id":"o1","email":"jane@example.org","platform_customer_id":"c\u0031",)"
    R"("amount":"1.00","note":"Jane Doe","discounts":[{"code":"K","by":"Jane"}],)"
    R"("line_items":[{"line_item_id":"l1","engraving":"Jane","sku":"S"}],"refund_line_items":null})";

std::string redacted(const char* body) {
    return redact_order(body, Pseudonyms::kRefused, [](const Digest256&) { return Digest256{}; },
                        {});
}

TEST(Redaction, ACustomerNamedTwiceIsBoth) {
    const auto ids = read_ids(R"({"platform_customer_id":"c","platform_customer_id":"d"})",
                              Pseudonyms::kRefused);
    ASSERT_TRUE(ids);
    EXPECT_THAT(ids->customers, ElementsAre(customer_id_digest("c"), customer_id_digest("d")));
    EXPECT_FALSE(read_ids("no JSON", Pseudonyms::kRefused));
    EXPECT_FALSE(read_ids("[]", Pseudonyms::kRefused));
    EXPECT_FALSE(read_ids("{\"email\":", Pseudonyms::kRefused));
}

TEST(Redaction, KeepsOnlyFieldsThatTheLedgerReads) {
    EXPECT_EQ(redacted(kPersonal),
              R"({"platform_order_id":"o1","platform_customer_id":)" + pseudonym_json(Digest256{}) +
                  R"(,"amount":"1.00","discounts":[{"code":"K"}],)" +
                  R"("line_items":[{"line_item_id":"l1","sku":"S"}],"refund_line_items":null})");
    EXPECT_EQ(redacted(R"({"email":"jane@example.org","phone":"1"})"),
              R"({"email":)" + pseudonym_json(Digest256{}) + "}");
    EXPECT_EQ(redacted(R"({"email":null,"platform_customer_id":"","x":1})"), "{}");
}

TEST_P(CommandRules, ForgetTakesPersonalDataOutOfDeadLetters) {
    books.raw(Topic::kOrderCreate, kPersonal);
    const SequenceNumber dead = books.last_seq();
    const std::string before = books.read()->dead_letter(dead)->record;
    EXPECT_THAT(before, HasSubstr("jane@example.org"));
    for (const char* other : {"shop-2", "shop-9"}) {  // of this account, of another one
        books.from_shop(other);
        EXPECT_FALSE(books.forget(ForgetBy::kCustomer, "c1").failed);
        EXPECT_EQ(books.read()->dead_letter(dead)->record, before);
    }
    books.from_shop("shop-1");
    EXPECT_FALSE(books.forget(ForgetBy::kCustomer, "c1").failed);
    const auto letter = books.read()->dead_letter(dead);
    EXPECT_THAT(letter->record, Not(HasSubstr("Jane")));
    EXPECT_THAT(letter->record, Not(HasSubstr("jane")));
    EXPECT_EQ(letter->body_sha256, sha256(kPersonal));
    EXPECT_TRUE(decode_record(letter->record).ok());
}

TEST_P(CommandRules, ARedactedEventIsStillADuplicateOfItself) {
    OrderText order;
    books.create(order);
    const std::string body = to_json(order);
    RecordMeta meta;
    meta.topic = Topic::kOrderCreate;
    meta.account_number = {1};
    meta.shop_number = {1};
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.received_at = instant("2026-02-01T00:00:00Z");
    RecordEnvelope envelope;
    const std::string redacted = body + " ";
    envelope.encode(meta, redacted);
    const std::string record = std::string(envelope.prefix()) + redacted;
    Applier applier;
    auto txn = ledger->begin("11111111-2222-3333-4444-555555555555");
    const Input input{{books.last_seq().value + 1}, record, {}, {}, sha256(body), {}};
    EXPECT_EQ(applier.apply(input, *txn).input_class, InputClass::kDuplicate);
}

}  // namespace
}  // namespace sluice::test
