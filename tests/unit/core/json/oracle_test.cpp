// Random damage to valid bodies: sluice and an independent reader agree on what is JSON.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <random>
#include <string>

#include "core/json/document.hpp"
#include "core/json/fault.hpp"
#include "core/protocol/product_batch.hpp"
#include "unit/core/json/strict_json.hpp"
#include "unit/core/protocol/order_fixture.hpp"

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
                                        std::string_view("\0", 1),
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

/// One round trip for each damaged body; how many of them were JSON.
std::size_t compare_with_strict_reader(std::size_t rounds, unsigned seed) {
    const std::string deep = test::edited(
        "\"unknown\"", "\"deep\":" + std::string(31, '[') + std::string(31, ']') + ",\"unknown\"");
    std::mt19937_64 random(seed);
    OrderEventParser orders;
    ProductBatchParser products;
    JsonDocument json;
    std::size_t accepted = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::string body = damaged(round % 2 == 0 ? std::string(test::kOrder) : deep, random);
        const bool strict = test::is_strict_json(body);
        accepted += strict ? 1U : 0U;
        const bool valid = orders.parse(body, Topic::kOrderUpdate, "svc_anon_id") != nullptr;
        const auto errors = orders.errors();
        const bool body_error =
            std::any_of(errors.begin(), errors.end(),
                        [](const FieldError& error) { return error.field.empty(); });
        EXPECT_FALSE(valid && !strict) << body;
        EXPECT_EQ(json.parse(body), !find_json_fault(body)) << body;
        // U+0000 in a named field is that field's error.
        if (body.find("\\u0000") == std::string::npos) {
            EXPECT_EQ(strict, !body_error) << body;
        } else {
            EXPECT_FALSE(strict && body_error) << body;
        }
        if (!strict) {
            EXPECT_EQ(products.validate(body, Topic::kProductUpsert), BatchVerdict::kNotABatch);
        }
    }
    return accepted;
}

TEST(JsonProperties, AcceptsTheSameTextsAsAStrictReader) {
    constexpr std::size_t kRounds = 20'000;
    const std::size_t accepted = compare_with_strict_reader(kRounds, 123);
    EXPECT_GT(accepted, kRounds / 20) << "the damage must leave some bodies whole";
    EXPECT_LT(accepted, kRounds - kRounds / 20);
}

TEST(JsonProperties, EveryProcessorReadsTheSame) {
    const simdjson::implementation* const best = simdjson::get_active_implementation();
    int tried = 0;
    for (const simdjson::implementation* one : simdjson::get_available_implementations()) {
        if (one->supported_by_runtime_system()) {
            simdjson::get_active_implementation() = one;
            EXPECT_GT(compare_with_strict_reader(4'000, 321), 200U) << one->name();
            ++tried;
        }
    }
    simdjson::get_active_implementation() = best;
    EXPECT_GE(tried, 1);
}

}  // namespace
}  // namespace sluice
