#include "serve/http/job_queue.hpp"

#include <gtest/gtest.h>

namespace sluice::serve {
namespace {

WaitingJob job_of(std::uint32_t account) {
    WaitingJob job;
    job.job.grant.account = AccountNumber{account};
    return job;
}

bool push(JobQueue& queue, std::uint32_t account) {
    WaitingJob job = job_of(account);
    return queue.push(job);
}

/// Returns the account of the next job, or 0 if none may be read now.
std::uint32_t next_of(JobQueue& queue) {
    const auto job = queue.take();
    return job ? job->job.grant.account.value : 0;
}

TEST(JobQueue, AccountsTakeTurns) {
    JobQueue queue(8);
    for (const std::uint32_t account : {1U, 1U, 1U, 2U, 3U, 2U}) {
        ASSERT_TRUE(push(queue, account));
    }
    for (const std::uint32_t account : {1U, 2U, 3U, 1U, 2U, 1U, 0U}) {
        EXPECT_EQ(next_of(queue), account);
    }
}

TEST(JobQueue, OneReaderIsLeftToOtherAccounts) {
    JobQueue queue(4);
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(push(queue, 1));
    }
    for (const std::uint32_t account : {1U, 1U, 1U, 0U}) {
        EXPECT_EQ(next_of(queue), account);
    }
    ASSERT_TRUE(push(queue, 2));
    EXPECT_EQ(next_of(queue), 2U);
    queue.finish(AccountNumber{1});
    EXPECT_EQ(next_of(queue), 1U);
    EXPECT_EQ(next_of(queue), 0U);
}

TEST(JobQueue, ASingleReaderWorksForEveryAccount) {
    JobQueue queue(1);
    ASSERT_TRUE(push(queue, 1));
    EXPECT_EQ(next_of(queue), 1U);
    queue.finish(AccountNumber{1});
    ASSERT_TRUE(push(queue, 1));
    EXPECT_EQ(next_of(queue), 1U);
}

TEST(JobQueue, OneAccountLeavesPlacesToOthersAndAllHaveALimit) {
    JobQueue queue(4);
    for (std::size_t i = 0; i < JobQueue::kJobsOfOneMax; ++i) {
        ASSERT_TRUE(push(queue, 1));
    }
    EXPECT_FALSE(push(queue, 1));
    for (std::size_t i = JobQueue::kJobsOfOneMax; i < JobQueue::kJobsMax; ++i) {
        ASSERT_TRUE(push(queue, 2));
    }
    EXPECT_FALSE(push(queue, 3));
    EXPECT_EQ(queue.clear().size(), JobQueue::kJobsMax);
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(push(queue, 3));
}

TEST(JobQueue, ARefusedJobStaysWithItsCaller) {
    JobQueue queue(4);
    for (std::size_t i = 0; i < JobQueue::kJobsOfOneMax; ++i) {
        ASSERT_TRUE(push(queue, 1));
    }
    WaitingJob job = job_of(1);
    job.done = [](Answer) {};
    EXPECT_FALSE(queue.push(job));
    EXPECT_TRUE(job.done);
}

}  // namespace
}  // namespace sluice::serve
