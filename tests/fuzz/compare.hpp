// Compares the verdict of the service on a body with that of an independent implementation of its
// rules.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <string>

#include "check.hpp"
#include "core/protocol/field_error.hpp"
#include "payload_rules.hpp"

namespace sluice::fuzz {

inline std::string shown(const FieldError& error) {
    return error.field + " " + (error.code == FieldErrorCode::kRequired ? kRequired : kInvalid);
}

inline void complain(const char* what, const std::string& error) {
    std::fprintf(stderr, "%s: %s\n", what, error.c_str());
    std::abort();
}

/// @param more       Errors that may be reported but need not be.
/// @param listed_max  The service lists no more; beyond it, what it lists must be right.
inline void compare(std::span<const FieldError> told, const RuleErrors& rules,
                    const RuleErrors& more, std::size_t listed_max) {
    std::set<std::string> wanted;
    std::set<std::string> allowed;
    for (const auto& [field, code] : rules) {
        wanted.insert(field + " " + code);
    }
    for (const auto& [field, code] : more) {
        allowed.insert(field + " " + code);
    }
    std::set<std::string> listed;
    for (const FieldError& error : told) {
        listed.insert(shown(error));
        if (wanted.count(shown(error)) + allowed.count(shown(error)) == 0) {
            complain("the rules know no such error", shown(error));
        }
    }
    if (told.size() < listed_max) {
        for (const std::string& error : wanted) {
            if (listed.count(error) == 0) {
                complain("not told", error);
            }
        }
    }
}

}  // namespace sluice::fuzz
