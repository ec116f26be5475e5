#include "pg_store/connection/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace sluice::pg {
namespace {

struct Meaning {
    std::string_view beginning;
    ErrorCode code;
};

/// The first entry that is a prefix of the SQLSTATE applies.
constexpr std::array<Meaning, 28> kMeanings{{
    {"40", ErrorCode::kBusy},     // serialization failure, deadlock
    {"55P03", ErrorCode::kBusy},  // a lock was not granted in time
    {"23505", ErrorCode::kBusy},  // another node's row came first
    {"0A000", ErrorCode::kUnsupported},
    {"08", ErrorCode::kIo},           // connection
    {"57014", ErrorCode::kBusy},      // a statement was cancelled, or took too long
    {"57P04", ErrorCode::kNotFound},  // the database was dropped
    {"57", ErrorCode::kIo},           // shut down, killed, starting up
    {"53100", ErrorCode::kNoSpace},
    {"53", ErrorCode::kIo},     // memory, connections, locks
    {"58", ErrorCode::kIo},     // its files
    {"25006", ErrorCode::kIo},  // read-only: a standby that a failover left behind
    {"25P03", ErrorCode::kIo},  // idle for too long in a transaction
    {"XX001", ErrorCode::kCorrupt},
    {"XX002", ErrorCode::kCorrupt},
    {"XX", ErrorCode::kIo},
    {"F0", ErrorCode::kIo},
    {"21", ErrorCode::kInvalid},
    {"22", ErrorCode::kInvalid},
    {"23", ErrorCode::kInvalid},
    {"44", ErrorCode::kInvalid},
    {"54", ErrorCode::kInvalid},  // a row or an index entry that is too large
    {"28", ErrorCode::kPermission},
    {"42501", ErrorCode::kPermission},
    {"3D000", ErrorCode::kNotFound},
    {"3F000", ErrorCode::kNotFound},
    {"42P01", ErrorCode::kNotFound},
    {"42", ErrorCode::kUnsupported},
}};

constexpr std::size_t kStateBytes = 5;

/// Returns where `:  28P01: ` is in a line, as after a severity.
std::size_t find_state(std::string_view line) {
    constexpr std::string_view kBefore = ":  ";
    for (std::size_t at = line.find(kBefore); at != std::string_view::npos;
         at = line.find(kBefore, at + 1)) {
        const std::string_view state = line.substr(at + kBefore.size(), kStateBytes);
        const bool ends = line.substr(at + kBefore.size() + state.size()).starts_with(": ");
        if (ends && std::ranges::all_of(state, [](unsigned char c) {
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

ErrorCode code_of(std::string_view sqlstate) noexcept {
    for (const Meaning& meaning : kMeanings) {
        if (sqlstate.starts_with(meaning.beginning)) {
            return meaning.code;
        }
    }
    return ErrorCode::kIo;
}

std::string one_line(const char* text) {
    std::string line(text == nullptr ? "" : text);
    line.erase(line.find_last_not_of(" \n") + 1);
    for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n')) {
        line.replace(at, 1, "; ");
    }
    std::ranges::replace(line, '\t', ' ');
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
    // libpq rejects the value of a parameter without a SQLSTATE, before it contacts a server.
    error.code = told.starts_with("invalid ") ? ErrorCode::kInvalid : code;
    return error;
}

}  // namespace sluice::pg
