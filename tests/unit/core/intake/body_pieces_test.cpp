// A body that comes in pieces: what the memory holds, when the sender and when the pool waits, how
// it ends.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "core/intake/body.hpp"
#include "unit/simulation_seed.hpp"

namespace sluice {
namespace {

using Next = BodyPieces::Next;

std::string numbered(std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t i = 0; i < count; ++i) {
        text[i] = static_cast<char>('a' + i % 26);
    }
    return text;
}

TEST(BodyPiecesRules, ABodyOfOnePieceStaysInMemory) {
    BodyPieces pieces(10);
    EXPECT_EQ(pieces.next(), Next::kRead);
    EXPECT_EQ(pieces.put("abcde"), 5U);
    EXPECT_EQ(pieces.put("fghij"), 5U);
    EXPECT_EQ(pieces.next(), Next::kRead) << "a full piece is not given before more comes";
    pieces.ended();
    EXPECT_EQ(pieces.next(), Next::kWhole);
    EXPECT_EQ(pieces.rest(), "abcdefghij");
    EXPECT_EQ(pieces.bytes(), 10U);
    EXPECT_FALSE(pieces.was_given());
}

TEST(BodyPiecesRules, AnEmptyBodyIsWhole) {
    BodyPieces pieces(1);
    EXPECT_EQ(pieces.put(""), 0U);
    pieces.ended();
    EXPECT_EQ(pieces.next(), Next::kWhole);
    EXPECT_EQ(pieces.rest(), "");
}

TEST(BodyPiecesRules, AFullPieceIsGivenWhenMoreComes) {
    BodyPieces pieces(4);
    EXPECT_EQ(pieces.put("abcdef"), 4U);
    EXPECT_EQ(pieces.next(), Next::kGive);
    EXPECT_EQ(pieces.give(), "abcd");
    EXPECT_TRUE(pieces.is_given());
    EXPECT_EQ(pieces.next(), Next::kRead) << "the next piece is filled beside";
    EXPECT_EQ(pieces.put("ef"), 2U);
    pieces.ended();
    EXPECT_EQ(pieces.next(), Next::kWait) << "not whole while the pool has a part of it";
    pieces.given_back();
    EXPECT_EQ(pieces.next(), Next::kWhole);
    EXPECT_EQ(pieces.rest(), "ef");
    EXPECT_EQ(pieces.bytes(), 6U);
}

TEST(BodyPiecesRules, NothingIsReadWhileThePoolIsBehind) {
    BodyPieces pieces(4);
    EXPECT_EQ(pieces.put("abcde"), 4U);
    const std::string_view given = pieces.give();
    EXPECT_EQ(pieces.put("efghi"), 4U);
    EXPECT_EQ(pieces.next(), Next::kWait);
    EXPECT_EQ(pieces.put("i"), 0U) << "there is no third piece";
    EXPECT_EQ(given, "abcd") << "the pool's piece is left alone";
    pieces.given_back();
    EXPECT_EQ(pieces.next(), Next::kGive);
    EXPECT_EQ(pieces.give(), "efgh");
    EXPECT_EQ(pieces.put("i"), 1U);
    EXPECT_EQ(pieces.next(), Next::kRead);
}

TEST(BodyPiecesRules, ABrokenBodyWaitsForThePool) {
    BodyPieces pieces(4);
    EXPECT_EQ(pieces.put("abcde"), 4U);
    (void)pieces.give();
    pieces.broke();
    EXPECT_EQ(pieces.next(), Next::kWait) << "the pool still reads its piece";
    pieces.given_back();
    EXPECT_EQ(pieces.next(), Next::kBroken);
}

TEST(BodyPiecesRules, ABodyMayBreakAtAnyTime) {
    BodyPieces fresh(4);
    fresh.broke();
    EXPECT_EQ(fresh.next(), Next::kBroken);
    BodyPieces full(4);
    EXPECT_EQ(full.put("abcde"), 4U);
    full.broke();
    EXPECT_EQ(full.next(), Next::kBroken) << "nothing more is given to the pool";
    BodyPieces ended(4);
    ended.ended();
    ended.broke();
    EXPECT_EQ(ended.next(), Next::kBroken);
}

TEST(BodyPiecesRules, MemoryGoesAndTheCountStays) {
    BodyPieces pieces(4);
    EXPECT_EQ(pieces.put("abcde"), 4U);
    (void)pieces.give();
    EXPECT_EQ(pieces.put("e"), 1U);
    pieces.given_back();
    pieces.release();
    EXPECT_EQ(pieces.bytes(), 5U);
    EXPECT_TRUE(pieces.was_given());
}

/// A sender, a pool and an end of some kind, in an order that one seed chooses.
class PiecesWorld {
public:
    explicit PiecesWorld(std::uint64_t seed)
        : random_(seed),
          piece_bytes_(below(40) + 1),
          pieces_(piece_bytes_),
          body_(numbered(below(400))),
          breaks_at_(below(3) == 0 ? below(body_.size() + 1) : body_.size() + 1) {}

    void run() {
        for (int turn = 0; turn < 20'000; ++turn) {
            switch (pieces_.next()) {
                case Next::kRead:
                    read();
                    break;
                case Next::kGive:
                    ASSERT_FALSE(pool_has_) << "two pieces with the pool";
                    given_ = pieces_.give();
                    ASSERT_EQ(given_.size(), piece_bytes_) << "only full pieces are given";
                    pool_has_ = true;
                    break;
                case Next::kWait:
                    ASSERT_TRUE(pool_has_) << "nobody would end this wait";
                    take();
                    break;
                case Next::kWhole:
                    ASSERT_FALSE(pool_has_);
                    taken_ += pieces_.rest();
                    ASSERT_EQ(taken_, body_);
                    ASSERT_EQ(pieces_.bytes(), body_.size());
                    ASSERT_EQ(pieces_.was_given(), body_.size() > piece_bytes_);
                    return;
                case Next::kBroken:
                    ASSERT_FALSE(pool_has_);
                    ASSERT_TRUE(is_broken_);
                    return;
            }
            if (pool_has_ && below(4) == 0) {
                take();
            }
        }
        FAIL() << "it never ends";
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    void read() {
        if (offset_ + offered_.size() >= breaks_at_ && !is_broken_) {
            is_broken_ = true;
            pieces_.broke();
            return;
        }
        if (offered_.empty()) {
            offered_ = std::string_view(body_).substr(offset_, below(60));
        }
        const std::size_t put = pieces_.put(offered_);
        offset_ += put;
        offered_.remove_prefix(put);
        if (offset_ == body_.size() && pieces_.next() == Next::kRead) {
            pieces_.ended();
        }
    }

    void take() {
        taken_ += given_;
        pool_has_ = false;
        pieces_.given_back();
    }

    std::mt19937_64 random_;
    std::size_t piece_bytes_;
    BodyPieces pieces_;
    std::string body_;
    std::size_t breaks_at_;
    std::size_t offset_ = 0;
    std::string_view offered_;
    std::string_view given_;
    std::string taken_;
    bool pool_has_ = false;
    bool is_broken_ = false;
};

TEST(BodyPiecesSimulation, EveryBodyComesWholeAndInOrderOrBreaks) {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + test_seeds(2000); ++seed) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
        PiecesWorld(seed).run();
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace sluice
