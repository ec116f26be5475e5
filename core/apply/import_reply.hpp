// Import reply: what an import of creators did to its rows, in words.
#pragma once

#include <set>
#include <vector>

#include "core/commands/imports.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// Rows of a file, in its order.
using ImportRows = std::vector<const CreatorImport::Row*>;

/// The outcome of rows. The rows without dates undo no removal (A2).
struct ClaimedRows {
    /// Without dates: the code was removed or has ended. The row does not bring its creator back
    /// either.
    ImportRows codes;
    /// Without dates: the creator was removed from the program. Nothing of the row is imported.
    ImportRows creators;
    std::set<const CreatorImport::Row*> changed;  ///< They change something.
};

/// Says how many rows changed something, and lists those that did not.
[[nodiscard]] Reply import_reply(const CreatorImport& command, const ClaimedRows& claimed);

}  // namespace sluice
