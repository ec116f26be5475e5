// Masks: what a caller must not see.
#pragma once

#include <vector>

#include "core/json/value.hpp"
#include "core/lists/column.hpp"
#include "core/values/payee_mask.hpp"

namespace sluice::serve {

/// The members of a resource that a caller sees. A caller with read_ledger sees all of them, with
/// payees masked. Others see those whose scope is kEveryone; every other member is null, and so is
/// one that no list declares.
class Masks {
public:
    /// @param sees_ledger  Whether the caller has read_ledger.
    explicit Masks(bool sees_ledger) : sees_ledger_(sees_ledger) {}

    /// Masks the members of an object, or of the objects in a list, and those below them.
    void mask_members(Json& value, const std::vector<lists::Column>& members) const;
    /// Masks the value of a column, and the members below it.
    void mask_cell(const lists::Column& column, Json& value) const;

private:
    bool sees_ledger_;
};

/// Masks the payees in what an approver is shown: in the settings that would change, and in the
/// rows of an import.
void mask_approval(Json& approval);

}  // namespace sluice::serve
