#include "serve/read/cursor.hpp"

#include <gtest/gtest.h>

namespace sluice::serve {
namespace {

TEST(Cursor, IsReadBackByItsQueryAlone) {
    const std::string key("shop-1:order\u00e4");
    const std::string cursor = make_cursor("orders?account=1", key);
    EXPECT_EQ(open_cursor("orders?account=1", cursor), key);
    EXPECT_EQ(open_cursor("orders?account=2", cursor), std::nullopt);
    EXPECT_EQ(open_cursor("orders?account=", cursor), std::nullopt);
    EXPECT_EQ(cursor.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_"),
              std::string::npos);
}

TEST(Cursor, AnyChangedCharacterIsFound) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 40U}) {
        const std::string cursor = make_cursor("q", std::string(size, 'k'));
        for (std::size_t i = 0; i < cursor.size(); ++i) {
            for (const char c : {'A', 'B', '_', '=', '\0'}) {
                std::string changed = cursor;
                changed[i] = c;
                EXPECT_EQ(open_cursor("q", changed).has_value(), changed == cursor);
            }
        }
        EXPECT_FALSE(open_cursor("q", cursor + "A"));
        EXPECT_FALSE(open_cursor("q", cursor.substr(1)));
    }
    EXPECT_FALSE(open_cursor("q", ""));
    EXPECT_FALSE(open_cursor("q", std::string(3072, 'A')));
}

TEST(Cursor, AKeyThatIsNoTextIsRefused) {
    for (const std::string& key :
         {std::string("a\0b", 3), std::string("\xff"), std::string("\xc3")}) {
        EXPECT_FALSE(open_cursor("q", make_cursor("q", key)));
        EXPECT_FALSE(split_key(join_key({"shop", key}), 2));
    }
    // Together these are a text, but not one by one.
    EXPECT_FALSE(
        split_key("1:\xc3"
                  "1:\xa4",
                  2));
}

TEST(Cursor, AKeyOfTextsIsSplitIntoTheSameTexts) {
    const std::vector<std::string> texts{"", "a:b", "\u00e4", "12:"};
    EXPECT_EQ(split_key(join_key(texts), 4), texts);
    EXPECT_EQ(split_key(join_key(texts), 3), std::nullopt);
    for (const char* damaged : {"", "3:ab", "99999999999999999999:a", ":", "a", "1:ab", "1:a2:"}) {
        EXPECT_EQ(split_key(damaged, 2), std::nullopt) << damaged;
    }
}

}  // namespace
}  // namespace sluice::serve
