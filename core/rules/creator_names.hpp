// Creator names: a creator that was renamed may be called by any of its ids (books J4).
#pragma once

#include "core/ledger/ledger.hpp"

namespace sluice {

/// The first id of a creator that may be called by a later one.
[[nodiscard]] CreatorId first_id(LedgerReader& ledger, AccountNumber account,
                                 const CreatorId& given);
/// What reports call a creator.
[[nodiscard]] CreatorId shown_id(LedgerReader& ledger, AccountNumber account,
                                 const CreatorId& first);
/// What they called it until then, by accounting date: a month that is closed keeps that name.
[[nodiscard]] CreatorId shown_id_until(LedgerReader& ledger, AccountNumber account,
                                       const CreatorId& first, Timestamp until);

}  // namespace sluice
