// Rate word: from any word, over any limits and clocks, no window admits more than its limit, ends
// too late, or refuses requests permanently.
#include <cstring>
#include <string_view>

#include "check.hpp"
#include "core/intake/rate_window.hpp"

namespace {

template <class T>
T take(std::string_view& text) {
    T value{};
    const std::size_t bytes = text.size() < sizeof(value) ? text.size() : sizeof(value);
    std::memcpy(&value, text.data(), bytes);
    text.remove_prefix(bytes);
    return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text = sluice::fuzz::text_of(data, size);
    auto word = take<std::uint64_t>(text);
    auto now = static_cast<std::int64_t>(take<std::uint32_t>(text));
    sluice::RateLimit limit{1U + take<std::uint16_t>(text), 1U + take<std::uint16_t>(text) % 3600U};
    std::uint32_t allowed_in_window = 0;
    std::int64_t window_end = -1;
    bool changed = true;
    while (!text.empty()) {
        const auto step_kind = take<std::uint8_t>(text);
        if (step_kind == 255) {
            limit = {1U + take<std::uint16_t>(text), 1U + take<std::uint16_t>(text) % 3600U};
            changed = true;
        } else if (step_kind == 254) {
            now -= take<std::uint16_t>(text);
            now = now < 0 ? 0 : now;
            changed = true;
        } else {
            now += step_kind / 64;
        }
        const sluice::RateStep step = sluice::count_request(word, limit, now);
        const sluice::RateVerdict& verdict = step.verdict;
        word = step.word;
        if (verdict.reset_second != window_end || changed) {
            allowed_in_window = 0;
            window_end = verdict.reset_second;
            changed = false;
        }
        allowed_in_window += verdict.allowed ? 1 : 0;
        FUZZ_CHECK(allowed_in_window <= limit.requests);
        FUZZ_CHECK(verdict.remaining < limit.requests);
        FUZZ_CHECK(verdict.allowed || verdict.remaining == 0);
        FUZZ_CHECK(verdict.reset_second > now);
        FUZZ_CHECK(verdict.reset_second <= now + limit.window_seconds + 2);
        FUZZ_CHECK(verdict.reset_second % limit.window_seconds == 0);
        FUZZ_CHECK(verdict.retry_after == verdict.reset_second - now);
        // Once the window is over, the next request is always welcome.
        FUZZ_CHECK(sluice::count_request(word, limit, verdict.reset_second).verdict.allowed);
    }
    return 0;
}
