#include "core/rules/blocks.hpp"

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/account_settings.hpp"

namespace sluice {

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
