#include "worker/finance/payable.hpp"

#include "core/approvals/subject.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/soundness.hpp"

namespace sluice::cli {

Status check_states(const std::vector<Payout>& payouts) {
    for (const Payout& payout : payouts) {
        if (payout.state != PayoutState::kApproved) {
            const bool sent = payout.state == PayoutState::kSent;
            return Error{ErrorCode::kConflict,
                         "payout " + payout.payout_id + " is " +
                             std::string(to_string(payout.state)) +
                             (sent ? ": to write its message again name it with --again"
                                   : ": expected APPROVED")};
        }
    }
    return Status::success();
}

Status check_payee(LedgerReader& ledger, const Payout& payout, const std::string& creator) {
    CreatorRow profile{payout.account, payout.creator, {}, {}, {}};
    static_cast<void>(ledger.load(profile));
    const std::string where = "payout " + payout.payout_id + ": ";
    const std::string repoint = "`sluice payout repoint " + payout.payout_id + "`";
    if (payout.payee.empty() && profile.payee.empty()) {
        return Error{ErrorCode::kInvalid, where + "creator " + creator +
                                              " has no payee; `sluice creator set " + creator +
                                              " --payee`, then " + repoint};
    }
    if (payout.payee != profile.payee) {
        return Error{ErrorCode::kConflict, where + "it was closed for payee " +
                                               (payout.payee.empty() ? "(none)" : payout.payee) +
                                               ", and creator " + creator + " has payee " +
                                               (profile.payee.empty() ? "(none)" : profile.payee) +
                                               " now; " + repoint +
                                               " moves it, and it must be approved again"};
    }
    const auto damage = damage_of(payout, ledger);
    return damage ? Status(DamagedRow(row_name(payout), *damage, std::nullopt).error())
                  : Status::success();
}

}  // namespace sluice::cli
