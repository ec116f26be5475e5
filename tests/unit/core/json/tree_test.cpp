// The tree of a document: slices of its text, found by the parser's tokens.
#include "core/json/tree.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/json/slices.hpp"

namespace sluice {
namespace {

class TreeOf {
public:
    explicit TreeOf(std::string text) : text_(std::move(text)) {
        EXPECT_TRUE(document_.parse(text_)) << text_;
        tree_.read(document_, text_);
    }
    [[nodiscard]] JsonValue root() const { return tree_.root(); }

private:
    std::string text_;
    JsonDocument document_;
    JsonTree tree_;
};

/// Compares a value and all below it with what the slices' own walk finds.
void expect_sliced(const JsonValue& value, std::string_view text) {
    ASSERT_EQ(value.raw(), text);
    JsonChildren children(value);
    if (value.is_object()) {
        for (const JsonMember& member : json_members(text)) {
            ASSERT_FALSE(children.at_end()) << text;
            EXPECT_EQ(children.key(), member.key);
            expect_sliced(children.value(), member.value);
            children.step();
        }
    } else if (value.is_array()) {
        for (const std::string_view element : json_elements(text)) {
            ASSERT_FALSE(children.at_end()) << text;
            expect_sliced(children.value(), element);
            children.step();
        }
    } else if (value.is_string()) {
        EXPECT_EQ(value.text(), json_string(text));
    }
    EXPECT_TRUE(children.at_end()) << text;
}

class RandomJson {
public:
    explicit RandomJson(std::uint64_t seed) : engine_(seed) {}

    std::string value(int levels) {
        const std::size_t kind = below(levels > 0 ? 8 : 6);
        const char* const scalars[] = {"null", "true", "-0", "12.50", "9007199254740993", "1e-7"};
        if (kind < 4) {
            return scalars[below(6)];
        }
        return kind < 6 ? string() : kind == 6 ? list(levels - 1) : object(levels - 1);
    }

private:
    std::size_t below(std::size_t n) { return engine_() % n; }
    std::string space() { return std::string(below(3) == 0 ? below(4) : 0, " \t\n\r"[below(4)]); }
    std::string string() {
        const char* const parts[] = {"a",       "id",     "\\\"",     "\\\\", "\\/",
                                     "\\u0041", "{[,:]}", "\xc3\xa9", " ",    ""};
        std::string text = "\"";
        for (std::size_t left = below(6); left > 0; --left) {
            text += parts[below(10)];
        }
        return text + "\"";
    }
    std::string list(int levels) {
        std::string text = "[" + space();
        for (std::size_t left = below(4); left > 0; --left) {
            text += space() + value(levels) + space() + (left > 1 ? "," : "");
        }
        return text + "]";
    }
    std::string object(int levels) {
        std::string text = "{" + space();
        for (std::size_t left = below(4); left > 0; --left) {
            text += space() + string() + space() + ":" + space() + value(levels) + space() +
                    (left > 1 ? "," : "");
        }
        return text + "}";
    }

    std::mt19937_64 engine_;
};

TEST(JsonTree, EachValueIsTheSliceOfTheText) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(seed);
        // A document with another escape shows its keys unescaped, as the slices do.
        const std::string text = "[\"\\u0041\"," + RandomJson(seed).value(5) + "]";
        expect_sliced(TreeOf(text).root(), text);
    }
}

TEST(JsonTree, ANumberKeepsItsDigits) {
    const TreeOf tree(R"({ "subtotal" : 52.50 , "id":9007199254740993 })");
    JsonChildren members(tree.root());
    EXPECT_EQ(members.value().raw(), "52.50");
    members.step();
    EXPECT_EQ(members.value().raw(), "9007199254740993");
}

TEST(JsonTree, AKeyWithAnEscapedLetterIsTheKey) {
    const TreeOf tree(R"({"\u0069d":1,"a\/b":2})");
    JsonChildren members(tree.root());
    EXPECT_EQ(members.key(), "id");
    members.step();
    EXPECT_EQ(members.key(), "a/b");
}

TEST(JsonTree, ADocumentMayBeOneScalarWithSpaceAroundIt) {
    EXPECT_EQ(TreeOf(" 7 ").root().raw(), "7");
    EXPECT_EQ(TreeOf("\"a\" \n").root().text(), "a");
    EXPECT_TRUE(JsonChildren(TreeOf(" { } ").root()).at_end());
}

TEST(JsonTree, ATreeIsReadAnew) {
    JsonDocument document;
    JsonTree tree;
    for (const std::string text : {R"({"a":"\u0041"})", R"(["b"])", "[[],[1,[2]]]"}) {
        ASSERT_TRUE(document.parse(text));
        tree.read(document, text);
        EXPECT_EQ(tree.root().raw(), text);
    }
}

}  // namespace
}  // namespace sluice
