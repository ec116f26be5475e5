#include "pg_store/connection/words.hpp"

#include <algorithm>
#include <cctype>

#include "pg_store/connection/error.hpp"

namespace sluice::pg {
namespace {

constexpr std::size_t kStateBytes = 5;

/// Where `:  28P01: ` stands in a line, as after a severity.
std::size_t find_state(std::string_view line) {
    constexpr std::string_view kBefore = ":  ";
    for (std::size_t at = line.find(kBefore); at != std::string_view::npos;
         at = line.find(kBefore, at + 1)) {
        const std::string_view state = line.substr(at + kBefore.size(), kStateBytes);
        const bool ends = line.substr(at + kBefore.size() + state.size()).starts_with(": ");
        if (ends && std::all_of(state.begin(), state.end(), [](unsigned char c) {
                return std::isdigit(c) != 0 || std::isupper(c) != 0;
            })) {
            return at + kBefore.size();
        }
    }
    return std::string_view::npos;
}

/// `... failed: FATAL:  28P01: no` becomes `... failed: no (SQLSTATE 28P01)`.
std::string with_state_behind(std::string_view line, std::size_t state) {
    const std::size_t severity = line.find_last_of(' ', state - 4);
    std::string text(line.substr(0, severity == std::string_view::npos ? 0 : severity + 1));
    text += line.substr(state + kStateBytes + 2);
    return text + " (SQLSTATE " + std::string(line.substr(state, kStateBytes)) + ")";
}

}  // namespace

std::string one_line(const char* text) {
    std::string line(text == nullptr ? "" : text);
    line.erase(line.find_last_not_of(" \n") + 1);
    for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n')) {
        line.replace(at, 1, "; ");
    }
    std::replace(line.begin(), line.end(), '\t', ' ');
    return line;
}

LedgerFailure no_connection(const char* why) {
    const std::string words = one_line(why);
    return LedgerFailure({ErrorCode::kIo, words.empty() ? "the connection to PostgreSQL is gone"
                                                        : "PostgreSQL: " + words});
}

Error refusal(const char* verbose) {
    std::string_view rest(verbose == nullptr ? "" : verbose);
    std::string told;
    ErrorCode code = ErrorCode::kIo;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t state = find_state(line);
        if (line.starts_with("LOCATION:  ")) {
            continue;
        }
        if (state != std::string_view::npos && code == ErrorCode::kIo) {
            code = code_of(line.substr(state, kStateBytes));
        }
        told +=
            state == std::string_view::npos ? std::string(line) : with_state_behind(line, state);
        told += '\n';
    }
    Error error = no_connection(told.c_str()).error();
    // libpq refuses the value of a parameter before it asks anyone, without a SQLSTATE.
    error.code = told.starts_with("invalid ") ? ErrorCode::kInvalid : code;
    return error;
}

}  // namespace sluice::pg
