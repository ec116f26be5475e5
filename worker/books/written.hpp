// A command as a person wrote it, and how it is to be submitted. Commands that need nothing else
// run by run_written() (books section 14).
//
// Threads: the program's one.
#pragma once

#include "core/values/result.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {

template <class What>
struct Written {
    What command;
    SubmitOptions submit;
};

/// @return what submit() says.
template <class What>
Status run_written(const Frame& frame, const Written<What>& written) {
    return submit(frame, written.command, written.submit);
}

}  // namespace sluice::cli
