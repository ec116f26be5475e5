// Rule P7: what a bank reports, also in the second version of the messages.
#include "tool/bank/bank_file.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

const std::string kHead =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:x\">\n";

std::string statement(const std::string& entry) {
    return kHead + "<BkToCstmrStmt><GrpHdr><MsgId>M-1</MsgId></GrpHdr>\n<Stmt>" + entry +
           "</Stmt></BkToCstmrStmt></Document>";
}

BankLine only_line(const std::string& text) {
    const auto file = parse_bank_file("f.xml", text);
    EXPECT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->lines.size(), 1U);
    return file.ok() && !file->lines.empty() ? file->lines.front() : BankLine{};
}

std::string message_of(const std::string& text) {
    const auto file = parse_bank_file("f.xml", text);
    return file.ok() ? "" : file.error().message;
}

TEST(BankFile, ReadsTheSecondVersionOfAStatement) {
    const BankLine line = only_line(
        statement("<Ntry><Amt Ccy=\"EUR\">8.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>"
                  "<BookgDt><DtTm>2026-02-04T10:00:00+01:00</DtTm></BookgDt><NtryDtls>\n<TxDtls>"
                  "<Refs><EndToEndId> P1\n</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy=\"EUR\">8.5"
                  "</Amt></TxAmt></AmtDtls><Chrgs><Amt Ccy=\"EUR\">0.5</Amt></Chrgs></TxDtls>"
                  "</NtryDtls></Ntry>"));
    EXPECT_EQ(line.line, 5U);
    EXPECT_EQ(line.event, BankEvent::kSettled);
    EXPECT_EQ(line.end_to_end_id, "P1");
    EXPECT_EQ(to_string(*line.amount), "8.50 EUR");
    ASSERT_EQ(line.fees.size(), 1U);
    EXPECT_EQ(to_string(line.fees.front()), "0.50 EUR");
    EXPECT_EQ(line.booking_date->to_string(), "2026-02-04T09:00:00Z");
}

TEST(BankFile, TakesTheEntryForItsOnlyTransaction) {
    const std::string details = "<TxDtls><Refs><EndToEndId>P1</EndToEndId></Refs></TxDtls>";
    const std::string entry =
        "<Ntry><Amt Ccy=\"JPY\">800</Amt><CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd>"
        "<Sts><Cd>BOOK</Cd></Sts><AcctSvcrRef>B-1</AcctSvcrRef><NtryDtls>";
    const BankLine line = only_line(statement(entry + details + "</NtryDtls></Ntry>"));
    EXPECT_EQ(line.event, BankEvent::kReturned);
    EXPECT_EQ(to_string(*line.amount), "800 JPY");
    EXPECT_EQ(line.bank_ref, "B-1");
    const auto two =
        parse_bank_file("f.xml", statement(entry + details + details + "</NtryDtls></Ntry>"));
    ASSERT_EQ(two->lines.size(), 2U);
    EXPECT_FALSE(two->lines[0].amount.has_value()) << "the sum of a batch is no transaction's";
}

TEST(BankFile, ReadsTextThatIsNestedAsDeeplyAsTheFileIsLong) {
    constexpr std::size_t kDepth = 200'000;
    std::string deep;
    for (std::size_t i = 0; i < kDepth; ++i) {
        deep += "<a>";
    }
    deep += "text";
    for (std::size_t i = 0; i < kDepth; ++i) {
        deep += "</a>";
    }
    const BankLine line = only_line(
        statement("<Ntry><Amt Ccy=\"EUR\">8.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>"
                  "<AddtlNtryInf>" +
                  deep + "</AddtlNtryInf></Ntry>"));
    EXPECT_EQ(line.text, "text");
}

TEST(BankFile, ComparesReferencesOfPostingsAcrossLevels) {
    const PostingRefs batch{"B", ""}, detail{"B", "T"}, single{"T", ""}, other{"C", "T"};
    EXPECT_TRUE(batch.is_same_posting(detail) && detail.is_same_posting(batch));
    EXPECT_TRUE(single.is_same_posting(detail) && detail.is_same_posting(single));
    EXPECT_TRUE(detail.is_same_posting({"B", "U"}));
    EXPECT_FALSE(detail.is_same_posting(other)) << "the entries decide";
    EXPECT_FALSE(batch.is_same_posting(single));
    EXPECT_FALSE(PostingRefs{}.is_same_posting({})) << "no reference is no equal one";
    EXPECT_EQ(detail.to_string(), "B | T");
    EXPECT_TRUE(PostingRefs::parse("B | T").is_same_posting(detail));
    EXPECT_EQ(PostingRefs::parse("B").to_string(), "B");
}

TEST(BankFile, PendingEntriesAreNotFinal) {
    const BankLine line = only_line(statement(
        "<Ntry><Amt Ccy=\"EUR\">8.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>PDNG</Sts></Ntry>"));
    EXPECT_EQ(line.event, BankEvent::kPending);
    EXPECT_EQ(line.note, "status PDNG: the bank has not posted it");
}

TEST(BankFile, RefusesDocumentTypesAndOtherXml) {
    const std::string body = statement("").substr(kHead.size());
    EXPECT_EQ(message_of("\n<!DOCTYPE x [<!ENTITY y \"z\">]>\n<Document>" + body),
              "f.xml:2: a document type (DOCTYPE) is not allowed");
    EXPECT_EQ(message_of(statement("\n&y;")),
              "f.xml:5: an entity of the file's own is not allowed");
    EXPECT_EQ(message_of(statement("<!-- &y; --><![CDATA[&y;]]>&amp;&#65;")), "");
    EXPECT_EQ(message_of(statement("\xFF")), "f.xml:1: expected UTF-8");
    EXPECT_EQ(message_of(statement("\n\x01")), "f.xml:5: expected XML, found a control character");
    EXPECT_EQ(
        message_of("<a/><b/>"),
        "f.xml:1: expected an ISO 20022 file: pain.002, camt.053 or camt.054, found the element a");
    EXPECT_NE(message_of(""), "");
}

}  // namespace
}  // namespace sluice::cli
