// Statement: one creator's month in an account, by accounting date (books S3).
#pragma once

#include <map>
#include <utility>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// Of the book `owed`, per program and currency: opening + earned + adjusted - paid_out = closing.
struct StatementSums {
    Decimal opening, earned, adjusted, paid_out, closing;
};

struct Statement {
    AccountNumber account;
    CreatorId creator;
    Timestamp from, until;   ///< The month.
    bool is_closed = false;  ///< A closed one is the same bytes for ever.
    std::map<std::pair<ProgramId, Currency>, StatementSums> sums;
};

/// The sums of a month; then `visit` has each of its transfers, by accounting date. Reads the last
/// closed period before the month and the creator's entries since then, from an index.
[[nodiscard]] Statement read_statement(
    LedgerReader& ledger, AccountNumber account, const CreatorId& creator, Timestamp from,
    Timestamp until, const Visitor<std::pair<const JournalGroup*, std::size_t>>& visit);

}  // namespace sluice
