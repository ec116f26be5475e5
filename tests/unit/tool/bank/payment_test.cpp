// Rule P6: message id = command id, end-to-end id = payout id; the same message is the same bytes.
#include "tool/bank/payment.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "tool/bank/bank_text.hpp"

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
                    .starts_with("name,recipientEmail,paymentReference,receiverType,amountCurrency,"
                                 "amount,sourceCurrency,targetCurrency,type\n"
                                 "\"Ann <\"\"Ltd\"\">\",ann@x.test,P260131140509-7KQ4M9-0001,"
                                 "PERSON,target,10.50,EUR,EUR,EMAIL\n"));
    batch.more = {"email", "receiverType"};
    batch.payments[0].to.more = {"ann@x.test", "INSTITUTION"};
    batch.payments[1].to.more = {"ben@x.test", "PERSON"};
    EXPECT_NE(payment_file(batch, PaymentForm::kCsv, *wise).find(",INSTITUTION,"),
              std::string::npos);
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

TEST(PaymentFile, ReferencesKeepToTheLimitOfWiseInTheCurrency) {
    const auto wise = parse_payment_columns("wise");
    PaymentMessage batch = message();
    batch.more = {"email"};
    batch.payments.resize(1);
    batch.payments[0].to.more = {"ann@x.test"};
    for (const auto& [currency, pattern, fits] : {std::tuple("EUR", "{payout}", true),
                                                  {"USD", "{payout}", false},
                                                  {"USD", "{short}", true},
                                                  {"GBP", "{payout}", false},
                                                  {"CZK", "{payout}", true},
                                                  {"JPY", "{payout}", true},
                                                  {"SEK", "{month} {short}", false}}) {
        batch.currency = *Currency::parse(currency);
        batch.payments[0].remittance =
            remittance_text(pattern, batch.payments[0], *Timestamp::parse("2026-02-01T00:00:00Z"))
                .value();
        EXPECT_EQ(check_columns(*wise, batch).ok(), fits) << currency << pattern;
        EXPECT_TRUE(check_columns({}, batch).ok()) << "another reader has no such limit";
    }
    EXPECT_EQ(default_remittance(*wise, *Currency::parse("USD")), "{short}");
    EXPECT_EQ(default_remittance(*wise, *Currency::parse("EUR")), "{payout}");
    EXPECT_EQ(default_remittance({}, *Currency::parse("USD")), "{payout}");
}

TEST(PaymentFile, PainHasTheExecutionDateAndRequiresIbans) {
    PaymentMessage dated = message();
    dated.execution_date = "2026-02-03";
    EXPECT_NE(pain_file(dated).find("<Dt>2026-02-03</Dt>"), std::string::npos);
    dated.payments[1].to.iban.clear();
    const Status checked = prepare_pain(dated);
    ASSERT_FALSE(checked.ok());
    EXPECT_NE(checked.error().message.find("ref-2 has no iban"), std::string::npos);
}

TEST(PaymentFile, PainHasTheFieldsThatSepaRequires) {
    PaymentMessage batch = message();
    ASSERT_TRUE(prepare_pain(batch).ok());
    const std::string xml = payment_file(batch, PaymentForm::kPain, {});
    EXPECT_TRUE(
        xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\""
                        "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09\">\n"));
    for (const char* part :
         {"<MsgId>C260131140509-7KQ4M9</MsgId>", "<CreDtTm>2026-01-31T14:05:09Z</CreDtTm>",
          "<NbOfTxs>2</NbOfTxs>", "<CtrlSum>16.50</CtrlSum>", "<PmtMtd>TRF</PmtMtd>",
          "<Dt>2026-01-31</Dt>", "<Nm>Acme + Sohne</Nm>", "<BICFI>COBADEFFXXX</BICFI>",
          "<EndToEndId>P260131140509-7KQ4M9-0001</EndToEndId>",
          "<InstdAmt Ccy=\"EUR\">10.50</InstdAmt>", "<Nm>Ann ..Ltd..</Nm>",
          "<IBAN>GB82WEST12345698765432</IBAN>", "<ChrgBr>SLEV</ChrgBr>"}) {
        EXPECT_NE(xml.find(part), std::string::npos) << part << "\n" << xml;
    }
}

TEST(PaymentFile, PainOfAnotherCurrencySharesTheChargesAndNamesNoScheme) {
    PaymentMessage yen = message();
    yen.currency = *Currency::parse("JPY");
    yen.payments.resize(1);
    yen.payments[0].amount = Decimal(100'000'000'000, 0);
    ASSERT_TRUE(prepare_pain(yen).ok()) << "the limit is one of SEPA";
    const std::string xml = pain_file(yen);
    EXPECT_NE(xml.find("<InstdAmt Ccy=\"JPY\">100000000000</InstdAmt>"), std::string::npos);
    EXPECT_NE(xml.find("<ChrgBr>SHAR</ChrgBr>"), std::string::npos);
    EXPECT_EQ(xml.find("SvcLvl"), std::string::npos);
    PaymentMessage large = message();
    large.payments[1].amount = Decimal(100'000'000'000, 2);
    EXPECT_FALSE(prepare_pain(large).ok());
}

TEST(PaymentFile, PainStatesTheBookingOfTheBatchOnlyIfItIsChosen) {
    PaymentMessage batch = message();
    EXPECT_EQ(pain_file(batch).find("BtchBookg"), std::string::npos);
    batch.batch_booking = false;
    EXPECT_NE(pain_file(batch).find("<PmtMtd>TRF</PmtMtd>\n      <BtchBookg>false</BtchBookg>\n"),
              std::string::npos);
}

TEST(PaymentFile, PainHasAnAddressWithTownAndCountry) {
    PaymentMessage batch = message();
    batch.payments[0].to.address = {"Hauptstraße", "1a", "10115", "Köln", "DE"};
    ASSERT_TRUE(prepare_pain(batch).ok());
    EXPECT_NE(pain_file(batch).find("<PstlAdr>\n            <StrtNm>Hauptstrase</StrtNm>\n"
                                    "            <BldgNb>1a</BldgNb>\n"
                                    "            <PstCd>10115</PstCd>\n"
                                    "            <TwnNm>Koln</TwnNm>\n"
                                    "            <Ctry>DE</Ctry>\n          </PstlAdr>"),
              std::string::npos)
        << pain_file(batch);
    for (const PostalAddress& wrong : {PostalAddress{"Street", "1", "10115", "", "DE"},
                                       {"", "", "", "Berlin", ""},
                                       {"", "", "", "Berlin", "Germany"}}) {
        PaymentMessage one = message();
        one.debtor->address = wrong;
        const Status checked = prepare_pain(one);
        ASSERT_FALSE(checked.ok());
        EXPECT_EQ(checked.error().message,
                  "debtor: expected an address with a town and a country such as DE");
    }
}

TEST(PaymentFile, PainHasTheCharactersThatBanksTake) {
    for (const auto& [name, form] :
         {std::pair("Łódź Müller", "Lodz Muller"),
          {"Ann_B & \"C\" <d>", "Ann-B + .C. .d."},
          {"Ψυχή Θεός", "PSychi THeos"},
          {"Nguyễn Thị Ơn", "Nguyen Thi On"},
          {"Mu\u0308ller \u2013 O\u2019Neill\u2026", "Muller - O'Neill..."},
          {"Đorđe Ștefan Þór 5 €", "Dorde Stefan THor 5 E"}}) {
        EXPECT_EQ(bank_text(name).value(), form);
    }
    PaymentMessage batch = message();
    batch.payments[0].to.name = "ЮРИЙ Müller";
    batch.payments[1].to.name = "Ben 😀";
    const Status checked = prepare_pain(batch);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().message,
              "payee ref-1: name has 'Ю' (U+042E), which banks refuse; write it in Latin letters, "
              "and 1 more of the payments; nothing was sent");
    batch = message();
    batch.payments[1].to.name = std::string(68, 'x') + "θθ";
    EXPECT_FALSE(prepare_pain(batch).ok()) << "72 characters for the bank";
    batch = message();
    batch.payments[1].remittance = "\U0001F600";
    EXPECT_NE(prepare_pain(batch).error().message.find("-0002: --remittance has"),
              std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
