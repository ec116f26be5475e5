// Masks: what a caller must not see.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/reports/json.hpp"

namespace sluice::serve {

/// Returns four dots and the last 4 characters of a payee, or the dots alone if it has under 8.
[[nodiscard]] std::string masked_payee(std::string_view payee);

/// The members of a resource that a caller sees. A caller with read_ledger sees all of them, with
/// payees masked. Others see the members that the resource's list names; every other member is
/// null, so that a new one stays private until it is listed.
class Masks {
public:
    /// @param path  Of the resource, below /v1/.
    /// @param sees_ledger  Whether the caller has read_ledger.
    Masks(std::string_view path, bool sees_ledger);

    /// Masks the members of an object, or of the objects in a list, and those below them.
    /// @param path  Of the member that holds the value. Empty at the top.
    void mask_members(reports::Json& value, const std::string& path = {}) const;
    /// Masks the value of a column or member, and the members below it.
    void mask_cell(const std::string& path, reports::Json& value) const;
    /// Returns whether callers without read_ledger see the member, `journal.reason`.
    [[nodiscard]] bool shows(const std::string& path) const;

private:
    const std::set<std::string, std::less<>>* shown_;
    bool sees_ledger_;
};

/// Masks the payees in what an approver is shown: in the settings that would change, and in the
/// rows of an import.
void mask_approval(reports::Json& approval);

}  // namespace sluice::serve
