#include "core/rules/creator_names.hpp"

namespace sluice {

CreatorId first_id(LedgerReader& ledger, AccountNumber account, const CreatorId& given) {
    CreatorAlias alias{account, given, {}};
    return ledger.load(alias) ? alias.creator : given;
}

CreatorId shown_id(LedgerReader& ledger, AccountNumber account, const CreatorId& first) {
    CreatorRow row{account, first, {}, {}, {}};
    return ledger.load(row) && !row.shown_as.empty() ? row.shown_as : first;
}

}  // namespace sluice
