// Forgetting people (rules F1, F2): what goes, what stays, and that a rebuild gives the same rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "core/forget/edit.hpp"
#include "core/forget/search.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/protocol/record.hpp"
#include "unit/ledger/rules_fixture.hpp"
#include "unit/row_text.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string tables_text(LedgerReader& reader) {
    std::string text;
    for (const DescribedTable& table : described_tables()) {
        reader.scan_rows(AnyRow(table).view(), {}, [&text](RowView row) {
            text += "\n" + row_text(row);
            return true;
        });
    }
    return text;
}

/// Every row of a ledger, orders with what they know a person by.
std::string everything(Books& books) {
    std::string text = books.dump();
    const auto reader = books.read();
    reader->scan_shops([&](const ShopRow& shop) {
        reader->scan_orders(shop.account, shop.shop, [&text](const OrderState& state) {
            text += "\n" + state.key.order_id.str() +
                    " device=" + (state.device ? to_hex(*state.device) : "") +
                    " customer=" + (state.customer ? to_hex(*state.customer) : "");
            for (const EventTrace& event : state.events) {
                text += " " + to_hex(event.digest);
            }
            return true;
        });
        return true;
    });
    return text + tables_text(*reader) + "\nnext work " + std::to_string(reader->head().next_work);
}

std::string archived_bytes(const Books& books) {
    std::string bytes;
    for (const Kept& kept : books.archive()) {
        bytes += kept.record + kept.bulk_body;
    }
    return bytes;
}

/// Returns the result of a rebuild from the edited archive.
std::string rebuilt(const LedgerKind& kind, const Books& books) {
    const std::unique_ptr<Ledger> ledger = kind.make();
    Books second(*ledger);
    second.rebuild_from(books.archive());
    return everything(second);
}

class ForgetRules : public EmptyBooksTest {
protected:
    void SetUp() override {
        Program spring = program("spring");
        Rule fresh = rule(RuleMatch::kNoItem, "", "20%");
        fresh.customer = CustomerKind::kNew;
        spring.rules = {fresh};
        books.apply({spring});
        books.creators({{2,
                         CreatorId("ann"),
                         ProgramId("spring"),
                         "ANN",
                         {},
                         {},
                         {},
                         "Ann Smith",
                         "DE-payee-77"}});
    }

    OrderText order(const char* id, const char* customer, const char* email = "",
                    const char* phone = "") {
        OrderText text;
        text.id = id;
        text.customer = customer;
        text.email = email;
        text.phone = phone;
        return text;
    }

    void expect_gone(const std::vector<const char*>& values) {
        const std::string archive = archived_bytes(books);
        std::string letters;
        books.read()->scan_dead([&letters](const DeadLetter& letter) {
            letters += letter.record + letter.bulk_body;
            return true;
        });
        for (const char* value : values) {
            EXPECT_THAT(archive, Not(HasSubstr(value)));
            EXPECT_THAT(letters, Not(HasSubstr(value)));
        }
        EXPECT_EQ(books.broken_invariant(), "");
        EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
    }
};

TEST_P(ForgetRules, ByCustomerEveryVersionOfTheOrderIsForgotten) {
    OrderText first = order("o1", "cust-1", "Jane@x.org", "+1 555");
    first.updated = "2026-01-01T00:00:00Z";
    books.update(first, "device-1");
    OrderText later = order("o1", "cust-2", "jane.new@x.org");
    later.updated = "2026-01-02T00:00:00Z";
    books.update(later, "device-2");
    books.create(order("o2", "cust-3", "other@x.org"), "device-2");
    books.click("device-1", "ann", "spring", "2025-12-31T00:00:00Z");
    const Applied applied = books.forget(ForgetBy::kCustomer, "cust-1");
    EXPECT_EQ(applied.text, "forgotten");
    expect_gone(
        {"cust-1", "cust-2", "Jane@x.org", "jane.new@x.org", "+1 555", "device-1", "device-2"});
    EXPECT_THAT(archived_bytes(books), HasSubstr("other@x.org"));  // another person's order
    EXPECT_EQ(books.order("o1").device, books.order("o2").device) << "equal ids stay equal";
    EXPECT_NE(books.order("o1").device, anon_digest("device-2"));
    EXPECT_EQ(books.update(later, "device-2").input_class, InputClass::kDuplicate);
}

TEST_P(ForgetRules, ByEmailWhereTheLedgerKnowsOnlyTheCustomerId) {
    books.create(order("o1", "cust-1", "Jane@x.org"));
    books.create(order("o2", "cust-1"));
    books.create(order("o3", "", "jANE@x.org"));
    const Digest256 before = *books.order("o2").customer;
    books.forget(ForgetBy::kEmail, "jane@X.org");
    expect_gone({"Jane@x.org", "jANE@x.org", "cust-1"});
    EXPECT_EQ(books.order("o1").customer, books.order("o2").customer);
    EXPECT_NE(books.order("o1").customer, before);
    EXPECT_NE(books.order("o1").customer, books.order("o3").customer);
}

TEST_P(ForgetRules, ByPhoneByOrderAndByDevice) {
    books.create(order("o1", "cust-1", "", "+1 555 0100"));
    books.create(order("o2", "", "guest@x.org"));
    books.create(order("o3", ""), "device-3");
    books.click("device-3", "ann", "spring", "2025-12-31T00:00:00Z");
    books.forget(ForgetBy::kPhone, "+1 555 0100");
    expect_gone({"+1 555 0100", "cust-1"});
    books.forget(ForgetBy::kOrder, "o2");
    expect_gone({"guest@x.org"});
    books.forget(ForgetBy::kDevice, "device-3");
    expect_gone({"device-3"});
}

TEST_P(ForgetRules, AForgottenCustomerComesAgainAsANewOne) {
    OrderText text = order("o1", "cust-1");
    text.codes = {"ANN"};
    books.create(text);
    EXPECT_EQ(books.commission("o1"), "20.00 USD");
    books.forget(ForgetBy::kCustomer, "cust-1");
    text.id = "o2";
    text.ordered = "2026-01-02T00:00:00Z";
    books.create(text);
    EXPECT_EQ(books.commission("o2"), "20.00 USD");
    text.id = "o3";
    text.ordered = "2026-01-03T00:00:00Z";
    books.create(text);
    EXPECT_EQ(books.commission("o3"), "10.00 USD");
    EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
}

/// A waiting order is found by a click that was imported of its forgotten device: never again; but
/// what had been matched before stays matched in a rebuild.
TEST_P(ForgetRules, DevicesAreForgottenInClicksAndWaitingOrders) {
    books.create(order("o1", "cust-1"), "device-1");
    books.create(order("o2", ""), "device-2");
    books.click("device-2", "ann", "spring", "2025-12-31T00:00:00Z");
    books.forget(ForgetBy::kDevice, "device-1");
    books.forget(ForgetBy::kDevice, "device-2");
    books.click("device-1", "ann", "spring", "2025-12-31T00:00:00Z");
    EXPECT_EQ(books.creator_of("o1"), "unattributed");
    EXPECT_EQ(books.creator_of("o2"), "ann@spring LANDED");
    EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
}

TEST_P(ForgetRules, OtherShopsKeepTheirCustomersAndOtherAccountsTheirDevices) {
    books.create(order("o1", "cust-1"), "device-1");
    books.from_shop("shop-2");
    books.create(order("o2", "cust-1"), "device-1");
    books.from_shop("shop-9");
    books.create(order("o9", "cust-1"), "device-1");
    books.from_shop("shop-1");
    books.forget(ForgetBy::kCustomer, "cust-1");
    EXPECT_NE(books.order("o1").customer, customer_id_digest("cust-1"));
    const std::optional<Digest256> device = books.order("o1").device;
    books.from_shop("shop-2");
    EXPECT_EQ(books.order("o2").customer, customer_id_digest("cust-1"));
    EXPECT_EQ(books.order("o2").device, device);
    books.from_shop("shop-9");
    EXPECT_EQ(books.order("o9").customer, customer_id_digest("cust-1"));
    EXPECT_EQ(books.order("o9").device, anon_digest("device-1"));
    EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
}

TEST_P(ForgetRules, NumbersOfAPersonsOrdersGoAndOthersStay) {
    const auto named = [&](const char* id, const char* customer, const char* number) {
        OrderText text = order(id, customer);
        text.numbers = {number};
        text.confirmation = std::string("random-") + id;
        return text;
    };
    books.create(named("o1", "cust-1", "#1001"), "device-1");
    books.create(named("o2", "cust-2", "#1002"), "device-1");
    books.create(named("o3", "", "#1003"));
    books.forget(ForgetBy::kCustomer, "cust-1");
    EXPECT_TRUE(books.order("o1").numbers.empty());
    EXPECT_EQ(books.order("o1").confirmation_number, "");
    EXPECT_EQ(books.order("o2").numbers, std::vector<std::string>{"#1002"});
    expect_gone({"cust-1", "1001", "random-o1"});
    books.forget(ForgetBy::kOrder, "o3");
    EXPECT_TRUE(books.order("o3").numbers.empty()) << "an order that names nobody";
    expect_gone({"1003", "random-o3"});
}

TEST_P(ForgetRules, TwiceIsNoHarm) {
    books.create(order("o1", "cust-1"), "device-1");
    books.forget(ForgetBy::kOrder, "o1");
    const Digest256 once = *books.order("o1").customer;
    EXPECT_EQ(books.forget(ForgetBy::kCustomer, "cust-1").text, "forgotten");
    EXPECT_EQ(books.order("o1").customer, once) << "the replaced id is in no order";
    EXPECT_EQ(books.forget(ForgetBy::kOrder, "o1").text, "forgotten");
    EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
}

TEST_P(ForgetRules, DeadLettersAreForgottenAndReplayed) {
    const std::string body =
        R"({"platform_order_id":"o1","platform_customer_id":"cust-1","note":"Jane Doe"})";
    books.raw(Topic::kOrderCreate, body, "device-1");
    ASSERT_EQ(books.totals().dead, 1U);
    books.forget(ForgetBy::kCustomer, "cust-1");
    expect_gone({"cust-1", "Jane Doe", "device-1"});
    EXPECT_EQ(books.command(DeadReplay{}).text, "0 replayed, 1 still dead");
    EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
}

/// F1, K2: a name goes, and a payee, but not before payouts are over. Their digests prove the
/// payee.
TEST_P(ForgetRules, NotesOfAPlatformsOrderStayAndNothingElseOfItsSource) {
    books.source = SourceText{};
    books.raw(Topic::kOrderUpdate,
              R"({"platform_order_id":"o1","platform_customer_id":"cust-1",)"
              R"("platform_ordered_at":"2026-01-01T00:00:00Z",)"
              R"("platform_updated_at":"2026-01-01T00:00:00Z","amount":"10","tax":"0",)"
              R"("shipping":"0","currency_code":"USD","line_items":[{"line_item_id":"l1",)"
              R"("sku":"S","amount":"10","tax":"0","quantity":"1"}],"source":{"platform":)"
              R"("shopify","notes":["TOTALS_DIFFER","of Jane"],"seen":{"code":"JANE10"}}})");
    EXPECT_FALSE(books.forget(ForgetBy::kCustomer, "cust-1").failed);
    expect_gone({"cust-1", "JANE10", "of Jane"});
    EXPECT_THAT(archived_bytes(books), HasSubstr("TOTALS_DIFFER"));
}

TEST_P(ForgetRules, ByEmailAGuestOfAPlatformsShopIsForgotten) {
    books.source = SourceText{};
    const std::string guest = mail_id("Jane@x.org");
    books.create(order("o1", guest.c_str()));
    books.create(order("o2", mail_id("john@x.org").c_str()));
    EXPECT_FALSE(books.forget(ForgetBy::kEmail, "jane@x.org").failed);
    expect_gone({guest.c_str()});
    EXPECT_EQ(books.order("o2").customer, customer_id_digest(mail_id("john@x.org")));
}

TEST_P(ForgetRules, ARequestAboutThePersonKeepsOnlyTheOrders) {
    books.source = SourceText{};
    books.create(order("o1", "cust-1"));
    for (const char* body :
         {R"({"topic":"customers/redact","platform_customer_id":"cust-1","platform_order_ids":[]})",
          R"({"topic":"customers/redact","mail_id":"mail:ab","platform_order_ids":["o1"]})",
          R"({"topic":"customers/redact","mail_id":"mail:cd","platform_order_ids":["o2"]})"}) {
        books.raw(Topic::kPrivacyRequest, body);
    }
    EXPECT_FALSE(books.forget(ForgetBy::kCustomer, "cust-1").failed);
    expect_gone({"cust-1", "mail:ab"});
    EXPECT_THAT(archived_bytes(books), HasSubstr("mail:cd"));
    EXPECT_THAT(archived_bytes(books), HasSubstr(R"("platform_order_ids":["o1"])"));
}

TEST_P(ForgetRules, ACreatorsNameAndPayeeAreForgottenAndPayoutsStay) {
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = {1};
    policy.require_payee = true;
    books.command(ProgramApply{{}, {policy}});
    OrderText text = order("o1", "");
    text.codes = {"ANN"};
    books.create(text);
    books.names_shop = false;
    books.command(CreatorSet{CreatorId("ann"), "Ann B. Smith", "DE-payee-78", {}, {}});
    books.command(CreatorRename{CreatorId("ann"), CreatorId("anna")});
    books.close_account("2026-02-01T00:00:00Z");
    ASSERT_EQ(books.payouts().size(), 1U);
    Payout stored;
    books.read()->scan_payouts([&stored](const Payout& row) {
        stored = row;
        return true;
    });
    const std::string payout = stored.payout_id;
    EXPECT_EQ(stored.payee, "DE-payee-78");
    const Applied refused = books.forget(ForgetBy::kCreator, "anna");
    EXPECT_TRUE(refused.failed);
    EXPECT_NE(refused.text.find(payout + " (APPROVED)"), std::string::npos) << refused.text;
    books.command(PayoutMove{PayoutVerb::kSettle, {payout}, {}, {}});
    EXPECT_EQ(books.forget(ForgetBy::kCreator, "anna").text, "forgotten");
    expect_gone({"Ann Smith", "Ann B. Smith", "DE-payee-77", "DE-payee-78"});
    CreatorRow profile{{1}, CreatorId("ann"), {}, {}, {}};
    ASSERT_TRUE(books.read()->load(profile));
    EXPECT_EQ(profile.name + profile.payee, "");
    EXPECT_TRUE(books.forget(ForgetBy::kCreator, "nobody").failed);
}

TEST_P(ForgetRules, AKeyOfAnEditedImportIsStillKnown) {
    books.key = "k1";
    books.click("device-1", "ann", "spring", "2025-12-31T00:00:00Z");
    books.key = "";
    books.forget(ForgetBy::kDevice, "device-1");
    expect_gone({"device-1"});
    books.key = "k1";
    EXPECT_EQ(books.click("device-1", "ann", "spring", "2025-12-31T00:00:00Z").outcome,
              CommandOutcome::kRepeated);
}

TEST_P(ForgetRules, NoSenderCanStateAPseudonym) {
    const std::string hex = to_hex(sha256("any text"));
    OrderText text = order("o1", "CUSTOMER");
    std::string body = to_json(text);
    body.replace(body.find("\"CUSTOMER\""), 10, R"({"pseudonym":")" + hex + "\"}");
    EXPECT_EQ(books.raw(Topic::kOrderCreate, body).input_class, InputClass::kDead);
    EXPECT_EQ(books
                  .raw(Topic::kClickImport, R"({"rows":[[2,{"pseudonym":")" + hex +
                                                R"("},"ann","spring","2026-01-01T00:00:00Z"]]})")
                  .input_class,
              InputClass::kDead);
    // A device that looks like one is a device.
    books.create(order("o2", ""), pseudonym_json(sha256("any text")));
    EXPECT_EQ(books.order("o2").device, anon_digest(pseudonym_json(sha256("any text"))));
    books.forget(ForgetBy::kOrder, "o2");
    EXPECT_EQ(rebuilt(GetParam(), books), everything(books));
}

TEST_P(ForgetRules, AForgetWithoutASecretIsADeadLetter) {
    const Applied applied = books.raw(Topic::kForget, R"({"by":"customer","value":"cust-1"})");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
}

TEST_P(ForgetRules, ATaskIsWipedOnceEveryNodeHasDoneItsPart) {
    Books edge(*ledger, "22222222-2222-3333-4444-555555555555");
    edge.create(order("e1", "cust-1", "edge@x.org"), "device-e");
    books.create(order("o1", "", "edge@x.org"));
    const ForgetWhom whom = forget_subject({ForgetBy::kEmail, "edge@x.org"}, {1}, {1});
    ForgetJob job{
        "C1", whom, sha256("R"), instant("2026-03-01T00:00:00Z"), std::string(Books::kNode),
        {99}, {}};
    {
        const auto txn = ledger->begin(Books::kNode);
        txn->put(encode_task(job));
        txn->commit();
    }
    const auto part = [&](std::string_view node, const ForgetFound& found) {
        const auto txn = ledger->begin(node);
        const std::optional<ForgetJob> grown = forget_more("C1", found, false, *txn);
        EXPECT_TRUE(note_forgotten("C1", grown->found, {std::string(node)}, *txn));
        txn->commit();
    };
    part(Books::kNode, {{OrderId("o1")}, {email_digest("edge@x.org")}, {}});
    EXPECT_TRUE(load_task(*books.read(), "C1"));
    part("22222222-2222-3333-4444-555555555555",
         {{OrderId("e1")}, {customer_id_digest("cust-1")}, {anon_digest("device-e")}});
    EXPECT_TRUE(load_task(*books.read(), "C1")) << "it grew: the first node has to look again";
    EXPECT_NE(books.order("e1").customer, customer_id_digest("cust-1"));
    EXPECT_NE(books.order("e1").device, anon_digest("device-e"));
    EXPECT_NE(books.order("o1").customer, email_digest("edge@x.org"));
    part(Books::kNode, {});
    EXPECT_FALSE(load_task(*books.read(), "C1"));
    ForgetDone done{"C1", std::string(Books::kNode)};
    EXPECT_FALSE(books.read()->load(done));
}

/// Whatever is forgotten when, the archive holds nothing of it and gives the same ledger.
TEST_P(ForgetRules, ARebuildFromTheEditedArchiveGivesTheSameRows) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 chance(seed);
    const auto one_of = [&chance](const char* prefix, unsigned n) {
        return std::string(prefix) + std::to_string(chance() % n);
    };
    const unsigned steps_count = GetParam().is_on_a_server() ? 20 : 80;
    for (unsigned i = 0; i < steps_count; ++i) {
        books.from_shop(chance() % 4 == 0 ? "shop-2" : "shop-1");
        OrderText text =
            order(one_of("o", 8).c_str(), chance() % 3 == 0 ? "" : one_of("cust-", 4).c_str(),
                  chance() % 2 == 0 ? "" : one_of("mail-", 4).c_str(),
                  chance() % 2 == 0 ? "" : one_of("phone-", 4).c_str());
        text.updated = "2026-01-02T00:00:" + std::to_string(10 + chance() % 49) + "Z";
        if (chance() % 3 == 0) {
            text.codes = {"ANN"};
        }
        switch (chance() % 9) {
            case 0:
                books.click(one_of("device-", 5), "ann", "spring", "2025-12-31T00:00:00Z");
                break;
            case 1:
                books.forget(ForgetBy::kCustomer, one_of("cust-", 4));
                break;
            case 2:
                books.forget(ForgetBy::kEmail, one_of("mail-", 4));
                break;
            case 3:
                books.forget(static_cast<ForgetBy>(3 + chance() % 3),
                             std::vector{one_of("phone-", 4), one_of("o", 8),
                                         one_of("device-", 5)}[chance() % 3]);
                break;
            default:
                books.update(text, chance() % 3 == 0 ? "" : one_of("device-", 5));
        }
        ASSERT_EQ(rebuilt(GetParam(), books), everything(books)) << "after input " << i;
    }
    EXPECT_EQ(books.broken_invariant(), "");
}

SLUICE_FOR_EVERY_LEDGER(ForgetRules);

}  // namespace
}  // namespace sluice::test
