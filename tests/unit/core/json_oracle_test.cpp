// Random damage to valid bodies: sluice and an independent reader agree on what is JSON.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/product_batch.hpp"
#include "order_fixture.hpp"
#include "strict_json.hpp"

namespace sluice {
namespace {

constexpr std::string_view kPieces[] = {"\"",
                                        "\\",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "0",
                                        "-",
                                        ".",
                                        "e",
                                        "1e400",
                                        "true",
                                        "null",
                                        "\\u0000",
                                        "\\ud800",
                                        "\\udc00",
                                        "\x01",
                                        "\xff",
                                        "\xc3\xa9",
                                        "\xed\xa0\x80",
                                        " ",
                                        "\t",
                                        "\n",
                                        "18446744073709551616",
                                        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                                        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
                                        "\\/",
                                        "\\x",
                                        "//",
                                        "\xef\xbb\xbf",
                                        "[]",
                                        "{}",
                                        "\"a\":"};

std::string damaged(std::string body, std::mt19937_64& random) {
    for (auto times = 1 + random() % 3; times > 0; --times) {
        const std::size_t at = random() % (body.size() + 1);
        const std::string_view piece = kPieces[random() % std::size(kPieces)];
        switch (random() % 3) {
            case 0:
                body.insert(at, piece);
                break;
            case 1:
                body.replace(at, random() % 4, piece);
                break;
            default:
                body.erase(at, 1 + random() % 4);
        }
    }
    return body;
}

TEST(JsonProperties, AcceptsExactlyWhatAStrictReaderAccepts) {
    const std::string deep = test::edited(
        "\"unknown\"", "\"deep\":" + std::string(31, '[') + std::string(31, ']') + ",\"unknown\"");
    std::mt19937_64 random(123);
    OrderEventParser orders;
    ProductBatchParser products;
    std::size_t accepted = 0;
    constexpr std::size_t kRounds = 20'000;
    for (std::size_t round = 0; round < kRounds; ++round) {
        const std::string body = damaged(round % 2 == 0 ? std::string(test::kOrder) : deep, random);
        const bool strict = test::is_strict_json(body);
        accepted += strict ? 1U : 0U;
        bool body_error = false;
        if (orders.parse(body, Topic::kOrderUpdate, "svc_anon_id") == nullptr) {
            for (const FieldError& error : orders.errors()) {
                body_error = body_error || error.field.empty();
            }
        }
        // U+0000 in a named field is that field's error.
        if (body.find("\\u0000") == std::string::npos) {
            ASSERT_EQ(strict, !body_error) << body;
        } else {
            ASSERT_FALSE(strict && body_error) << body;
        }
        if (!strict) {
            ASSERT_EQ(products.validate(body, Topic::kProductUpsert), BatchVerdict::kNotABatch);
        }
    }
    EXPECT_GT(accepted, kRounds / 20) << "the damage must leave some bodies whole";
    EXPECT_LT(accepted, kRounds - kRounds / 20);
}

}  // namespace
}  // namespace sluice
