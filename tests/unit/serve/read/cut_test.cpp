// An answer that is too large shows what fits, says what it left out, and leads to the rest.
#include "serve/read/cut.hpp"

#include <gtest/gtest.h>

#include "core/json/value.hpp"

namespace sluice::serve {
namespace {

std::string numbers(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ",") + std::string("{\"number\":\"") + std::to_string(i) + "\"}";
    }
    return "[" + text + "]";
}

std::string plain_key(const std::string& key) {
    return key;
}

Json fitted(const std::string& json, std::size_t bytes, const std::optional<CutPlace>& after = {}) {
    Json object = Json::from_text(json);
    const auto text = fit_object(object, bytes, after, plain_key);
    EXPECT_TRUE(text);
    EXPECT_LE(text.value_or("").size(), bytes + 1024);
    EXPECT_EQ(text.value_or(""), object.compact());
    return object;
}

TEST(Cut, AnObjectThatFitsIsLeftAsItIs) {
    const std::string json = "{\"lines\":" + numbers(3) + "}";
    Json object = Json::from_text(json);
    EXPECT_EQ(fit_object(object, 1000, std::nullopt, plain_key), json);
}

TEST(Cut, EveryItemIsReadOnceByFollowingTheCursors) {
    const std::string json = "{\"id\":\"o1\",\"lines\":" + numbers(1000) +
                             ",\"events\":" + numbers(3) +
                             ",\"attribution\":{\"candidates\":" + numbers(2) + "}}";
    Json page = fitted(json, 4096);
    EXPECT_EQ(page["events"].items().size(), 3U);
    EXPECT_EQ(page["attribution"]["candidates"].items().size(), 2U);
    std::size_t read = 0;
    for (;;) {
        for (Json& line : page["lines"].items()) {
            EXPECT_EQ(line["number"].cell(), std::to_string(read++));
        }
        if (page["cut"].is_null()) {
            break;
        }
        ASSERT_EQ(page["cut"].items().size(), 1U);
        Json mark = page["cut"].items().front();
        EXPECT_EQ(mark["member"].cell(), "lines");
        EXPECT_EQ(mark["total"].cell(), "1000");
        const auto place = cut_place(mark["next"].cell());
        ASSERT_TRUE(place);
        EXPECT_EQ(place->from, read);
        page = fitted(json, 4096, place);
        EXPECT_EQ(page["id"].cell(), "o1");
        EXPECT_TRUE(page["events"].is_null());
        EXPECT_TRUE(page["attribution"]["candidates"].is_null());
    }
    EXPECT_EQ(read, 1000U);
}

TEST(Cut, AListWithinAnItemThatDoesNotFitIsCutAsWell) {
    const std::string json = "{\"payouts\":[{\"id\":\"p0\",\"items\":" + numbers(500) +
                             "},{\"id\":\"p1\",\"items\":" + numbers(500) + "}]}";
    Json page = fitted(json, 2048);
    ASSERT_EQ(page["cut"].items().size(), 2U);
    EXPECT_EQ(page["cut"].items()[0]["member"].cell(), "payouts.0.items");
    EXPECT_EQ(page["cut"].items()[1]["member"].cell(), "payouts");
    std::size_t read = page["payouts"].items()[0]["items"].items().size();
    for (auto next = cut_place(page["cut"].items()[0]["next"].cell()); next;) {
        Json more = fitted(json, 2048, next);
        EXPECT_EQ(more["payouts"].items()[0]["id"].cell(), "p0");
        for (Json& item : more["payouts"].items()[0]["items"].items()) {
            EXPECT_EQ(item["number"].cell(), std::to_string(read++));
        }
        next =
            more["cut"].is_null() ? std::nullopt : cut_place(more["cut"].items()[0]["next"].cell());
    }
    EXPECT_EQ(read, 500U);
    Json second = fitted(json, 2048, cut_place(page["cut"].items()[1]["next"].cell()));
    EXPECT_EQ(second["payouts"].items()[0]["id"].cell(), "p1");
    EXPECT_EQ(second["cut"].items()[0]["member"].cell(), "payouts.1.items");
}

TEST(Cut, ALongTextKeepsWholeCharacters) {
    std::string text = "\"";
    for (int i = 0; i < 3000; ++i) {
        text += "\xC3\xA4\\n";
    }
    Json page = fitted("{\"title\":" + text + "\"}", 1000);
    const std::string kept = page["title"].cell();
    EXPECT_GT(kept.size(), 300U);
    EXPECT_EQ(page["cut"].items()[0]["shown"].cell(), std::to_string(kept.size()));
    EXPECT_EQ(page["cut"].items()[0]["total"].cell(), "9000");
    EXPECT_TRUE(page["cut"].items()[0]["next"].is_null());
    EXPECT_EQ(kept.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Cut, APlaceThatTheObjectDoesNotHaveIsNothing) {
    const auto fit = [](Json object, const CutPlace& after) {
        return fit_object(object, 100, after, plain_key);
    };
    EXPECT_FALSE(fit({{"a", 1}}, {{"lines"}, 3}));
    EXPECT_FALSE(fit({{"a", 1}}, {{"a"}, 3}));
    EXPECT_FALSE(fit({{"a", Json::array()}}, {{"a", "0", "b"}, 3}));
    EXPECT_FALSE(cut_place("4:rows"));
    EXPECT_FALSE(cut_place("4:rows1:x"));
}

}  // namespace
}  // namespace sluice::serve
