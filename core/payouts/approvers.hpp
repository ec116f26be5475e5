// Approvers: who may agree to what another actor asked for (books H3).
#pragma once

#include <string>

#include "core/commands/policy.hpp"
#include "core/orders/context.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Refused: the actor asked himself, or is none of the policy's approvers.
[[nodiscard]] Status check_approver(const CommandContext& context, const std::string& asker,
                                    const std::string& what, const Policy& policy);

}  // namespace sluice
