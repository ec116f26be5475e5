// Rows of creators: members of programs, and one creator with names, programs, codes and holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/reports/row_output.hpp"
#include "core/values/result.hpp"

namespace sluice::reports {

[[nodiscard]] std::vector<Column> creator_columns();
enum class CreatorOrder : std::uint8_t {
    kId,      ///< By program and creator.
    kEarned,  ///< By the earnings of this month, the largest first.
};
/// Members of a program, or of all.
struct CreatorListing {
    std::optional<AccountNumber> account;  ///< Absent means every account.
    std::optional<ProgramId> program;
    CreatorOrder order = CreatorOrder::kId;
};
/// Lists the members, with what they earned in the program this month and last.
void write_creators(LedgerReader& ledger, const CreatorListing& listing, Timestamp now,
                    RowOutput& out);

/// Returns one creator with the sums of the last twelve months, or kNotFound.
/// @param creator  Any of the creator's ids.
[[nodiscard]] Result<Json> creator_object(LedgerReader& ledger, AccountNumber account,
                                          const AccountId& account_id, const CreatorId& creator,
                                          Timestamp now);

}  // namespace sluice::reports
