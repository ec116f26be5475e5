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

}  // namespace sluice
