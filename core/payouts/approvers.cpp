#include "core/payouts/approvers.hpp"

#include <algorithm>

#include "core/orders/change.hpp"

namespace sluice {

Status check_approver(const CommandContext& context, const std::string& asker,
                      const std::string& what, const Policy& policy) {
    if (context.actor() == asker) {
        return refused(asker + " asked for " + what + " and cannot approve it; another has to");
    }
    const std::vector<std::string>& approvers = policy.approvers;
    if (approvers.empty() ||
        std::find(approvers.begin(), approvers.end(), context.actor()) != approvers.end()) {
        return {};
    }
    std::string names;
    for (const std::string& name : approvers) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return refused(context.actor() + " is none of the approvers: " + names);
}

}  // namespace sluice
