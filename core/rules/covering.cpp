#include "core/rules/covering.hpp"

#include <optional>
#include <string>
#include <utility>

#include "core/commands/program_json.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/plausibility.hpp"

namespace sluice {
namespace {

constexpr std::string_view kEveryShop = "*";

std::optional<Timestamp> reach_of(const ProgramId& program, std::string_view shop,
                                  LedgerReader& ledger) {
    ShopReach row{program, std::string(shop), {}};
    return ledger.load(row) ? std::optional(row.reach) : std::nullopt;
}

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

std::vector<Covering> covering_programs(const std::vector<ProgramRow>& rows,
                                        std::string_view shop_id, LedgerReader& ledger) {
    std::vector<Covering> covering;
    for (const ProgramRow& row : rows) {
        if (!row.program.covers(shop_id)) {
            continue;
        }
        std::optional<Timestamp> reach = reach_of(row.program.id, shop_id, ledger);
        if (!reach) {
            reach = reach_of(row.program.id, kEveryShop, ledger);
        }
        covering.push_back({&row, reach.value_or(row.first_reach)});
    }
    return covering;
}

bool is_held(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
             const ProgramId& program) {
    CreatorHold all{account, creator, ProgramId(), {}, {}, {}};
    CreatorHold one{account, creator, program, {}, {}, {}};
    return ledger.load(all) || ledger.load(one);
}

std::vector<std::string> blocked_by(const OrderState& order, LedgerReader& ledger) {
    std::vector<std::string> blocks;
    if (order.has(kOrderHeld)) {
        blocks.emplace_back("HOLD");
    }
    const Position* position = order.position();
    if (position != nullptr && is_held(ledger, order.key.account, position->attribution.creator,
                                       position->attribution.program)) {
        blocks.emplace_back("CREATOR_HOLD");
    }
    const std::uint32_t open = order.anomalies_showing & ~order.anomalies_acknowledged &
                               account_settings(ledger, order.key.account).blocking;
    for (unsigned number = 1; number < kAnomalyKinds; ++number) {
        const auto kind = static_cast<AnomalyKind>(number);
        if ((open & bit(kind)) != 0) {
            blocks.emplace_back(to_string(kind));
        }
    }
    return blocks;
}

}  // namespace sluice
