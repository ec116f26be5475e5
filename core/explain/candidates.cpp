#include "core/explain/candidates.hpp"

#include <utility>

#include "core/rules/attribution.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTouchesShownMax = 10;  ///< Of one program.
constexpr Timestamp kEndOfTime{253'402'300'800, 0};

std::string verdict_words(CandidateVerdict verdict) {
    switch (verdict) {
        case CandidateVerdict::kWon:
            return "won";
        case CandidateVerdict::kSameCreator:
            return "points to the creator who won, too";
        case CandidateVerdict::kLaterCode:
            return "lost: an earlier code of the order counts";
        case CandidateVerdict::kLowerPrecedence:
            return "lost: the program's precedence puts the other type first";
        case CandidateVerdict::kTouchBelowCode:
            return "lost: between programs a code beats a touch";
        case CandidateVerdict::kOlderTouch:
            return "lost: another program's touch is later";
        case CandidateVerdict::kHigherProgramId:
            return "lost: a tie goes to the lowest program id";
    }
    return "lost";
}

std::string code_source(const std::string& code) {
    return "code " + code;
}

/// A later payload may have brought other codes; the order keeps only the newest.
std::string code_source_then(const OrderState& order, std::uint32_t index) {
    const bool same_codes = order.last_applied <= order.attribution->cause;
    if (same_codes && index < order.codes.size()) {
        return code_source(order.codes[index]);
    }
    return "code no. " + std::to_string(index + 1) + " of the order as it was then";
}

std::string touch_source(Timestamp at) {
    return "touch of " + at.to_string();
}

std::string code_verdict_now(const Program& program, std::string_view shop_id) {
    if (!program.covers(shop_id)) {
        return "does not count: the program does not cover the shop";
    }
    if (!program.uses(AttributionType::kAffiliateCode)) {
        return "does not count: the program's precedence leaves AFFILIATE_CODE out";
    }
    return "counts from the next try on";
}

void add_codes_now(std::vector<ExplainedCandidate>& out, const OrderState& order,
                   std::string_view shop_id, const std::vector<ProgramRow>& programs,
                   LedgerReader& ledger) {
    for (const std::string& code : order.codes) {
        bool owned = false;
        for (const CodeRow& owner : ledger.code_owners(order.key.account, code_digest(code))) {
            for (const ProgramRow& row : programs) {
                if (row.program.id == owner.program) {
                    owned = true;
                    out.push_back({AttributionType::kAffiliateCode, code_source(code),
                                   owner.program.str(), owner.creator.str(), false,
                                   code_verdict_now(row.program, shop_id)});
                }
            }
        }
        if (!owned) {
            out.push_back({AttributionType::kAffiliateCode, code_source(code), "", "", false,
                           "does not count: nobody owns it in a program of the account"});
        }
    }
}

std::string touch_verdict_now(const OrderState& order, const Touch& touch, const Program& program,
                              std::string_view shop_id, LedgerReader& ledger) {
    if (!program.covers(shop_id)) {
        return "does not count: the program does not cover the shop";
    }
    if (!program.uses(AttributionType::kLanded)) {
        return "does not count: the program's precedence leaves LANDED out";
    }
    if (touch.occurred_at > order.ordered_at) {
        return "does not count: after the order";
    }
    if (touch.occurred_at < program.window_start(order.ordered_at)) {
        return "does not count: before the window of " + std::to_string(program.window_days) +
               " days";
    }
    const std::optional<Membership> member =
        ledger.membership(touch.account, touch.program, touch.creator);
    if (!member || member->removed) {
        return "does not count: the creator is not in the program";
    }
    return "counts from the next try on";
}

void add_touches_now(std::vector<ExplainedCandidate>& out, const OrderState& order,
                     std::string_view shop_id, const std::vector<ProgramRow>& programs,
                     LedgerReader& ledger) {
    if (!order.anon) {
        return;
    }
    for (const ProgramRow& row : programs) {
        std::vector<Touch> touches;
        ledger.visit_touches(order.key.account, *order.anon, row.program.id, kEndOfTime,
                             [&touches](const Touch& touch) {
                                 touches.push_back(touch);
                                 return touches.size() < kTouchesShownMax;
                             });
        for (const Touch& touch : touches) {
            out.push_back({AttributionType::kLanded, touch_source(touch.occurred_at),
                           touch.program.str(), touch.creator.str(), false,
                           touch_verdict_now(order, touch, row.program, shop_id, ledger)});
        }
    }
}

}  // namespace

std::vector<ExplainedCandidate> candidates_then(const OrderState& order) {
    std::vector<ExplainedCandidate> out;
    for (const Candidate& candidate : order.attribution->candidates) {
        std::string source = touch_source(candidate.touched_at);
        if (candidate.type == AttributionType::kAffiliateCode) {
            source = code_source_then(order, candidate.code);
        }
        out.push_back({candidate.type, std::move(source), candidate.program.str(),
                       candidate.creator.str(), candidate.verdict == CandidateVerdict::kWon,
                       verdict_words(candidate.verdict)});
    }
    return out;
}

std::vector<ExplainedCandidate> candidates_now(const OrderState& order, std::string_view shop_id,
                                               LedgerReader& ledger) {
    std::vector<ExplainedCandidate> out;
    const std::vector<ProgramRow> programs = ledger.programs(order.key.account);
    add_codes_now(out, order, shop_id, programs, ledger);
    add_touches_now(out, order, shop_id, programs, ledger);
    return out;
}

}  // namespace sluice
