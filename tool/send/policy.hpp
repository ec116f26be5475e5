// Send policy: the meaning of an answer for `sluice send`, and the wait before a retry. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json/document.hpp"
#include "program/system/http_client.hpp"

namespace sluice::cli {

enum class Verdict : std::uint8_t {
    kDone,      ///< Durably accepted.
    kRejected,  ///< These records are wrong; others may be right.
    kTooLarge,  ///< A smaller batch may succeed.
    kRetry,     ///< The same request can succeed later.
    kFatal,     ///< No request of this run can succeed until a person changes something.
};

/// The server's complaint about one record of a request.
struct RecordProblem {
    std::size_t index = 0;  ///< Index of the record within the request.
    std::string text;       ///< `field: CODE: message`
};

struct Judgement {
    Verdict verdict = Verdict::kFatal;
    std::string why;                      ///< One line; empty for kDone.
    std::vector<RecordProblem> problems;  ///< At least one for kRejected.
    bool all_wait = false;                ///< kRetry concerns the account or the server.
};

/// Returns the text member `name` of an object, or an empty text if there is none.
[[nodiscard]] std::string text_member(simdjson::dom::element object, const char* name);
/// Judges an event's answer. Only 200 with the body `success` is success.
[[nodiscard]] Judgement judge_event(const HttpResponse& response);
/// Judges a batch's answer. Only 200 with `"success":true` and the right processedCount is success.
[[nodiscard]] Judgement judge_batch(const HttpResponse& response, std::size_t records_count);

/// Judges the answer to a batch of clicks. Only 200 with the body `success` is success.
[[nodiscard]] Judgement judge_clicks(const HttpResponse& response, std::size_t records_count);

/// Returns the milliseconds to wait after the n-th failure in a row (from 1): doubling from 250 ms
/// up to 30 s, but not less than the server asks for.
[[nodiscard]] std::int64_t retry_wait_ms(unsigned failures,
                                         std::optional<std::int64_t> retry_after_s) noexcept;
/// Returns true if the run gives up after so many failures of one request. 429 is no failure.
/// @param reached  The server has answered before; if not, the address is probably wrong.
[[nodiscard]] bool gives_up(unsigned failures, std::chrono::milliseconds failing_for,
                            bool reached) noexcept;
/// Removes the record's place from a problem of a batch with this list: `products[3].title:
/// REQUIRED` becomes `title: REQUIRED`.
[[nodiscard]] std::string without_place(const std::string& problem, std::string_view list);

}  // namespace sluice::cli
