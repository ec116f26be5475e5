// Fill: the database that a copied ledger goes to.
//
// Rows are written by COPY, in transactions of bounded size. The first transaction sets the mark of
// an unfinished copy, and the last one removes it. The session holds a lock that excludes other
// copies. begin() empties an interrupted copy and starts again.
#pragma once

#include <memory>
#include <string>

#include "core/copy/row_sink.hpp"
#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

class PostgresFill : public LedgerFill {
public:
    /// Returns whether there is a finished ledger with at least one row, or kNotFound if the
    /// database is not migrated.
    [[nodiscard]] static Result<bool> holds_ledger(const Url& url);
    /// Takes a migrated database without rows, or an unfinished copy, which is emptied. The user
    /// must own the schema. Returns kConflict if the database holds a ledger, kBusy if another copy
    /// writes to it.
    /// @param from  The text of the mark.
    [[nodiscard]] static Result<std::unique_ptr<PostgresFill>> begin(const Url& url,
                                                                     const std::string& from,
                                                                     const FillOptions& options);
    /// as_stored() of every PostgreSQL ledger.
    [[nodiscard]] static std::string as_stored_there(const std::string& text);
};

}  // namespace sluice::pg
