#include "worker/read/masks.hpp"

#include <gtest/gtest.h>

namespace sluice::serve {
namespace {

using reports::Json;

TEST(Masks, APayeeShowsItsLastFourCharactersFromEightOn) {
    EXPECT_EQ(masked_payee("DE89370400440532013000"), "••••3000");
    EXPECT_EQ(masked_payee("12345678"), "••••5678");
    EXPECT_EQ(masked_payee("1234567"), "••••");
    EXPECT_EQ(masked_payee("ääääöööö"), "••••öööö");
    EXPECT_EQ(masked_payee("ääääööö"), "••••");
    EXPECT_EQ(masked_payee(masked_payee("DE89370400440532013000")), "••••3000");
}

TEST(Masks, PrivateMembersAreFoundWhereverTheyAre) {
    const char* const text = R"({"a":[{"actor":"gina","payee":"DE893704"}],"reason":"r","n":1.50})";
    Json seen = Json::from_text(text);
    mask_members(seen, true);
    EXPECT_EQ(seen.compact(),
              R"({"a":[{"actor":"gina","payee":"••••3704"}],"reason":"r","n":1.50})");
    Json hidden = Json::from_text(text);
    mask_members(hidden, false);
    EXPECT_EQ(hidden.compact(), R"({"a":[{"actor":null,"payee":null}],"reason":null,"n":1.50})");
    Json cell = Json::from_text(R"([{"note":"x"}])");
    mask_cell("holds", cell, false);
    EXPECT_EQ(cell.compact(), R"([{"note":null}])");
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
