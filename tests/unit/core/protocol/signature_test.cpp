#include "core/protocol/signature.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace sluice {
namespace {

std::string hmac(std::string_view key, std::string_view body) {
    return to_hex(SigningKey(key).sign(body));
}

TEST(SignatureRules, HmacMatchesRfc4231) {
    EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')),
              "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    EXPECT_EQ(
        hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(SignatureRules, KeysOfAllLengthsAroundTheBlockSize) {
    // From Python: hmac.new(b"k" * n, b"body", "sha256").hexdigest()
    EXPECT_EQ(hmac(std::string(63, 'k'), "body"),
              "2b088ef0dc110c2a7a28c0e8264829dfa61c3878aa5ad5546c8665bfe3006163");
    EXPECT_EQ(hmac(std::string(64, 'k'), "body"),
              "2e213d30b446410b3c21ed0982394dd2add15ccc4da5abab1cac32e7fd6eb01f");
    EXPECT_EQ(hmac(std::string(65, 'k'), "body"),
              "2da24f5c5e8c4884fbeebd56a313b1578530a805d626213a9338445723ad28f6");
}

TEST(SignatureProperties, PiecesHashAsTheWholeDoes) {
    std::mt19937_64 random(321);
    for (int round = 0; round < 200; ++round) {
        std::string body(random() % 700, '\0');
        for (char& c : body) {
            c = static_cast<char>(random());
        }
        const SigningKey key("secret " + std::to_string(round));
        RunningSha256 running;
        RunningHmac hmac = key.begin();
        for (std::string_view rest = body; !rest.empty();) {
            const std::string_view piece = rest.substr(0, random() % 90);
            running.add(piece);
            hmac.add(piece);
            (void)hmac.digest();  // may be asked at any time
            rest.remove_prefix(piece.size());
        }
        ASSERT_EQ(running.digest(), sha256(body));
        ASSERT_EQ(hmac.digest(), key.sign(body));
    }
}

TEST(SignatureRules, ARunningHmacOutlivesItsKey) {
    auto key = std::make_unique<SigningKey>("secret");
    RunningHmac hmac = key->begin();
    const Digest256 expected = key->sign("body");
    key.reset();
    hmac.add("body");
    RunningHmac moved = std::move(hmac);
    EXPECT_EQ(moved.digest(), expected);
}

TEST(SignatureProperties, AgreesWithOpensslsHmac) {
    std::mt19937_64 random(123);
    const auto bytes = [&random](std::size_t count) {
        std::string text(count, 0);
        for (char& c : text) {
            c = static_cast<char>(random());
        }
        return text;
    };
    for (int i = 0; i < 500; ++i) {
        const std::string key = bytes(1 + random() % 200);
        const std::string body = bytes(random() % 3000);
        Digest256 expected{};
        unsigned size = 0;
        ASSERT_NE(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                       reinterpret_cast<const unsigned char*>(body.data()), body.size(),
                       expected.data(), &size),
                  nullptr);
        ASSERT_EQ(SigningKey(key).sign(body), expected);
    }
}

TEST(SignatureRules, EmptyBodyIsSignedToo) {
    EXPECT_EQ(to_hex(sha256({})),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hmac("key", {}), "5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0");
}

TEST(SignatureRules, VerifyAcceptsTheRightDigestOnly) {
    const SigningKey key("a secret of sixteen bytes or more");
    const std::string body = "{\"platform_order_id\":\"1\"}";
    const Digest256 right = key.sign(body);
    EXPECT_TRUE(key.verify(body, right));
    for (std::size_t bit = 0; bit < right.size() * 8; ++bit) {
        Digest256 wrong = right;
        wrong[bit / 8] = static_cast<std::uint8_t>(wrong[bit / 8] ^ (1U << (bit % 8)));
        EXPECT_FALSE(key.verify(body, wrong)) << bit;
    }
    EXPECT_FALSE(key.verify(body + "\n", right));
    EXPECT_FALSE(SigningKey("another secret").verify(body, right));
}

TEST(SignatureRules, OneKeyServesManyThreads) {
    const SigningKey key("shared secret, sixteen bytes");
    const std::string body(3000, 'b');
    const Digest256 expected = key.sign(body);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) {
                wrong += key.verify(body, expected) ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST(SignatureHeaderRules, Exactly64LowerCaseHexDigitsOnEvents) {
    const std::string lower = "00ff" + std::string(60, 'a');
    const auto digest = parse_hex_digest(lower, HexCase::kLowerOnly);
    ASSERT_TRUE(digest);
    EXPECT_EQ(to_hex(*digest), lower);
    std::string upper = lower;
    upper[10] = 'A';
    EXPECT_FALSE(parse_hex_digest(upper, HexCase::kLowerOnly));
    EXPECT_EQ(to_hex(*parse_hex_digest(upper, HexCase::kEither)), lower);
}

TEST(SignatureHeaderRules, AnythingElseIsMalformed) {
    const std::string good(64, 'a');
    std::vector<std::string> malformed = {"",         "sha256=" + good,     good.substr(1),
                                          good + "a", " " + good.substr(1), good.substr(1) + "\n",
                                          "0x" + good};
    for (const char c : {'g', 'G', '/', ':', '@', '`', '\0', '\xff', '='}) {
        malformed.push_back(good.substr(1) + c);
        malformed.push_back(c + good.substr(1));
    }
    for (const std::string& text : malformed) {
        EXPECT_FALSE(parse_hex_digest(text, HexCase::kEither)) << text;
        EXPECT_FALSE(parse_hex_digest(text, HexCase::kLowerOnly)) << text;
    }
}

}  // namespace
}  // namespace sluice
