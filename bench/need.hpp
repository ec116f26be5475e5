// need(): what a program that measures does with an error: it prints it and exits.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/values/result.hpp"

namespace sluice::bench {

inline void need(const Status& status) {
    if (!status) {
        std::fprintf(stderr, "%s: %s\n", program_invocation_short_name,
                     status.error().message.c_str());
        std::exit(1);
    }
}

template <class Value>
Value need(Result<Value> result) {
    if (!result.ok()) {
        need(Status(result.error()));
    }
    return std::move(*result);
}

}  // namespace sluice::bench
