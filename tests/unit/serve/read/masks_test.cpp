#include "serve/read/masks.hpp"

#include <gtest/gtest.h>

#include <set>

#include "serve/read/resource.hpp"

namespace sluice::serve {
namespace {

TEST(Masks, APayeeShowsItsLastFourCharactersFromEightOn) {
    EXPECT_EQ(masked_payee("DE89370400440532013000"), "••••3000");
    EXPECT_EQ(masked_payee("12345678"), "••••5678");
    EXPECT_EQ(masked_payee("1234567"), "••••");
    EXPECT_EQ(masked_payee("ääääöööö"), "••••öööö");
    EXPECT_EQ(masked_payee("ääääööö"), "••••");
    EXPECT_EQ(masked_payee(masked_payee("DE89370400440532013000")), "••••3000");
}

Json masked(std::string_view path, bool sees_ledger, std::string_view text) {
    Json value = Json::from_text(text);
    Masks(sees_ledger).mask_members(value, find_resource(path)->columns);
    return value;
}

TEST(Masks, AManagerSeesEverythingWithPayeesMasked) {
    const char* const text = R"({"a":[{"actor":"gina","payee":"DE893704"}],"reason":"r","n":1.50})";
    EXPECT_EQ(masked("journal", true, text).compact(),
              R"({"a":[{"actor":"gina","payee":"••••3704"}],"reason":"r","n":1.50})");
}

TEST(Masks, AViewerSeesTheMembersThatTheResourceNames) {
    EXPECT_EQ(masked("holds", false,
                     R"({"shop_id":"s","actor":"gina","reason":"as agreed","added":{"later":1}})")
                  .compact(),
              R"({"shop_id":"s","actor":null,"reason":null,"added":null})");
    EXPECT_EQ(masked("order", false,
                     R"({"journal":[{"reason":"ACCRUAL","note":"x","actor":"gina"}],"reason":"x"})")
                  .compact(),
              R"({"journal":[{"reason":"ACCRUAL","note":null,"actor":null}],"reason":null})");
    EXPECT_EQ(
        masked("program", false, R"({"policy":{"max_rate":"50%","approvers":["gina"]}})").compact(),
        R"({"policy":{"max_rate":"50%","approvers":null}})");
    EXPECT_EQ(
        masked("creator", false, R"({"holds":[{"program_id":"p","actor":"gina"}]})").compact(),
        R"({"holds":[{"program_id":"p","actor":null}]})");
}

TEST(Masks, AResourceThatNeedsReadLedgerShowsOthersNothing) {
    EXPECT_EQ(masked("payouts", false, R"({"payout_id":"P1"})").compact(), R"({"payout_id":null})");
}

/// A column that is neither shown nor listed here was added without a decision.
TEST(Masks, EveryColumnThatAViewerMayAskForIsDecided) {
    const std::set<std::string> hidden{"anomalies.acknowledged_by",
                                       "holds.actor",
                                       "holds.reason",
                                       "clicks.currency",
                                       "clicks.earned",
                                       "clicks.adjusted",
                                       "link.amounts",
                                       "creators.earned",
                                       "creators.payee",
                                       "creators.payee_since",
                                       "creator.payee",
                                       "creator.payee_since",
                                       "creator.payouts",
                                       "creator.next_closes",
                                       "creator.clearing",
                                       "creator.payee_changes",
                                       "creator.balances",
                                       "creator.months",
                                       "today.currency",
                                       "today.currencies",
                                       "today.payable",
                                       "today.pending",
                                       "today.blocked",
                                       "today.in_payout",
                                       "today.next_close",
                                       "today.days",
                                       "today.clearing",
                                       "today.creators"};
    std::set<std::string> found;
    for (const Resource& resource : resources()) {
        if ((resource.scope & kReadLedger) != 0 || resource.path == "products") {
            continue;  // products are rows of the catalog, which has nothing private
        }
        for (const lists::Column& column : resource.columns) {
            if (column.scope != lists::Scope::kEveryone) {
                found.insert(std::string(resource.path) + "." + std::string(column.name));
            }
        }
    }
    EXPECT_EQ(found, hidden);
}

TEST(Masks, AnApprovalShowsNoPayeeInItsDifferencesOrImportedRows) {
    Json shown = Json::from_text(
        R"({"command":"creator import","fields":{"rows":[[2,"ann","p","","",null,null,null,)"
        R"("DE89370400440532013000"],[3,"bob","p","","",null,null,null,null]]},"differences":[)"
        R"({"field":"creator ann.payee","before":null,"after":"DE89370400440532013000"},)"
        R"({"field":"policy.require_payee","before":"false","after":"true"}]})");
    mask_approval(shown);
    EXPECT_EQ(shown.compact(),
              R"({"command":"creator import","fields":{"rows":[[2,"ann","p","","",null,null,null,)"
              R"("••••3000"],[3,"bob","p","","",null,null,null,null]]},"differences":[)"
              R"({"field":"creator ann.payee","before":null,"after":"••••3000"},)"
              R"({"field":"policy.require_payee","before":"false","after":"true"}]})");
}

}  // namespace
}  // namespace sluice::serve
