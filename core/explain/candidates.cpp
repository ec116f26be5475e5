#include <algorithm>
#include <span>
#include <utility>

#include "core/explain/evidence.hpp"
#include "core/explain/explain.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/code_book.hpp"

namespace sluice {
namespace {

constexpr std::size_t kClicksShownMax = 10;  ///< In one program.
constexpr std::size_t kCodesShownMax = 100;

std::string verdict_words(CandidateVerdict verdict) {
    switch (verdict) {
        case CandidateVerdict::kWon:
            return "won";
        case CandidateVerdict::kSameCreator:
            return "points to the same creator";
        case CandidateVerdict::kLaterCode:
            return "lost: an earlier code of the order counts";
        case CandidateVerdict::kLowerPrecedence:
            return "lost: the program's precedence puts the other type first";
        case CandidateVerdict::kClickBelowCode:
            return "lost: between programs a code beats a click";
        case CandidateVerdict::kOlderClick:
            return "lost: another program's click is later";
        case CandidateVerdict::kHigherProgramId:
            return "lost: a tie goes to the lowest program id";
    }
    return "lost";
}

std::string code_source(const std::string& code) {
    return "code " + code;
}

std::string click_source(Timestamp at, const LinkId& link) {
    return "click of " + at.to_string() + (link.empty() ? "" : " on link " + link.str());
}

std::string fault_or_none(const std::optional<CauseFound>& fault) {
    return fault ? fault_words(*fault) : "counts from the next try on";
}

void add_codes_now(std::vector<ExplainedCandidate>& out, const OrderState& order,
                   EvidenceJudge& judge, LedgerReader& ledger) {
    const std::size_t shown = std::min(order.codes.size(), kCodesShownMax);
    for (const std::string& code : std::span(order.codes).first(shown)) {
        bool owned = false;
        for (const CodeRow& owner : ledger.code_owners(order.key.account, code_digest(code))) {
            for (const ProgramRow& row : judge.programs()) {
                if (row.program.id == owner.program && !owns_nothing(owner)) {
                    owned = true;
                    out.push_back({AttributionType::kAffiliateCode, code_source(code),
                                   owner.program.str(),
                                   shown_id(ledger, owner.account, owner.creator).str(), false,
                                   fault_or_none(judge.code_fault(owner, row))});
                }
            }
        }
        if (!owned) {
            out.push_back({AttributionType::kAffiliateCode, code_source(code), "", "", false,
                           "does not count: no creator of the account owns it"});
        }
    }
    if (shown < order.codes.size()) {
        out.push_back({AttributionType::kAffiliateCode,
                       std::to_string(order.codes.size() - shown) + " more codes", "", "", false,
                       "not looked up: " + std::to_string(kCodesShownMax) + " are shown"});
    }
}

void add_clicks_now(std::vector<ExplainedCandidate>& out, const OrderState& order,
                    EvidenceJudge& judge, LedgerReader& ledger) {
    if (!order.device) {
        return;
    }
    for (const ProgramRow& row : judge.programs()) {
        std::vector<Click> clicks;
        ledger.visit_clicks(order.key.account, *order.device, row.program.id, kEndOfTime,
                            [&clicks](const Click& click) {
                                clicks.push_back(click);
                                return clicks.size() < kClicksShownMax;
                            });
        for (const Click& click : clicks) {
            out.push_back(
                {AttributionType::kLanded, click_source(click.occurred_at, click.link),
                 click.program.str(), shown_id(ledger, click.account, click.creator).str(), false,
                 fault_or_none(judge.click_fault(click, row)), click.occurred_at, click.link});
        }
    }
}

bool was_candidate(const Attribution& attribution, const Click& click) {
    return std::ranges::any_of(attribution.candidates, [&click](const Candidate& candidate) {
        return candidate.type == AttributionType::kLanded &&
               candidate.clicked_at == click.occurred_at && candidate.program == click.program &&
               candidate.creator == click.creator;
    });
}

/// Adds clicks within the window that came after the order was attributed, which change nothing.
/// One that was a candidate came before it, whatever a clock said.
void add_later_clicks(std::vector<ExplainedCandidate>& out, const OrderState& order,
                      LedgerReader& ledger) {
    if (!order.device) {
        return;
    }
    for (const ProgramRow& row : ledger.programs(order.key.account)) {
        std::vector<Click> clicks;
        ledger.visit_clicks(
            order.key.account, *order.device, row.program.id, order.ordered_at,
            [&](const Click& click) {
                if (click.occurred_at < row.program.window_start(order.ordered_at)) {
                    return false;
                }
                if (click.received_at > order.position()->attribution.at &&
                    !was_candidate(order.position()->attribution, click)) {
                    clicks.push_back(click);
                }
                return clicks.size() < kClicksShownMax;
            });
        for (const Click& click : clicks) {
            out.push_back(
                {AttributionType::kLanded, click_source(click.occurred_at, click.link),
                 click.program.str(), shown_id(ledger, click.account, click.creator).str(), false,
                 "recorded after the order was attributed", click.occurred_at, click.link});
        }
    }
}

}  // namespace

std::vector<ExplainedCandidate> candidates_then(const OrderState& order, LedgerReader& ledger) {
    std::vector<ExplainedCandidate> out;
    for (const Candidate& candidate : order.position()->attribution.candidates) {
        const bool is_click = candidate.type != AttributionType::kAffiliateCode;
        std::string source = is_click ? click_source(candidate.clicked_at, candidate.link)
                                      : code_source(candidate.code);
        out.push_back(
            {candidate.type, std::move(source), candidate.program.str(),
             shown_id(ledger, order.key.account, candidate.creator).str(),
             candidate.verdict == CandidateVerdict::kWon, verdict_words(candidate.verdict),
             is_click ? std::optional(candidate.clicked_at) : std::nullopt, candidate.link});
    }
    add_later_clicks(out, order, ledger);
    return out;
}

std::vector<ExplainedCandidate> candidates_now(const OrderState& order, LedgerReader& ledger) {
    std::vector<ExplainedCandidate> out;
    EvidenceJudge judge(ledger, order);
    add_codes_now(out, order, judge, ledger);
    add_clicks_now(out, order, judge, ledger);
    return out;
}

}  // namespace sluice
