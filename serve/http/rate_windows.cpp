#include "serve/http/rate_windows.hpp"

namespace sluice::serve {

RateVerdict RateWindows::count(const std::string& caller, std::int64_t now_second) {
    constexpr std::size_t kKept = 4096;
    if (words_.size() > kKept && now_second != swept_second_) {
        swept_second_ = now_second;
        std::erase_if(words_, [now_second](const auto& entry) {
            return rate_use(entry.second, now_second).used == 0;
        });
    }
    std::uint64_t& word = words_[caller];
    const RateStep step = count_request(word, limit_, now_second);
    word = step.word;
    return step.verdict;
}

}  // namespace sluice::serve
