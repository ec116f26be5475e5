// What an answer means for `sluice send`, and how long to wait before trying again. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/send/http_client.hpp"

namespace sluice::cli {

enum class Verdict : std::uint8_t {
    kDone,      ///< Durably accepted.
    kRejected,  ///< These records are wrong; the others may go on.
    kTooLarge,  ///< Smaller batches may pass.
    kRetry,     ///< Later it can succeed.
    kFatal,     ///< No request of this run can succeed; a person must change something.
};

/// What the server says about one record of a request.
struct RecordProblem {
    std::size_t index = 0;  ///< Of the record within the request.
    std::string text;       ///< `field: CODE: message`
};

struct Judgement {
    Verdict verdict = Verdict::kFatal;
    std::string why;                      ///< One line; empty for kDone.
    std::vector<RecordProblem> problems;  ///< kRejected: at least one.
    bool all_wait = false;                ///< kRetry: the account or the server, not this request.
};

/// Only 200 with the body `success` is success.
[[nodiscard]] Judgement judge_event(const HttpResponse& response);
/// Only 200 with `"success":true` and the right processedCount is success.
[[nodiscard]] Judgement judge_batch(const HttpResponse& response, std::size_t records_count);

/// Milliseconds to wait after the n-th failure in a row (from 1): doubling from 250 ms up to 30 s,
/// but not less than the server asks for.
[[nodiscard]] std::int64_t retry_wait_ms(unsigned failures,
                                         std::optional<std::int64_t> retry_after_s) noexcept;
/// Does the run give up on one request that failed time after time, for so long? 429 is no failure.
/// @param reached  An answer came from there before: else it is more likely a wrong address than a
/// server that is away.
[[nodiscard]] bool gives_up(unsigned failures, std::chrono::milliseconds failing_for,
                            bool reached) noexcept;
/// A batch's problem without the record's place in it: `products[3].title: REQUIRED` becomes
/// `title: REQUIRED`.
[[nodiscard]] std::string without_place(const std::string& problem);

}  // namespace sluice::cli
