#include "tool/send/policy.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

HttpResponse answer(long status, const std::string& body) {
    HttpResponse response;
    response.status = status;
    response.body = body;
    return response;
}

TEST(SendPolicy, OnlyTheBodySuccessIsSuccessForEvents) {
    EXPECT_EQ(judge_event(answer(200, "success")).verdict, Verdict::kDone);
    for (const char* body : {"", "success\n", "Success", "ok", "{\"success\":true}"}) {
        EXPECT_EQ(judge_event(answer(200, body)).verdict, Verdict::kFatal) << body;
    }
    EXPECT_EQ(judge_event(answer(204, "success")).verdict, Verdict::kFatal);
}

TEST(SendPolicy, BadFieldsAreTheRecordsOwnFault) {
    const Judgement judgement = judge_event(answer(
        400, R"({"error":"Invalid request data","details":[{"field":"tax","code":"REQUIRED",)"
             R"("message":"is required"},{"code":"INVALID_FORMAT","message":"not JSON"}]})"));
    EXPECT_EQ(judgement.verdict, Verdict::kRejected);
    ASSERT_EQ(judgement.problems.size(), 2u);
    EXPECT_EQ(judgement.problems[0].text, "tax: REQUIRED: is required");
    EXPECT_EQ(judgement.problems[1].text, "INVALID_FORMAT: not JSON");
    EXPECT_EQ(judge_event(answer(400, "<html>")).problems.size(), 1u);
}

TEST(SendPolicy, TransientAnswersAreRetriedAndPermanentOnesEndTheRun) {
    for (const long status : {0L, 408L, 429L, 500L, 502L, 503L, 504L}) {
        EXPECT_EQ(judge_event(answer(status, "")).verdict, Verdict::kRetry) << status;
        EXPECT_EQ(judge_batch(answer(status, ""), 1).verdict, Verdict::kRetry) << status;
    }
    for (const long status : {301L, 401L, 403L, 404L, 405L}) {
        EXPECT_EQ(judge_event(answer(status, "")).verdict, Verdict::kFatal) << status;
        EXPECT_EQ(judge_batch(answer(status, ""), 1).verdict, Verdict::kFatal) << status;
    }
    EXPECT_EQ(judge_batch(answer(413, ""), 1).verdict, Verdict::kTooLarge);
    EXPECT_TRUE(judge_event(answer(429, "")).all_wait);
    EXPECT_FALSE(judge_event(answer(500, "")).all_wait);
}

TEST(SendPolicy, ABatchCountsOnlyWhenAllOfItWasProcessed) {
    const std::string body = R"({"success":true,"message":"ok","processedCount":2})";
    EXPECT_EQ(judge_batch(answer(200, body), 2).verdict, Verdict::kDone);
    EXPECT_EQ(judge_batch(answer(200, body), 3).verdict, Verdict::kFatal);
    EXPECT_EQ(judge_batch(answer(200, "success"), 2).verdict, Verdict::kFatal);
}

TEST(SendPolicy, RecordErrorsNameTheirRecord) {
    const Judgement judgement = judge_batch(
        answer(422, R"({"code":422,"message":"x","recordErrors":[{"index":1,)"
                    R"("field":"products[1].title","code":"REQUIRED","message":"is required"}]})"),
        2);
    EXPECT_EQ(judgement.verdict, Verdict::kRejected);
    ASSERT_EQ(judgement.problems.size(), 1u);
    EXPECT_EQ(judgement.problems[0].index, 1u);
    EXPECT_EQ(judgement.problems[0].text, "title: REQUIRED: is required");
    EXPECT_EQ(judge_batch(answer(422, R"({"recordErrors":[{"index":2}]})"), 2).verdict,
              Verdict::kFatal);
    EXPECT_EQ(judge_batch(answer(422, "{}"), 2).verdict, Verdict::kFatal);
}

TEST(SendPolicy, WaitsDoubleUpToACapAndRespectRetryAfter) {
    EXPECT_EQ(retry_wait_ms(1, std::nullopt), 250);
    EXPECT_EQ(retry_wait_ms(2, std::nullopt), 500);
    EXPECT_EQ(retry_wait_ms(8, std::nullopt), 30'000);
    EXPECT_EQ(retry_wait_ms(1000, std::nullopt), 30'000);
    EXPECT_EQ(retry_wait_ms(1, 7), 7'000);
    EXPECT_EQ(retry_wait_ms(5, 1), 4'000);
    EXPECT_EQ(retry_wait_ms(1, -5), 250);
}

TEST(SendPolicy, GivesUpByTheClockAndNotByTheNumberOfFailures) {
    using std::chrono::seconds;
    EXPECT_FALSE(gives_up(10'000, seconds(119), true));
    EXPECT_TRUE(gives_up(3, seconds(120), true));
    EXPECT_FALSE(gives_up(2, seconds(4000), true));  // a long Retry-After is no long failure
    EXPECT_FALSE(gives_up(2, seconds(0), false));
    EXPECT_TRUE(gives_up(3, seconds(0), false));  // never reached: a wrong address
}

TEST(SendPolicy, NamesThePossibleSourceOfA503WithoutRetryAfter) {
    HttpResponse response = answer(503, "");
    EXPECT_NE(judge_event(response).why.find("limit_req"), std::string::npos);
    response.retry_after_s = 1;
    EXPECT_EQ(judge_event(response).why, "the server answers 503");
    EXPECT_EQ(judge_event(answer(429, "")).why, "rate limited");
}

TEST(SendPolicy, AnErrorOfABatchOmitsItsPlaceInTheBatch) {
    EXPECT_EQ(without_place("products[12].variants[0].price: REQUIRED", "products"),
              "variants[0].price: REQUIRED");
    EXPECT_EQ(without_place("products[3]: INVALID_FORMAT: expected an object", "products"),
              "INVALID_FORMAT: expected an object");
    EXPECT_EQ(without_place("products: REQUIRED", "products"), "products: REQUIRED");
    EXPECT_EQ(without_place("products[3]", "products"), "");
}

}  // namespace
}  // namespace sluice::cli
