// Keyed order: lets independent jobs run side by side while jobs that share a key (an order, a
// product) run one after the other, in the order in which they were added.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice::cli {

class KeyedOrder {
public:
    using JobId = std::uint64_t;

    /// Keys may repeat. A job without keys depends on nothing.
    void add(JobId job, const std::vector<std::string>& keys);
    /// Takes the earliest job that depends on no unfinished one; false if there is none now.
    [[nodiscard]] bool take_ready(JobId& job);
    /// Ends a job, successful or not. Jobs that depend on it may start.
    void finish(JobId job);
    /// Jobs that were added and not yet finished.
    [[nodiscard]] std::size_t unfinished() const noexcept { return jobs_.size(); }

private:
    struct Waiting {
        std::set<std::string> keys;
        std::size_t blocked_by = 0;  ///< Keys for which an earlier job is unfinished.
    };

    std::unordered_map<JobId, Waiting> jobs_;
    std::unordered_map<std::string, std::deque<JobId>> queues_;
    std::deque<JobId> ready_;
};

}  // namespace sluice::cli
