// Job queue: jobs that wait for a reader, taken in turn by account, so that an account with long or
// many reads delays itself and not the others.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "serve/read/build.hpp"

namespace sluice::serve {

/// Receives the answer of a job. Called once, on a reader's thread or on that of Readers::cancel().
/// Releases what it captured before it returns, because the function itself is destroyed later,
/// when the receiver may be gone.
using Done = std::function<void(Answer)>;

struct WaitingJob {
    Job job;
    Done done;
};

/// One thread at a time.
class JobQueue {
public:
    /// Most jobs that wait for a reader, and most of one account.
    static constexpr std::size_t kJobsMax = 256, kJobsOfOneMax = 224;

    /// @param readers  All of them but one may work for the same account at a time.
    explicit JobQueue(std::size_t readers) : of_one_max_(readers > 1 ? readers - 1 : 1) {}

    /// Returns false, and leaves the job to the caller, if too many jobs wait.
    [[nodiscard]] bool push(WaitingJob& job);
    /// Returns a job of the account whose turn it is, or nothing if none may be read now.
    [[nodiscard]] std::optional<WaitingJob> take();
    /// Notes the end of a job that take() returned.
    void finish(AccountNumber account);
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// Removes and returns all jobs that wait.
    [[nodiscard]] std::vector<WaitingJob> clear();

private:
    struct Line {
        std::deque<WaitingJob> jobs;
        std::size_t under_way = 0;
    };

    std::size_t of_one_max_;
    std::map<AccountNumber, Line> lines_;
    std::deque<AccountNumber> turns_;  ///< Accounts with jobs, the next one first.
    std::size_t count_ = 0;
};

}  // namespace sluice::serve
