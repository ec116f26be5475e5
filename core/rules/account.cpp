#include "core/rules/account.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr std::uint32_t kBlockingByDefault =
    bit(AnomalyKind::kVersionInFuture) | bit(AnomalyKind::kCancelWithoutCancelledAt) |
    bit(AnomalyKind::kCancelNotLater) | bit(AnomalyKind::kRefundIdReused) |
    bit(AnomalyKind::kLinesExceedAmount) | bit(AnomalyKind::kCommissionExceedsBase) |
    bit(AnomalyKind::kAmountAboveLimit) | bit(AnomalyKind::kOrderedInFuture) |
    bit(AnomalyKind::kCurrencyChanged) | bit(AnomalyKind::kCreditedOrder) |
    bit(AnomalyKind::kDebtWrittenOff);

}  // namespace

AccountSettings account_settings(LedgerReader& ledger, AccountNumber account) {
    AccountSettings settings;
    settings.row.account = account;
    if (!ledger.load(settings.row)) {
        settings.row = AccountRow{};
        settings.row.account = account;
    }
    if (!settings.row.policy.empty()) {
        std::optional<Policy> policy = decode_policy(settings.row.policy);
        if (!policy) {
            throw LedgerFailure(
                {ErrorCode::kCorrupt,
                 "ledger: the policy of account " + settings.row.account_id.str() + " is damaged"});
        }
        settings.policy = *std::move(policy);
    }
    settings.blocking = blocking_kinds(settings.policy);
    return settings;
}

std::uint32_t blocking_kinds(const Policy& policy) {
    if (!policy.blocking) {
        return kBlockingByDefault;
    }
    std::uint32_t kinds = 0;
    for (const std::string& name : *policy.blocking) {
        if (const std::optional<AnomalyKind> kind = parse_name<AnomalyKind>(name)) {
            kinds |= bit(*kind);
        }
    }
    return kinds;
}

const ProgramRow* ProgramsByName::find(const ProgramId& id) {
    const auto [found, added] = rows_.try_emplace(id.str());
    if (added) {
        found->second = ledger_.program(id);
    }
    return found->second ? &*found->second : nullptr;
}

CreatorId first_id(LedgerReader& ledger, AccountNumber account, const CreatorId& given) {
    CreatorAlias alias{account, given, {}};
    return ledger.load(alias) ? alias.creator : given;
}

CreatorId shown_id(LedgerReader& ledger, AccountNumber account, const CreatorId& first) {
    CreatorRow row{account, first, {}, {}, {}};
    return ledger.load(row) && !row.shown_as.empty() ? row.shown_as : first;
}

CreatorId shown_id_until(LedgerReader& ledger, AccountNumber account, const CreatorId& first,
                         Timestamp until) {
    if (shown_id(ledger, account, first) == first) {
        return first;  // never renamed, because an id is not used again
    }
    CreatorId shown = first;
    ledger.scan_creator_journal(account, first, kFirstInstant, until,
                                [&](const JournalGroup& group) {
                                    for (const JournalEntry& entry : group.entries) {
                                        if (entry.reason == JournalReason::kMemoRenamed) {
                                            shown = CreatorId(entry.line.str());
                                        }
                                    }
                                });
    return shown;
}

bool is_held(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
             const ProgramId& program) {
    CreatorHold all{account, creator, ProgramId()};
    CreatorHold one{account, creator, program};
    return ledger.load(all) || ledger.load(one);
}

}  // namespace sluice
