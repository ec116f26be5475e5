#include "core/explain/evidence.hpp"

#include <algorithm>
#include <utility>

#include "core/values/lookup.hpp"

namespace sluice {
namespace {

CauseFound fault_of(Cause cause, const ProgramRow& row,
                    std::optional<Timestamp> at = std::nullopt) {
    return CauseFound{.cause = cause, .at = at, .program = row.program.id.str()};
}

std::string time_words(const CauseFound& fault) {
    return fault.at ? fault.at->to_string() : std::string();
}

}  // namespace

void keep_first(std::optional<CauseFound>& first, CauseFound found) {
    if (!first || found.cause < first->cause) {
        first = std::move(found);
    }
}

EvidenceJudge::EvidenceJudge(LedgerReader& ledger, const OrderState& order)
    : ledger_(ledger),
      order_(order),
      programs_(ledger.programs(order.key.account)),
      covering_(covering_programs(programs_, ledger.shop_id(order.key.shop).view(), ledger)) {}

const Covering* EvidenceJudge::covering_of(const ProgramRow& row) const {
    return find_where(covering_, [&row](const Covering& one) { return one.row == &row; });
}

/// Returns why nothing of the creator counts in the program.
std::optional<CauseFound> EvidenceJudge::program_fault(const ProgramRow& row,
                                                       const CreatorId& creator,
                                                       AttributionType type) {
    std::optional<CauseFound> first;
    const auto member = ledger_.membership(order_.key.account, row.program.id, creator);
    if (!member || member->removed) {
        keep_first(first, fault_of(Cause::kNotMember, row));
    } else if (type == AttributionType::kLanded && member->effective_from > order_.ordered_at) {
        keep_first(first, fault_of(Cause::kMemberLater, row, member->effective_from));
    }
    const Covering* const covering = covering_of(row);
    if (covering == nullptr) {
        keep_first(first, fault_of(Cause::kNotCovered, row));
    } else if (row.precedes_opening(order_.ordered_at)) {
        keep_first(first, fault_of(Cause::kBeforeOpening, row, row.opening_at));
    } else if (row.program.ends_at && order_.ordered_at >= *row.program.ends_at) {
        keep_first(first, fault_of(Cause::kProgramEnded, row, row.program.ends_at));
    } else if (!covering->counts_for(order_.ordered_at)) {
        keep_first(first,
                   fault_of(Cause::kProgramLater, row,
                            std::max(covering->effective_from,
                                     row.program.starts_at.value_or(row.first_effective_from))));
    }
    if (!row.program.uses(type)) {
        keep_first(first, fault_of(type == AttributionType::kLanded ? Cause::kCodesOnly
                                                                    : Cause::kLinksOnly,
                                   row));
    }
    return first;
}

std::optional<CauseFound> EvidenceJudge::code_fault(const CodeRow& owner, const ProgramRow& row) {
    std::optional<CauseFound> first =
        program_fault(row, owner.creator, AttributionType::kAffiliateCode);
    if (!is_valid_at(owner, order_.ordered_at)) {
        const bool is_early = order_.ordered_at < owner.valid_from;
        CauseFound fault = fault_of(is_early ? Cause::kCodeNotYet : Cause::kCodeEnded, row,
                                    is_early ? std::optional(owner.valid_from) : owner.valid_until);
        fault.code = owner.code;
        keep_first(first, std::move(fault));
    }
    return first;
}

std::optional<CauseFound> EvidenceJudge::click_fault(const Click& click, const ProgramRow& row) {
    std::optional<CauseFound> first = program_fault(row, click.creator, AttributionType::kLanded);
    if (click.occurred_at > order_.ordered_at) {
        keep_first(first, fault_of(Cause::kClickAfter, row, click.occurred_at));
    } else if (click.occurred_at < row.program.window_start(order_.ordered_at)) {
        CauseFound fault = fault_of(Cause::kClickOld, row, click.occurred_at);
        fault.days = (order_.ordered_at.seconds - click.occurred_at.seconds) / kSecondsPerDay;
        fault.window = row.program.window_days;
        keep_first(first, std::move(fault));
    } else if (click.effective_from > order_.ordered_at) {
        keep_first(first, fault_of(Cause::kClickUntimely, row, click.effective_from));
    }
    return first;
}

std::string fault_words(const CauseFound& fault) {
    const std::string no = "does not count: ";
    switch (fault.cause) {
        case Cause::kCodeNotYet:
            return no + "it is the creator's from " + time_words(fault);
        case Cause::kCodeEnded:
            return no + "it was the creator's until " + time_words(fault);
        case Cause::kClickAfter:
            return no + "after the order";
        case Cause::kClickOld:
            return no + "before the window of " + std::to_string(fault.window.value_or(0)) +
                   " days";
        case Cause::kClickUntimely:
            return no + "it is effective from " + time_words(fault);
        case Cause::kNotMember:
            return no + "the creator is not in the program";
        case Cause::kMemberLater:
            return no + "the creator's membership is effective from " + time_words(fault);
        case Cause::kProgramLater:
            return no + "the program is effective from " + time_words(fault);
        case Cause::kProgramEnded:
            return no + "the program ended at " + time_words(fault);
        case Cause::kBeforeOpening:
            return no + "ordered before the program's opening balances of " + time_words(fault);
        case Cause::kNotCovered:
            return no + "the program does not cover the shop";
        case Cause::kCodesOnly:
            return no + "the program's precedence leaves LANDED out";
        case Cause::kLinksOnly:
            return no + "the program's precedence leaves AFFILIATE_CODE out";
        default:  // no fault of one code or click
            return no + std::string(to_string(fault.cause));
    }
}

}  // namespace sluice
