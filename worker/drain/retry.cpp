#include "worker/drain/retry.hpp"

#include <algorithm>

namespace sluice::worker {
namespace {

constexpr std::chrono::seconds kLogEvery{1};
/// Nodes that write the same order wait for each other for less than this. A longer wait is a
/// failure.
constexpr std::chrono::seconds kBusyForAWhile{1};

}  // namespace

bool may_pass(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::kFull:  // the map grows with the next transaction
        case ErrorCode::kNoSpace:
        case ErrorCode::kBusy:
        case ErrorCode::kIo:
        case ErrorCode::kLimit:
            return true;
        default:
            return false;
    }
}

Retry::Decision Retry::failed(ErrorCode code, Time now) noexcept {
    if (failing_since_ == Time{}) {
        failing_since_ = now;
    }
    const bool out_of_time =
        seconds_max_ != 0 && now - failing_since_ > std::chrono::seconds(seconds_max_);
    if (!may_pass(code) || out_of_time) {
        return {};
    }
    if (code == ErrorCode::kFull) {
        return {Next::kAtOnce, {}, false, false};
    }
    Decision decision{Next::kPause, pause_, false, false};
    decision.is_failure = code != ErrorCode::kBusy || now - failing_since_ >= kBusyForAWhile;
    if (decision.is_failure && (last_logged_ == Time{} || now - last_logged_ >= kLogEvery)) {
        last_logged_ = now;
        decision.is_logged = true;
    }
    pause_ = std::min(pause_ * 2, kPauseMax);
    return decision;
}

std::optional<std::chrono::seconds> Retry::succeeded(Time now) noexcept {
    std::optional<std::chrono::seconds> failed_for;
    if (failing_since_ != Time{} && last_logged_ >= failing_since_) {
        failed_for = std::chrono::duration_cast<std::chrono::seconds>(now - failing_since_);
    }
    pause_ = kPauseFirst;
    failing_since_ = {};
    return failed_for;
}

}  // namespace sluice::worker
