// The view of an approval: what an approver is shown before the decision, and its digest (controls
// K3).
#pragma once

#include <string>

#include "core/values/result.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

struct ShownApproval {
    Json object;         ///< As `approvals show` prints it.
    std::string digest;  ///< ApprovalSubject::digest, hexadecimal.
    bool waits = false;  ///< False if it was approved or withdrawn.
};
/// Reads a pending command, a payout or a payout run. Requires: options.account.
[[nodiscard]] Result<ShownApproval> show_approval(const Frame& frame, const std::string& id,
                                                  const SubmitOptions& options);
/// Prints it as tables.
void print_approval(const Json& shown);

}  // namespace sluice::cli
