#include "tool/bank/payees.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sluice::cli {
namespace {

/// A file that is gone with the test.
class TempFile {
public:
    explicit TempFile(const std::string& text)
        : path_(std::filesystem::temp_directory_path() /
                ("payees-" + std::to_string(::getpid()) + ".csv")) {
        std::ofstream(path_) << text;
    }
    ~TempFile() { std::filesystem::remove(path_); }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

TEST(Payees, AnIbanHasTheRemainderOneAndCheckDigitsThatIso13616Computes) {
    for (const char* right : {"DE89370400440532013000", "GB82WEST12345698765432", "NO9386011117947",
                              "MT84MALT011000012345MTLCAST001S", "DE02370400441000000087"}) {
        EXPECT_TRUE(is_iban(right)) << right;
    }
    for (const char* wrong :
         {"", "DE89370400440532013001", "DE98370400440532013000", "de89370400440532013000",
          "DE89 3704 0044 0532 0130 00", "DE8937040044", "8989370400440532013000",
          "DE99370400441000000087"}) {  // DE02... spelled a second time
        EXPECT_FALSE(is_iban(wrong)) << wrong;
    }
}

TEST(Payees, ABicHasEightOrElevenCharacters) {
    EXPECT_TRUE(is_bic("COBADEFF"));
    EXPECT_TRUE(is_bic("COBADEFFXXX"));
    for (const char* wrong : {"", "COBADEF", "COBADEFFXX", "cobadeff", "COBA1EFF"}) {
        EXPECT_FALSE(is_bic(wrong)) << wrong;
    }
}

TEST(Payees, RowsAreReadByColumnAndSpacesOfAnIbanAreDropped) {
    const TempFile file("payee,iban,name\nref-1,DE89 3704 0044 0532 0130 00,\"Ann, Ltd\"\n");
    const auto payees = read_payees(file.path());
    ASSERT_TRUE(payees.ok()) << payees.error().message;
    const BankAccount& account = payees->by_reference.find("ref-1")->second;
    EXPECT_EQ(account.name, "Ann, Ltd");
    EXPECT_EQ(account.iban, "DE89370400440532013000");
    EXPECT_EQ(account.bic, "");
}

TEST(Payees, ARefusalNamesFileLineAndColumn) {
    const std::string header = "payee,name,iban,bic\n";
    const std::string good = "r,Ann,DE89370400440532013000,\n";
    for (const auto& [row, wanted] : {
             std::pair(std::string("r,Ann,DE00,\n"), ":2: iban: expected an IBAN"),
             std::pair(std::string("r,,DE89370400440532013000,\n"), ":2: name: expected 1 to 70"),
             std::pair("r," + std::string(71, 'x') + ",DE89370400440532013000,\n", ":2: name: "),
             std::pair(std::string("r,A\x01 B,DE89370400440532013000,\n"), ":2: name: "),
             std::pair(std::string("r,A\xff,DE89370400440532013000,\n"), ":2: name: "),
             std::pair(std::string("r,Ann,DE89370400440532013000,X\n"), ":2: bic: expected 8"),
             std::pair(std::string(",Ann,DE89370400440532013000,\n"), ":2: payee: expected"),
             std::pair(good + good, ":3: payee: expected each once"),
         }) {
        const TempFile file(header + row);
        const auto payees = read_payees(file.path());
        ASSERT_FALSE(payees.ok()) << row;
        EXPECT_EQ(payees.error().message.find(file.path() + wanted), 0U) << payees.error().message;
    }
}

TEST(Payees, SeventyCharactersAreCountedNotBytes) {
    std::string name;
    for (int i = 0; i < 70; ++i) {
        name += "\xc3\xa4";
    }
    const TempFile file("payee,name,iban\nr," + name + ",DE89370400440532013000\n");
    EXPECT_TRUE(read_payees(file.path()).ok());
}

TEST(Payees, AnIbanIsOptionalAndOtherColumnsAreKept) {
    const TempFile file("email,payee,name\nann@x.test,ref-1,Ann\n");
    const auto payees = read_payees(file.path());
    ASSERT_TRUE(payees.ok()) << payees.error().message;
    EXPECT_EQ(payees->columns, std::vector<std::string>{"email"});
    EXPECT_EQ(payees->by_reference.find("ref-1")->second.more,
              std::vector<std::string>{"ann@x.test"});
    for (const char* taken : {"amount", "currency", "", "x,x"}) {
        const TempFile wrong(std::string("payee,name,") + taken + "\nr,Ann,1,2\n");
        EXPECT_FALSE(read_payees(wrong.path()).ok()) << taken;
    }
}

TEST(Payees, DebtorsAreOneRowForEachCurrency) {
    const TempFile one("name,iban,bic\nAcme GmbH,DE89370400440532013000,COBADEFFXXX\n");
    const auto any = read_debtors(one.path());
    ASSERT_TRUE(any.ok()) << any.error().message;
    EXPECT_EQ(debtor_in(*any, "EUR")->bic, "COBADEFFXXX");
    const TempFile two(
        "name,iban,currency\nAcme,DE89370400440532013000,EUR\nAcme "
        "US,GB82WEST12345698765432,USD\n");
    const auto both = read_debtors(two.path());
    ASSERT_TRUE(both.ok()) << both.error().message;
    EXPECT_EQ(debtor_in(*both, "USD")->name, "Acme US");
    EXPECT_EQ(debtor_in(*both, "JPY"), nullptr);
    for (const char* rows : {"", "A,,\n", "A,DE89370400440532013000,XYZ\n",
                             "A,DE89370400440532013000,\nB,DE89370400440532013000,\n"}) {
        const TempFile wrong(std::string("name,iban,currency\n") + rows);
        EXPECT_FALSE(read_debtors(wrong.path()).ok()) << rows;
    }
}

}  // namespace
}  // namespace sluice::cli
