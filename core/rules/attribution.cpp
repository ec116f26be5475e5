#include "core/rules/attribution.hpp"

#include <algorithm>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

std::optional<Timestamp> effective_from_in(const ProgramId& program, std::string_view shop,
                                           LedgerReader& ledger) {
    ProgramShop row{program, std::string(shop), {}};
    return ledger.load(row) ? std::optional(row.effective_from) : std::nullopt;
}

void add_code_candidates(std::vector<Candidate>& candidates, const OrderState& state,
                         const std::vector<Covering>& programs, LedgerReader& ledger) {
    const bool any_uses_codes = std::ranges::any_of(programs, [&state](const Covering& covering) {
        return covering.row->program.uses(AttributionType::kAffiliateCode) &&
               covering.counts_for(state.ordered_at);
    });
    for (std::size_t i = 0; any_uses_codes && i < state.codes.size(); ++i) {
        const std::string& code = state.codes[i];
        for (const CodeRow& owner : ledger.code_owners(state.key.account, code_digest(code))) {
            for (const Covering& covering : programs) {
                const Program& program = covering.row->program;
                if (program.id == owner.program && program.uses(AttributionType::kAffiliateCode) &&
                    covering.counts_for(state.ordered_at) && is_valid_at(owner, state.ordered_at) &&
                    is_member(ledger, state.key.account, owner.program, owner.creator)) {
                    candidates.push_back({.type = AttributionType::kAffiliateCode,
                                          .program = owner.program,
                                          .creator = owner.creator,
                                          .code = code,
                                          .place = static_cast<std::uint32_t>(i)});
                }
            }
        }
    }
}

/// Returns the latest click that counts for the order; of several at one instant, the last
/// imported. A click counts if it lies within the window, and both the click and its creator's
/// membership reach back to the order.
std::optional<Click> latest_click(const OrderState& state, const ProgramRow& program,
                                  LedgerReader& ledger) {
    if (!state.device) {
        return std::nullopt;
    }
    std::optional<Click> best;
    const Timestamp earliest = program.program.window_start(state.ordered_at);
    ledger.visit_clicks(
        state.key.account, *state.device, program.program.id, state.ordered_at,
        [&](const Click& click) {
            if (click.occurred_at < earliest || (best && click.occurred_at < best->occurred_at)) {
                return false;
            }
            const bool later_import = !best || std::pair(click.imported, click.imported_row) >
                                                   std::pair(best->imported, best->imported_row);
            if (later_import) {
                const std::optional<Membership> member =
                    ledger.membership(click.account, click.program, click.creator);
                if (member && !member->removed && member->effective_from <= state.ordered_at &&
                    click.effective_from <= state.ordered_at) {
                    best = click;
                }
            }
            return true;
        });
    return best;
}

void add_click_candidates(std::vector<Candidate>& candidates, const OrderState& state,
                          const std::vector<Covering>& programs, LedgerReader& ledger) {
    for (const Covering& covering : programs) {
        if (!covering.row->program.uses(AttributionType::kLanded) ||
            !covering.counts_for(state.ordered_at)) {
            continue;
        }
        if (std::optional<Click> click = latest_click(state, *covering.row, ledger)) {
            candidates.push_back({.type = AttributionType::kLanded,
                                  .program = click->program,
                                  .creator = click->creator,
                                  .clicked_at = click->occurred_at,
                                  .link = click->link});
        }
    }
}

/// Selects within one program: by its precedence, then the order's first code.
const Candidate* winner_within(const Program& program, const std::vector<Candidate>& candidates) {
    for (const AttributionType type : program.precedence) {
        const Candidate* best = nullptr;
        for (const Candidate& candidate : candidates) {
            if (candidate.program == program.id && candidate.type == type &&
                (best == nullptr || candidate.place < best->place)) {
                best = &candidate;
            }
        }
        if (best != nullptr) {
            return best;
        }
    }
    return nullptr;
}

/// Compares candidates of two programs. Returns nullopt if `a` beats `b`, else why it does not.
std::optional<CandidateVerdict> loses_to(const Candidate& a, const Candidate& b) {
    if (a.type != b.type) {
        return a.type == AttributionType::kAffiliateCode
                   ? std::nullopt
                   : std::optional(CandidateVerdict::kClickBelowCode);
    }
    if (a.type == AttributionType::kAffiliateCode && a.place != b.place) {
        return a.place < b.place ? std::nullopt : std::optional(CandidateVerdict::kLaterCode);
    }
    if (a.type == AttributionType::kLanded && a.clicked_at != b.clicked_at) {
        return a.clicked_at > b.clicked_at ? std::nullopt
                                           : std::optional(CandidateVerdict::kOlderClick);
    }
    return a.program < b.program ? std::nullopt : std::optional(CandidateVerdict::kHigherProgramId);
}

/// Returns why a candidate lost to the winner of its own program.
CandidateVerdict verdict_within(const Candidate& candidate, const Candidate& program_winner) {
    if (candidate.creator == program_winner.creator) {
        return CandidateVerdict::kSameCreator;
    }
    return candidate.type == program_winner.type ? CandidateVerdict::kLaterCode
                                                 : CandidateVerdict::kLowerPrecedence;
}

CandidateVerdict verdict_of(const Candidate& candidate, const Candidate& winner,
                            const std::vector<const Candidate*>& program_winners) {
    if (&candidate == &winner) {
        return CandidateVerdict::kWon;
    }
    if (candidate.program == winner.program) {
        return verdict_within(candidate, winner);
    }
    for (const Candidate* program_winner : program_winners) {
        if (program_winner->program == candidate.program && program_winner != &candidate &&
            program_winner->creator != candidate.creator) {
            return verdict_within(candidate, *program_winner);
        }
    }
    return loses_to(candidate, winner).value_or(CandidateVerdict::kLowerPrecedence);
}

std::uint8_t types_of_winner(const std::vector<Candidate>& candidates, const Candidate& winner) {
    unsigned types = 0;
    for (const Candidate& candidate : candidates) {
        if (candidate.program == winner.program && candidate.creator == winner.creator) {
            types |= static_cast<unsigned>(candidate.type);
        }
    }
    return static_cast<std::uint8_t>(types);
}

}  // namespace

bool is_valid_at(const CodeRow& row, Timestamp at) noexcept {
    return row.valid_from <= at && (!row.valid_until || at < *row.valid_until);
}

bool is_member(LedgerReader& ledger, AccountNumber account, const ProgramId& program,
               const CreatorId& creator) {
    const std::optional<Membership> member = ledger.membership(account, program, creator);
    return member && !member->removed;
}

bool Covering::counts_for(Timestamp ordered_at) const noexcept {
    const Program& program = row->program;
    return !row->precedes_opening(ordered_at) &&
           std::max(effective_from, program.starts_at.value_or(row->first_effective_from)) <=
               ordered_at &&
           (!program.ends_at || ordered_at < *program.ends_at);
}

std::vector<Covering> covering_programs(const std::vector<ProgramRow>& rows,
                                        std::string_view shop_id, LedgerReader& ledger) {
    std::vector<Covering> covering;
    for (const ProgramRow& row : rows) {
        if (!row.program.covers(shop_id)) {
            continue;
        }
        std::optional<Timestamp> effective_from =
            effective_from_in(row.program.id, shop_id, ledger);
        if (!effective_from) {
            effective_from = effective_from_in(row.program.id, kEveryShop, ledger);
        }
        covering.push_back({&row, effective_from.value_or(row.first_effective_from)});
    }
    return covering;
}

std::optional<std::uint32_t> find_position(const OrderState& state, const ProgramId& program,
                                           const CreatorId& creator) {
    for (std::size_t i = 0; i < state.positions.size(); ++i) {
        const Attribution& attribution = state.positions[i].attribution;
        if (attribution.program == program && attribution.creator == creator) {
            return static_cast<std::uint32_t>(i);
        }
    }
    return std::nullopt;
}

std::string type_names(std::uint8_t types) {
    return joined(attribution_type_names(types), "+");
}

std::string folded_code(std::string_view code) {
    return ascii_lower(code);
}

Digest256 code_digest(std::string_view code) {
    // An order's code is looked up and listed: both ask for its digest.
    struct Last {
        std::string code;
        Digest256 digest = sha256({});
    };
    thread_local Last last;
    if (last.code != code) {
        last.digest = sha256(folded_code(code));
        last.code = code;
    }
    return last.digest;
}

bool carries_code(const OrderState& state, const Digest256& code) {
    return std::ranges::any_of(
        state.codes, [&code](const std::string& own) { return code_digest(own) == code; });
}

bool is_through_code(const OrderState& state, const Digest256& code) {
    const std::optional<Coded> coded =
        state.live ? coded_by(state.position()->attribution, state.currency) : std::nullopt;
    return coded && sha256(coded->code) == code;
}

std::optional<Coded> coded_by(const Attribution& attribution, Currency currency) {
    if (attribution.candidates.empty()) {
        return std::nullopt;
    }
    const Candidate& won = attribution.candidates.front();
    if (won.verdict != CandidateVerdict::kWon || won.type != AttributionType::kAffiliateCode) {
        return std::nullopt;
    }
    return Coded{attribution.program, attribution.creator, folded_code(won.code), currency};
}

std::optional<Landed> landed_by(const Attribution& attribution) {
    if ((attribution.types & static_cast<unsigned>(AttributionType::kLanded)) == 0) {
        return std::nullopt;
    }
    Landed landed{attribution.program, attribution.creator};
    for (const Candidate& candidate : attribution.candidates) {
        if (candidate.type == AttributionType::kLanded &&
            candidate.program == attribution.program && candidate.creator == attribution.creator) {
            landed.link = candidate.link;
        }
    }
    return landed;
}

std::vector<WaitKey> wait_keys(const OrderState& state) {
    std::vector<WaitKey> keys;
    if (state.live || state.has(kOrderBarred)) {
        return keys;
    }
    if (state.device) {
        keys.push_back({state.key.account, WaitKind::kAnon, *state.device});
    }
    for (const std::string& code : state.codes) {
        keys.push_back({state.key.account, WaitKind::kCode, code_digest(code)});
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

std::vector<Candidate> find_candidates(const OrderState& state,
                                       const std::vector<Covering>& programs,
                                       LedgerReader& ledger) {
    std::vector<Candidate> candidates;
    add_code_candidates(candidates, state, programs, ledger);
    add_click_candidates(candidates, state, programs, ledger);
    return candidates;
}

std::optional<Attribution> choose(const std::vector<Covering>& programs,
                                  std::vector<Candidate> candidates) {
    std::vector<const Candidate*> program_winners;
    const Candidate* winner = nullptr;
    for (const Covering& covering : programs) {
        const Candidate* within = winner_within(covering.row->program, candidates);
        if (within != nullptr) {
            program_winners.push_back(within);
            winner = winner == nullptr || !loses_to(*within, *winner) ? within : winner;
        }
    }
    if (winner == nullptr) {
        return std::nullopt;
    }
    Attribution attribution{.program = winner->program,
                            .creator = winner->creator,
                            .types = types_of_winner(candidates, *winner)};
    std::vector<CandidateVerdict> verdicts;
    for (const Candidate& candidate : candidates) {
        verdicts.push_back(verdict_of(candidate, *winner, program_winners));
    }
    attribution.candidates = std::move(candidates);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        attribution.candidates[i].verdict = verdicts[i];
    }
    if (verdicts.size() > 1) {
        std::ranges::stable_sort(
            attribution.candidates,
            [](const Candidate& a, const Candidate& b) { return a.verdict < b.verdict; });
    }
    if (attribution.candidates.size() > kCandidatesMax) {
        attribution.candidates.resize(kCandidatesMax);
    }
    return attribution;
}

}  // namespace sluice
