#include "core/lists/names.hpp"

#include "core/commands/ids.hpp"

namespace sluice::lists {

/// Finds an account by its shops, programs or settings.
std::map<AccountNumber, AccountId> account_ids(LedgerReader& ledger) {
    std::map<AccountNumber, AccountId> ids;
    ledger.scan_shops([&ids](const ShopRow& shop) { ids.emplace(shop.account, shop.account_id); });
    ledger.scan_programs([&ids](const ProgramRow& row) {
        ids.emplace(row.program.account, row.program.account_id);
    });
    ledger.scan(AccountRow{}, {},
                [&ids](const AccountRow& row) { ids.emplace(row.account, row.account_id); });
    return ids;
}

std::optional<AccountId> account_of(LedgerReader& ledger, const std::string& id) {
    const auto accounts = account_ids(ledger);
    std::optional<AccountNumber> number;
    Payout payout{.payout_id = id};
    PayoutRun run{.payout_run = id};
    MoneyCommand money, first;
    money.command_id = id;
    if (ledger.load(payout)) {
        number = payout.account;
    } else if (ledger.load(run)) {
        number = run.account;
    } else if (ledger.load(money)) {
        number = money.account;
    } else if (first.command_id = posting_id(id, 1); ledger.load(first)) {
        number = first.account;
    }
    for (const auto& [account, name] : accounts) {
        PendingApproval waiting{.account = account, .command_id = id};
        if (!number && ledger.load(waiting)) {
            number = account;
        }
    }
    ledger.scan(AttributedOrder{id, {}, {}, {}}, {1, 1}, [&number](const AttributedOrder& row) {
        number = row.account;
        return false;
    });
    const auto found = number ? accounts.find(*number) : accounts.end();
    return found == accounts.end() ? std::nullopt : std::optional(found->second);
}

CreatorRow profile_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    CreatorRow row{account, creator, {}, {}, {}};
    return ledger.load(row) ? row : CreatorRow{account, creator, {}, {}, {}};
}

CreatorNames::CreatorNames(LedgerReader& ledger) {
    read(ledger, {}, 0);
}

CreatorNames::CreatorNames(LedgerReader& ledger, AccountNumber account) {
    read(ledger, account, 1);
}

void CreatorNames::read(LedgerReader& ledger, AccountNumber account, unsigned columns) {
    const CreatorAlias first{account, {}, {}};
    ledger.scan(first, {columns, columns}, [this](const CreatorAlias& row) {
        first_[{row.account, row.alias}] = row.creator;
    });
    for (const auto& [alias, creator] : first_) {
        CreatorRow row{alias.first, creator, {}, {}, {}};
        if (ledger.load(row) && !row.shown_as.empty()) {
            shown_[{alias.first, creator}] = row.shown_as;
        }
    }
}

const CreatorId& CreatorNames::shown(AccountNumber account, const CreatorId& first) const {
    const auto found = shown_.find({account, first});
    return found == shown_.end() ? first : found->second;
}

std::vector<CreatorId> CreatorNames::renamed(AccountNumber account) const {
    std::vector<CreatorId> creators;
    for (auto at = shown_.lower_bound({account, CreatorId()});
         at != shown_.end() && at->first.first == account; ++at) {
        creators.push_back(at->first.second);
    }
    return creators;
}

const CreatorId& CreatorNames::first(AccountNumber account, const CreatorId& given) const {
    const auto found = first_.find({account, given});
    return found == first_.end() ? given : found->second;
}

}  // namespace sluice::lists
