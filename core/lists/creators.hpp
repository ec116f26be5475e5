// Rows of creators: members of programs, one creator with names, programs, codes and holds, payees
// and their changes. Holds of orders are listed with those of creators.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/list.hpp"
#include "core/lists/names.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/plain_list.hpp"
#include "core/lists/row_output.hpp"
#include "core/values/result.hpp"

namespace sluice::lists {

/// A member of a program.
struct CreatorOf {
    const AccountId& account_id;
    const CreatorId& creator;  ///< As shown.
    const Membership& member;
    const CreatorRow& profile;
    const std::vector<std::string>& codes;
    const EarnedAmounts& earned;
};
[[nodiscard]] const List<CreatorOf>& creator_list();
/// Lists the members of a program, or of all programs of one account or of every account, by
/// program and first id, with what they earned in the program this month and last.
void write_creators(LedgerReader& ledger, const std::optional<AccountNumber>& account,
                    const std::optional<ProgramId>& only, Timestamp now, RowOutput& out);
/// Lists the members of one account by the earnings of this month, the largest first.
void write_best_creators(LedgerReader& ledger, AccountNumber account,
                         const std::optional<ProgramId>& program, Timestamp now, RowOutput& out);

/// A member's place in the list by program and first id.
struct MemberPlace {
    ProgramId program;
    CreatorId creator;  ///< First id.
};
/// A row, where it is, and its amounts.
struct MemberRow {
    MemberPlace place;
    Row row;
    EarnedAmounts earned;
};
/// Returns the rows of at most `max` members that come after `after`, from ranges of the tables.
[[nodiscard]] std::vector<MemberRow> members_after(LedgerReader& ledger, AccountNumber account,
                                                   const std::optional<ProgramId>& program,
                                                   const std::optional<MemberPlace>& after,
                                                   std::size_t max, Timestamp now);

/// A creator's membership of a program, with the codes there.
struct MembershipOf {
    const Membership& member;
    Json codes;
};
[[nodiscard]] const List<MembershipOf>& own_membership_list();
[[nodiscard]] const List<CreatorHold>& own_hold_list();

/// Returns one creator with the sums of the last twelve months, or kNotFound.
/// @param creator  Any of the creator's ids.
[[nodiscard]] Result<Json> creator_object(LedgerReader& ledger, AccountNumber account,
                                          const AccountId& account_id, const CreatorId& creator,
                                          Timestamp now);

/// A hold on a creator or on an order; what it does not name is empty.
struct HoldOf {
    const AccountId& account_id;
    std::string_view shop{}, order{};
    std::string_view creator{};  ///< As shown.
    std::string_view program{}, actor;
    std::optional<Timestamp> held_at;
    std::string_view reason;
};
[[nodiscard]] const List<HoldOf>& hold_list();
/// Lists the holds on creators, then those on orders.
/// @param creator  First id of the only creator, or nothing.
void write_holds(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                 const std::optional<CreatorId>& creator, RowOutput& out);

/// Creators with their payees.
[[nodiscard]] const PlainList& payee_list();
[[nodiscard]] const PlainList& payee_change_list();

}  // namespace sluice::lists
