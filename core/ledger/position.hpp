// Position: one creator's share of one order under one program (rules J1, A3, M3, P1).
//
// Plain values without behaviour; they own their bytes. Money that is owed is a Decimal with
// exactly the currency's minor digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/programs/program.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

inline constexpr Decimal kNoFactor{1, 0};

/// A frozen rate, and the rule by which it was found. `rule` is the index in that version's rules.
struct FrozenRate {
    Rate rate{};  ///< With the factor.
    BaseKind base = BaseKind::kNet;
    RuleMatch match = RuleMatch::kDefault;
    std::uint32_t program_version = 0;
    std::uint32_t rule = 0;  ///< Meaningless for kDefault and when rate.kind is kNone.
    /// The tier that gave the rate, in the file's order. No value means the rule's own rate (M4).
    std::optional<std::uint8_t> tier{};
    Decimal factor = kNoFactor;  ///< By which the rule's rate was multiplied.
    /// kPerOrder: index, in Position::frozen, of the line whose rule was the same one first; that
    /// line's amount is shared by them all (M4).
    std::uint32_t shared_with = 0;
    friend bool operator==(const FrozenRate&, const FrozenRate&) = default;
};

/// A line's rate, frozen when the position first saw the line.
struct FrozenLine {
    LineItemId line;
    FrozenRate rate;
};

enum class CandidateVerdict : std::uint8_t {
    kWon = 1,
    kSameCreator = 2,      ///< Also points to the creator who won.
    kLaterCode = 3,        ///< An earlier code of the order won.
    kLowerPrecedence = 4,  ///< The program's precedence puts the other type first.
    kClickBelowCode = 5,   ///< Between programs a code beats a click.
    kOlderClick = 6,       ///< Another program's click is later.
    kHigherProgramId = 7,  ///< A tie: the lower program id won.
};

/// A candidate for an order at the moment it was attributed.
struct Candidate {
    AttributionType type = AttributionType::kAffiliateCode;
    ProgramId program;
    CreatorId creator;
    /// kAffiliateCode: the code as the order had it then. A later payload may have other codes.
    std::string code{};
    Timestamp clicked_at{};  ///< kLanded.
    CandidateVerdict verdict = CandidateVerdict::kWon;
    LinkId link{};  ///< kLanded: of the click; may be empty.
    /// kAffiliateCode: index in the order's codes, while the winner is chosen. Not stored.
    std::uint32_t place = 0;
};

struct Attribution {
    ProgramId program;
    CreatorId creator;
    std::uint8_t types = 0;    ///< Bits of AttributionType that pointed to the creator.
    SequenceNumber cause{};    ///< The input that attributed: an event, or a command.
    std::string command_id{};  ///< The command's id. Empty for an event.
    Topic cause_topic = Topic::kOrderCreate;
    Timestamp at{};                       ///< Time of receipt of that input.
    std::vector<Candidate> candidates{};  ///< At most kCandidatesMax are kept, the winner first.
};
inline constexpr std::size_t kCandidatesMax = 16;

/// Facts that are frozen for the whole order when the position is made (M3).
struct FrozenFacts {
    /// No value if the program had no tiers. If they apply to the month, the volume when a line got
    /// its tier last.
    std::optional<Money> volume{};
    CustomerKind customer = CustomerKind::kUnknown;
    std::string group{};      ///< The creator's group in the program. May be empty.
    std::vector<Money> caps;  ///< `max_per_order`, at most one per currency.
};

/// The accrued and allocated amounts of one line in one currency. An empty line means entered by
/// hand.
struct LineAccrual {
    LineItemId line;
    Currency currency;
    Decimal accrued;                ///< The sum of its expense -> owed postings.
    Decimal allocated;              ///< The sum of its items in active payouts.
    std::uint64_t first_entry = 0;  ///< The first posting, on the node that wrote it.
};

/// A payout to which some of the position was allocated. One row per payout, for ever.
struct PositionPayout {
    std::string payout_id;
    Currency currency;
    Decimal amount;      ///< Sum of its items of the position.
    Decimal commission;  ///< The part of `amount` in items of kind COMMISSION.
    /// One of the items is of kind COMMISSION, so that the payout decides the order's status, also
    /// if they add up to 0.
    bool has_commission = false;
    bool active = true;  ///< Not VOID, FAILED, RETURNED.
};

struct Position {
    Attribution attribution{};
    FrozenFacts facts;
    std::vector<FrozenLine> frozen{};  ///< In the order of freezing.
    /// At most one per line and currency, in the order of posting.
    std::vector<LineAccrual> accruals{};
    std::vector<PositionPayout> payouts{};
    /// The latest accounting date of its postings. Accrued before a later instant is accrued now.
    Timestamp last_posted{};
};

}  // namespace sluice
