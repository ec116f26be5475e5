#include "serve/http/job_queue.hpp"

#include <algorithm>
#include <utility>

namespace sluice::serve {

bool JobQueue::push(WaitingJob& job) {
    const AccountNumber account = job.job.grant.account;
    const auto known = lines_.find(account);
    const std::size_t own = known == lines_.end() ? 0 : known->second.jobs.size();
    if (count_ >= kJobsMax || own >= kJobsOfOneMax) {
        return false;
    }
    if (own == 0) {
        turns_.push_back(account);
    }
    lines_[account].jobs.push_back(std::move(job));
    ++count_;
    return true;
}

std::optional<WaitingJob> JobQueue::take() {
    const auto turn = std::ranges::find_if(turns_, [this](const AccountNumber account) {
        return lines_.at(account).under_way < of_one_max_;
    });
    if (turn == turns_.end()) {
        return std::nullopt;
    }
    const AccountNumber account = *turn;
    turns_.erase(turn);
    Line& line = lines_.at(account);
    WaitingJob taken = std::move(line.jobs.front());
    line.jobs.pop_front();
    ++line.under_way;
    --count_;
    if (!line.jobs.empty()) {
        turns_.push_back(account);
    }
    return taken;
}

void JobQueue::finish(AccountNumber account) {
    const auto line = lines_.find(account);
    if (--line->second.under_way == 0 && line->second.jobs.empty()) {
        lines_.erase(line);
    }
}

std::vector<WaitingJob> JobQueue::clear() {
    std::vector<WaitingJob> removed;
    for (auto line = lines_.begin(); line != lines_.end();) {
        std::move(line->second.jobs.begin(), line->second.jobs.end(), std::back_inserter(removed));
        line->second.jobs.clear();
        line = line->second.under_way == 0 ? lines_.erase(line) : std::next(line);
    }
    turns_.clear();
    count_ = 0;
    return removed;
}

}  // namespace sluice::serve
