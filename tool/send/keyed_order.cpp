#include "tool/send/keyed_order.hpp"

#include "core/values/assert.hpp"

namespace sluice::cli {

void KeyedOrder::add(JobId job, const std::vector<std::string>& keys) {
    Waiting waiting{{keys.begin(), keys.end()}};
    for (const std::string& key : waiting.keys) {
        std::deque<JobId>& queue = queues_[key];
        waiting.blocked_by += queue.empty() ? 0u : 1u;
        queue.push_back(job);
    }
    if (waiting.blocked_by == 0) {
        ready_.push_back(job);
    }
    const bool added = jobs_.emplace(job, std::move(waiting)).second;
    SLUICE_ASSERT(added);
}

bool KeyedOrder::take_ready(JobId& job) {
    if (ready_.empty()) {
        return false;
    }
    job = ready_.front();
    ready_.pop_front();
    return true;
}

void KeyedOrder::finish(JobId job) {
    const auto found = jobs_.find(job);
    SLUICE_ASSERT(found != jobs_.end());
    for (const std::string& key : found->second.keys) {
        const auto queue = queues_.find(key);
        SLUICE_ASSERT(queue != queues_.end() && queue->second.front() == job);
        queue->second.pop_front();
        if (queue->second.empty()) {
            queues_.erase(queue);
            continue;
        }
        const JobId next = queue->second.front();
        if (--jobs_.at(next).blocked_by == 0) {
            ready_.push_back(next);
        }
    }
    jobs_.erase(found);
}

}  // namespace sluice::cli
