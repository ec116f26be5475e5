#include "core/explain/cause.hpp"

#include <array>
#include <utility>

#include "core/explain/evidence.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/code_book.hpp"
#include "core/statements/statements.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

constexpr std::size_t kClicksReadMax = 1000;  ///< In one program.

constexpr std::array<std::string_view, 35> kNames{
    "BEHIND",        "SHOP_SILENT",   "NOT_ARRIVED",   "TAKEN_BACK",       "CANCELLED",
    "REFUNDED",      "EARNS_NOTHING", "CHECKED",       "PENDING",          "READY",
    "ON_ITS_WAY",    "PAID",          "OTHER_CODE",    "OTHER_CLICK",      "OTHER_TYPE",
    "OTHER_PROGRAM", "OTHER_EARLIER", "NOT_COUNTED",   "CANCELLED_BEFORE", "WAITING",
    "CODE_NOT_YET",  "CODE_ENDED",    "CLICK_AFTER",   "CLICK_OLD",        "CLICK_UNTIMELY",
    "NOT_MEMBER",    "MEMBER_LATER",  "PROGRAM_LATER", "PROGRAM_ENDED",    "BEFORE_OPENING",
    "NOT_COVERED",   "CODES_ONLY",    "LINKS_ONLY",    "NO_DEVICE",        "NO_TRACE"};

/// A code or click of hers. Without `fault` it would have counted alone.
struct Evidence {
    AttributionType type = AttributionType::kAffiliateCode;
    ProgramId program;
    std::string code{};  ///< As folded_code() returns it.
    Timestamp clicked_at{};
    std::optional<CauseFound> fault;
};

/// Finds the codes and clicks of one creator that point to an order.
class Judge {
public:
    Judge(LedgerReader& ledger, const OrderState& order, const CreatorId& creator)
        : ledger_(ledger), order_(order), creator_(creator), judge_(ledger, order) {}

    [[nodiscard]] std::vector<Evidence> evidence() {
        std::vector<Evidence> all;
        for (const ProgramRow& row : judge_.programs()) {
            add_codes(all, row);
            add_click(all, row);
        }
        return all;
    }

private:
    void add_codes(std::vector<Evidence>& all, const ProgramRow& row) {
        for (const std::string& code : order_.codes) {
            std::optional<CodeRow> hers;  // the one that was valid, else the last one before
            for (const CodeRow& owner :
                 ledger_.code_owners(order_.key.account, code_digest(code))) {
                if (owner.program == row.program.id && owner.creator == creator_ &&
                    !owns_nothing(owner) &&
                    (!hers || is_valid_at(owner, order_.ordered_at) ||
                     (!is_valid_at(*hers, order_.ordered_at) &&
                      owner.valid_from <= order_.ordered_at))) {
                    hers = owner;
                }
            }
            if (hers) {
                all.push_back({.program = row.program.id,
                               .code = folded_code(code),
                               .fault = judge_.code_fault(*hers, row)});
            }
        }
    }

    /// Judges her latest click before the order, or the first one after it.
    void add_click(std::vector<Evidence>& all, const ProgramRow& row) {
        if (!order_.device) {
            return;
        }
        std::optional<Click> best;
        std::size_t read = 0;
        ledger_.visit_clicks(order_.key.account, *order_.device, row.program.id, kEndOfTime,
                             [&](const Click& click) {
                                 if (click.creator == creator_) {
                                     best = click;  // of those after the order, the first
                                     return click.occurred_at > order_.ordered_at;
                                 }
                                 return ++read < kClicksReadMax;
                             });
        if (best) {
            all.push_back({.type = AttributionType::kLanded,
                           .program = row.program.id,
                           .clicked_at = best->occurred_at,
                           .fault = judge_.click_fault(*best, row)});
        }
    }

    LedgerReader& ledger_;
    const OrderState& order_;
    const CreatorId& creator_;
    EvidenceJudge judge_;
};

Cause of_verdict(CandidateVerdict verdict) noexcept {
    switch (verdict) {
        case CandidateVerdict::kLaterCode:
            return Cause::kOtherCode;
        case CandidateVerdict::kOlderClick:
            return Cause::kOtherClick;
        case CandidateVerdict::kLowerPrecedence:
        case CandidateVerdict::kClickBelowCode:
            return Cause::kOtherType;
        case CandidateVerdict::kHigherProgramId:
            return Cause::kOtherProgram;
        case CandidateVerdict::kWon:
        case CandidateVerdict::kSameCreator:
            break;
    }
    return Cause::kOtherEarlier;
}

/// Returns why another creator has the order although this code or click would have counted alone.
Cause lost_because(const Attribution& attribution, const Evidence& evidence,
                   const CreatorId& creator) {
    for (const Candidate& candidate : attribution.candidates) {
        if (candidate.type != evidence.type || candidate.program != evidence.program) {
            continue;
        }
        if (candidate.creator == creator && folded_code(candidate.code) == evidence.code) {
            return of_verdict(candidate.verdict);
        }
        // The attribution names only the last one of a program's clicks.
        if (evidence.type == AttributionType::kLanded &&
            candidate.clicked_at > evidence.clicked_at) {
            return Cause::kOtherClick;
        }
    }
    return Cause::kOtherEarlier;
}

CauseFound cause_of_hers(LedgerReader& ledger, const OrderState& order, const Position& position,
                         Timestamp now) {
    if (order.position() != &position || order.has(kOrderRejected)) {
        return {.cause = Cause::kTakenBack, .at = position.last_posted};
    }
    if (order.cancelled_at) {
        return {.cause = Cause::kCancelled, .at = order.cancelled_at};
    }
    const Money commission = commission_amount(order);
    if (commission.amount.is_zero()) {
        return {.cause = order.refunds.empty() ? Cause::kEarnsNothing : Cause::kRefunded};
    }
    CauseFound found{.commission = commission};
    OrderJudge judge(ledger);
    const std::string_view status = judge.status(order, now);
    found.cause = status == "blocked"     ? Cause::kChecked
                  : status == "pending"   ? Cause::kPending
                  : status == "in_payout" ? Cause::kOnItsWay
                  : status == "paid"      ? Cause::kPaid
                                          : Cause::kReady;
    if (found.cause == Cause::kChecked) {
        found.at = judge.blocked_since(order);
    }
    const auto program = ledger.program(position.attribution.program);
    if (found.cause == Cause::kPending && program) {
        found.at = program->program.clears_at(order.ordered_at);
    }
    return found;
}

const Position* position_of(const OrderState& order, const CreatorId& creator) {
    const Position* const live = order.position();
    if (live != nullptr && live->attribution.creator == creator) {
        return live;
    }
    return find_where(order.positions, [&creator](const Position& position) {
        return position.attribution.creator == creator;
    });
}

}  // namespace

std::string_view to_string(Cause cause) noexcept {
    return kNames.at(static_cast<std::size_t>(cause));
}

bool is_or_was_of(const OrderState& order, const CreatorId& creator) {
    return position_of(order, creator) != nullptr;
}

bool has_code_of(LedgerReader& ledger, const OrderState& order, const CreatorId& creator) {
    for (const std::string& code : order.codes) {
        bool is_hers = false, was_hers_then = false, was_anothers_then = false;
        for (const CodeRow& owner : ledger.code_owners(order.key.account, code_digest(code))) {
            const bool then = is_valid_at(owner, order.ordered_at);
            is_hers = is_hers || (owner.creator == creator && !owns_nothing(owner));
            was_hers_then = was_hers_then || (then && owner.creator == creator);
            was_anothers_then = was_anothers_then || (then && owner.creator != creator);
        }
        if (was_hers_then || (is_hers && !was_anothers_then)) {
            return true;
        }
    }
    return false;
}

CauseFound find_cause(LedgerReader& ledger, const OrderState& order, const CreatorId& creator,
                      Timestamp now) {
    if (const Position* const hers = position_of(order, creator)) {
        return cause_of_hers(ledger, order, *hers, now);
    }
    const std::vector<Evidence> evidence = Judge(ledger, order, creator).evidence();
    std::optional<CauseFound> lost, fault;
    for (const Evidence& one : evidence) {
        if (one.fault) {
            keep_first(fault, *one.fault);
        } else {
            CauseFound found{
                .cause = order.live ? lost_because(order.position()->attribution, one, creator)
                                    : Cause::kWaiting,
                .program = one.program.str()};
            keep_first(lost, std::move(found));
        }
    }
    if (!order.live && (order.has(kOrderBarred) || order.has(kOrderRejected))) {
        return {.cause = Cause::kNotCounted};
    }
    if (!order.live && order.cancelled_at) {
        return {.cause = Cause::kCancelledBefore, .at = order.cancelled_at};
    }
    const Cause otherwise = order.device ? Cause::kNoTrace : Cause::kNoDevice;
    return lost ? *std::move(lost) : fault ? *std::move(fault) : CauseFound{.cause = otherwise};
}

}  // namespace sluice
