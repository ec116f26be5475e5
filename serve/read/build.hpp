// Answers: runs the read of a resource on a snapshot, and builds the whole answer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/ledger/ledger.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {

/// A request that passed every check that needs no ledger.
struct Job {
    const Resource* resource = nullptr;
    Caller caller;
    Grant grant;
    Arguments arguments;
    Timestamp now;
    std::string if_none_match;
    std::shared_ptr<const PageLinks> links{};  ///< Set for a resource of kMakesLink.
    /// Answers in place of a resource: a path of a creator's page.
    std::function<Answer(LedgerReader&, const WorkerPage& worker)> own{};
};

/// Returns the answer of a job. Never throws.
/// @param worker  The worker of this store.
[[nodiscard]] Answer build_answer(const Job& job, LedgerReader& ledger, const WorkerPage& worker);

/// Returns path and parameters of the next page.
/// @param path  From the `/` on.
[[nodiscard]] std::string next_target(std::string path, const Arguments& arguments,
                                      const std::string& cursor);

/// Adds the headers of an answer that may be cached by its reader, and answers 304 if the reader
/// has it.
void tag_answer(Answer& answer, const std::string& if_none_match);

}  // namespace sluice::serve
