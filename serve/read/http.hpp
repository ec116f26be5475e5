// Requests and answers of the server, as plain values, and the target of a request. Errors are
// answered as application/problem+json (RFC 9457), and never repeat a value that was sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/parsed.hpp"

namespace sluice::serve {

/// How callers of a socket prove who they are.
enum class Door : std::uint8_t {
    kTokens,  ///< `Authorization: Bearer`.
    kPeople,  ///< `X-Sluice-User`, which nginx sets after a login.
};

/// The parts of a request that decide the answer.
struct Request {
    Door door = Door::kTokens;
    std::string method, target;
    /// Headers, or nothing if they are absent. A header that was sent twice counts as malformed,
    /// which no credential is.
    std::optional<std::string> authorization, user, if_none_match, fetch_site;
};

/// The parts of Request::target.
struct Target {
    std::string path;  ///< As it was sent: decoded_part() decodes the name of an account in it.
    /// Names and values, decoded, in the order in which they were sent.
    std::vector<std::pair<std::string, std::string>> parameters;
};

/// Returns nothing unless the target is a path with an optional query (RFC 9112 origin form).
[[nodiscard]] Parsed<Target> parse_target(std::string_view text);
/// Decodes a part of a path. Requires: it is of a Target.
[[nodiscard]] std::string decoded_part(std::string_view part);
/// Encodes a value of a parameter, or a part of a path.
[[nodiscard]] std::string encoded(std::string_view text);

inline constexpr std::string_view kCsvType = "text/csv; charset=utf-8; header=present";

struct Answer {
    unsigned status = 200;
    std::string type = "application/json";
    std::string body{};
    std::vector<std::pair<std::string, std::string>> headers{};
    /// Entries of the account's chains when the feed had no change: the request may wait until
    /// there are others.
    std::optional<std::uint64_t> waits_behind{};
    /// The log writes it: the creator and the random bytes of a page token, so that a
    /// link that was passed on can be traced. Empty for other answers.
    std::string logged{};

    Answer& with(std::string name, std::string value) {
        headers.emplace_back(std::move(name), std::move(value));
        return *this;
    }
};

/// One error that the API can answer with.
struct ProblemKind {
    unsigned status;
    std::string_view code;
    std::string_view title;
};
/// Returns all of them, in the order of the checks.
[[nodiscard]] const std::vector<ProblemKind>& problem_kinds();

struct ParameterError {
    std::string parameter, message;
};

/// @param code    One of problem_kinds().
/// @param detail  More for the caller, or empty.
[[nodiscard]] Answer problem(std::string_view code, std::string_view detail = {});
[[nodiscard]] Answer parameter_problem(const std::vector<ParameterError>& errors);

}  // namespace sluice::serve
