// Rule P6: message id = command id, end-to-end id = payout id; the same message is the same bytes.
#include "worker/bank/payment.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

PaymentMessage message() {
    PaymentMessage made;
    made.message_id = "C260131140509-7KQ4M9";
    made.account_id = "acme";
    made.created_at = {1'769'868'309, 500'000'000};  // 2026-01-31T14:05:09.5Z
    made.currency = *Currency::parse("EUR");
    made.debtor = BankAccount{"Acme & Söhne", "DE89370400440532013000", "COBADEFFXXX"};
    made.payments = {
        {"P260131140509-7KQ4M9-0001",
         "ann",
         "ref-1",
         Decimal(1050, 2),
         {"Ann <\"Ltd\">", "GB82WEST12345698765432", ""},
         "P260131140509-7KQ4M9-0001"},
        {"P260131140509-7KQ4M9-0002",
         "ben",
         "ref-2",
         Decimal(600, 2),
         {"Ben", "NO9386011117947", "DNBANOKK"},
         "P260131140509-7KQ4M9-0002"},
    };
    return made;
}

TEST(PaymentFile, Csv) {
    EXPECT_EQ(payment_file(message(), PaymentForm::kCsv, {}),
              "message_id,payout_id,creator_id,payee,name,iban,bic,currency,amount\n"
              "C260131140509-7KQ4M9,P260131140509-7KQ4M9-0001,ann,ref-1,\"Ann <\"\"Ltd\"\">\","
              "GB82WEST12345698765432,,EUR,10.50\n"
              "C260131140509-7KQ4M9,P260131140509-7KQ4M9-0002,ben,ref-2,Ben,NO9386011117947,"
              "DNBANOKK,EUR,6.00\n");
}

TEST(PaymentFile, CsvHasTheColumnsOfTheMapAndOfThePayees) {
    PaymentMessage batch = message();
    batch.more = {"email"};
    batch.payments[0].to.more = {"ann@x.test"};
    batch.payments[1].to.more = {"ben@x.test"};
    const auto paypal = parse_payment_columns("paypal");
    ASSERT_TRUE(paypal.ok() && check_columns(*paypal, batch).ok());
    EXPECT_EQ(payment_file(batch, PaymentForm::kCsv, *paypal),
              "ann@x.test,10.50,EUR,P260131140509-7KQ4M9-0001,P260131140509-7KQ4M9-0001,PayPal\n"
              "ben@x.test,6.00,EUR,P260131140509-7KQ4M9-0002,P260131140509-7KQ4M9-0002,PayPal\n");
    const auto wise = parse_payment_columns("wise");
    ASSERT_TRUE(wise.ok() && check_columns(*wise, batch).ok());
    EXPECT_TRUE(payment_file(batch, PaymentForm::kCsv, *wise)
                    .starts_with("name,recipientEmail,paymentReference,amountCurrency,amount,"
                                 "sourceCurrency,targetCurrency,type\n"));
    const auto own = parse_payment_columns("To=email,amount,Kind='X'");
    ASSERT_TRUE(own.ok() && check_columns(*own, batch).ok());
    EXPECT_EQ(payment_file(batch, PaymentForm::kCsv, *own),
              "To,amount,Kind\nann@x.test,10.50,X\nben@x.test,6.00,X\n");
    EXPECT_FALSE(check_columns(*own, message()).ok()) << "no column email";
    EXPECT_FALSE(parse_payment_columns("=x").ok());
}

TEST(PaymentFile, TheRemittanceTextNamesMonthAndPayout) {
    const Payment payment = message().payments[0];
    const Timestamp until = *Timestamp::parse("2026-02-01T00:00:00Z");
    EXPECT_EQ(remittance_text("Commission {month} {payout}", payment, until).value(),
              "Commission 2026-01 P260131140509-7KQ4M9-0001");
    for (const std::string& wrong : {std::string("{name}"), std::string("{month"), std::string(),
                                     std::string(141, 'x'), std::string("a\x01")}) {
        EXPECT_FALSE(remittance_text(wrong, payment, until).ok()) << wrong;
    }
}

TEST(PaymentFile, PainHasTheExecutionDateAndRequiresIbans) {
    PaymentMessage dated = message();
    dated.execution_date = "2026-02-03";
    EXPECT_NE(pain_file(dated).find("<Dt>2026-02-03</Dt>"), std::string::npos);
    dated.payments[1].to.iban.clear();
    const Status checked = check_pain(dated);
    ASSERT_FALSE(checked.ok());
    EXPECT_NE(checked.error().message.find("ref-2 has no iban"), std::string::npos);
}

TEST(PaymentFile, PainHasTheFieldsThatSepaRequires) {
    const std::string xml = payment_file(message(), PaymentForm::kPain, {});
    EXPECT_TRUE(
        xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\""
                        "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09\">\n"));
    for (const char* part :
         {"<MsgId>C260131140509-7KQ4M9</MsgId>", "<CreDtTm>2026-01-31T14:05:09Z</CreDtTm>",
          "<NbOfTxs>2</NbOfTxs>", "<CtrlSum>16.50</CtrlSum>", "<PmtMtd>TRF</PmtMtd>",
          "<Dt>2026-01-31</Dt>", "<Nm>Acme &amp; Söhne</Nm>", "<BICFI>COBADEFFXXX</BICFI>",
          "<EndToEndId>P260131140509-7KQ4M9-0001</EndToEndId>",
          "<InstdAmt Ccy=\"EUR\">10.50</InstdAmt>", "<Nm>Ann &lt;&quot;Ltd&quot;&gt;</Nm>",
          "<IBAN>GB82WEST12345698765432</IBAN>", "<ChrgBr>SLEV</ChrgBr>"}) {
        EXPECT_NE(xml.find(part), std::string::npos) << part << "\n" << xml;
    }
}

TEST(PaymentFile, PainTakesEurosOnlyAndListsTheOthers) {
    PaymentMessage dollars = message();
    dollars.currency = *Currency::parse("USD");
    const Status checked = check_pain(dollars);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().message,
              "pain.001 takes EUR only; in USD: P260131140509-7KQ4M9-0001, "
              "P260131140509-7KQ4M9-0002");
    EXPECT_TRUE(check_pain(message()).ok());
    PaymentMessage large = message();
    large.payments[1].amount = Decimal(100'000'000'000, 2);
    EXPECT_FALSE(check_pain(large).ok());
}

TEST(PaymentFile, FormsHaveNames) {
    EXPECT_TRUE(parse_payment_form("pain.001").ok());
    EXPECT_FALSE(parse_payment_form("xml").ok());
}

}  // namespace
}  // namespace sluice::cli
