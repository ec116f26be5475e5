#include "worker/finance/bank_match.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/reports/names.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/finance/kept_export.hpp"

namespace sluice::cli {
namespace {

/// Whether the text has the form of a payout id: P260131140509-7KQ4M9-0001.
bool looks_like_payout_id(std::string_view text) {
    constexpr std::size_t kBytesMin = 22, kBytesMax = 35, kTimeEnd = 13;
    return text.size() >= kBytesMin && text.size() <= kBytesMax && text.front() == 'P' &&
           text[kTimeEnd] == '-' && parse_admin_id(text).ok();
}

/// Judges lines against the payouts, which change state in the memory of this object alone. Settled
/// lines come first, because a file may report the return before the payment.
class BankMatcher {
public:
    BankMatcher(LedgerReader& ledger, AccountNumber account, const AccountId& account_id)
        : ledger_(ledger), names_(ledger), account_(account), account_id_(account_id) {}

    std::vector<JudgedLine> judge(const BankFile& file);

private:
    /// A payment of a payout that the bank posted.
    struct Posting {
        std::string bank_ref;
        std::uint64_t entry = 0;  ///< 0 if another file reported it.
    };

    [[nodiscard]] std::vector<BankLine> listed(const BankFile& file);
    void list_message(const BankLine& line, const std::set<std::string>& named,
                      std::vector<BankLine>& lines);
    JudgedLine judge(const BankLine& line);
    JudgedLine judge_unmatched(const BankLine& line, const Payout* payout);
    void judge_state(JudgedLine& judged);
    void judge_again(JudgedLine& judged);
    [[nodiscard]] std::optional<Posting> stored_posting(const Payout& payout);
    [[nodiscard]] Payout* find(const std::string& id);

    LedgerReader& ledger_;
    reports::CreatorNames names_;
    AccountNumber account_;
    AccountId account_id_;
    std::map<std::string, Payout> payouts_;
    std::map<std::string, Posting> postings_;  ///< By payout.
};

std::vector<JudgedLine> BankMatcher::judge(const BankFile& file) {
    const std::vector<BankLine> lines = listed(file);
    std::vector<JudgedLine> all(lines.size());
    for (const bool settled : {true, false}) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((lines[i].event == BankEvent::kSettled) == settled) {
                all[i] = judge(lines[i]);
            }
        }
    }
    return all;
}

Payout* BankMatcher::find(const std::string& id) {
    const auto known = payouts_.find(id);
    if (known != payouts_.end()) {
        return &known->second;
    }
    Payout payout;
    payout.payout_id = id;
    return looks_like_payout_id(id) && ledger_.load(payout)
               ? &payouts_.emplace(id, std::move(payout)).first->second
               : nullptr;
}

// ---- A status of a whole message ----------------------------------------------------------------

std::vector<BankLine> BankMatcher::listed(const BankFile& file) {
    std::set<std::string> named;
    for (const BankLine& line : file.lines) {
        named.insert(line.end_to_end_id);
    }
    std::vector<BankLine> lines;
    for (const BankLine& line : file.lines) {
        if (line.of) {
            list_message(line, named, lines);
        } else {
            lines.push_back(line);
        }
    }
    return lines;
}

/// Lists the payouts of the message, if the numbers that the bank repeats are those of the message.
/// Its one payment information has the id of the message.
void BankMatcher::list_message(const BankLine& line, const std::set<std::string>& named,
                               std::vector<BankLine>& lines) {
    const OriginalMessage& of = *line.of;
    const std::vector<Payout> payouts = of.message_id.empty()
                                            ? std::vector<Payout>()
                                            : payouts_of_message(ledger_, account_, of.message_id);
    const bool is_part = !of.payment_info_id.empty() && of.payment_info_id != of.message_id;
    BankLine whole = line;
    if (payouts.empty() || is_part) {
        whole.note = "account " + account_id_.str() + " has sent no message " + of.message_id +
                     (is_part ? " with the payment information " + of.payment_info_id : "");
        lines.push_back(std::move(whole));
        return;
    }
    Decimal sum = zero_amount(payouts.front().currency);
    for (const Payout& payout : payouts) {
        sum += payout.amount;
    }
    const std::optional<Decimal> stated = Decimal::parse(of.sum);
    if ((!of.transactions.empty() && of.transactions != std::to_string(payouts.size())) ||
        (!of.sum.empty() && stated != sum)) {
        whole.note = "message " + of.message_id + " has " + std::to_string(payouts.size()) +
                     " payouts and the sum " + sum.to_string() + ", the bank states " +
                     (of.transactions.empty() ? "no number" : of.transactions) + " and " +
                     (of.sum.empty() ? "no sum" : of.sum);
        lines.push_back(std::move(whole));
        return;
    }
    for (const Payout& payout : payouts) {
        if (!named.contains(payout.payout_id)) {
            BankLine one = line;
            one.of.reset();
            one.end_to_end_id = payout.payout_id;
            one.amount = Money{payout.currency, payout.amount};
            lines.push_back(std::move(one));
        }
    }
}

// ---- One payment --------------------------------------------------------------------------------

std::string text_of(const std::optional<Money>& money) {
    return money ? to_string(*money) : "no amount";
}

/// Whether the line's amount is the payout's, as it is or after the fees that the line states.
bool has_amount_of(const BankLine& line, const Payout& payout) {
    if (!line.amount) {
        return false;
    }
    if (line.amount->currency != payout.currency) {
        return line.instructed == Money{payout.currency, payout.amount};
    }
    Decimal fees = zero_amount(payout.currency);
    for (const Money& fee : line.fees) {
        fees += fee.currency == payout.currency ? fee.amount : zero_amount(payout.currency);
    }
    const Decimal before = line.event == BankEvent::kReturned ? line.amount->amount + fees
                                                              : line.amount->amount - fees;
    return line.amount->amount == payout.amount || before == payout.amount;
}

JudgedLine BankMatcher::judge_unmatched(const BankLine& line, const Payout* payout) {
    JudgedLine judged{line};
    judged.note = line.note;
    judged.needs_person =
        line.of || (payout == nullptr && looks_like_payout_id(line.end_to_end_id));
    if (!line.of && !line.end_to_end_id.empty()) {
        judged.note = payout != nullptr
                          ? "payout " + line.end_to_end_id + " belongs to another account than " +
                                account_id_.str()
                          : "account " + account_id_.str() + " has no payout " + line.end_to_end_id;
    } else if (judged.note.empty()) {
        judged.note = "no end-to-end id";
    }
    return judged;
}

JudgedLine BankMatcher::judge(const BankLine& line) {
    const Payout* payout = find(line.end_to_end_id);
    if (payout == nullptr || payout->account != account_) {
        return judge_unmatched(line, payout);
    }
    JudgedLine judged{line};
    judged.note = line.note;
    judged.payout = *payout;
    judged.creator = names_.shown(account_, payout->creator).str();
    if (line.event == BankEvent::kPending || line.event == BankEvent::kUnclear) {
        judged.needs_person = line.event == BankEvent::kUnclear;
        judged.outcome = judged.needs_person ? BankOutcome::kDiffers : BankOutcome::kPending;
        return judged;
    }
    if (!has_amount_of(line, *payout)) {
        judged.outcome = BankOutcome::kDiffers;
        judged.needs_person = true;
        judged.note = "payout " + payout->payout_id + " is " +
                      to_string(Money{payout->currency, payout->amount}) + ", the bank states " +
                      text_of(line.amount);
        return judged;
    }
    judge_state(judged);
    return judged;
}

/// Decides which command fits the state of the payout, and whether it was recorded before.
void BankMatcher::judge_state(JudgedLine& judged) {
    Payout& payout = payouts_.at(judged.payout->payout_id);
    const PayoutState state = payout.state;
    const bool can_be_paid = state == PayoutState::kApproved || state == PayoutState::kSent;
    const bool was_paid = state == PayoutState::kPaid || state == PayoutState::kReturned;
    PayoutState to = state;
    switch (judged.line.event) {
        case BankEvent::kSettled:
            to = can_be_paid ? PayoutState::kPaid : state;
            judged.outcome = was_paid ? BankOutcome::kKnown : BankOutcome::kDiffers;
            break;
        case BankEvent::kReturned:
            to = state == PayoutState::kPaid   ? PayoutState::kReturned
                 : state == PayoutState::kSent ? PayoutState::kFailed
                                               : state;
            judged.outcome = state == PayoutState::kReturned || state == PayoutState::kFailed
                                 ? BankOutcome::kKnown
                                 : BankOutcome::kDiffers;
            break;
        default:
            to = state == PayoutState::kSent ? PayoutState::kFailed : state;
            judged.outcome =
                state == PayoutState::kFailed ? BankOutcome::kKnown : BankOutcome::kDiffers;
    }
    if (to != state) {
        judged.outcome = BankOutcome::kMoved;
        judged.verb = to == PayoutState::kPaid       ? PayoutVerb::kSettle
                      : to == PayoutState::kReturned ? PayoutVerb::kReturned
                                                     : PayoutVerb::kFailed;
        payout.state = to;
        payout.bank_ref = judged.line.bank_ref;
        if (judged.line.event == BankEvent::kSettled && judged.line.entry != 0) {
            postings_[payout.payout_id] = {judged.line.bank_ref, judged.line.entry};
        }
    } else if (judged.outcome == BankOutcome::kKnown) {
        judged.note = "recorded before";
        if (judged.line.event == BankEvent::kSettled && judged.line.entry != 0) {
            judge_again(judged);
        }
    } else {
        judged.needs_person = true;
        judged.note = "payout " + payout.payout_id + " is " + std::string(to_string(state)) +
                      ", so the bank's report does not fit";
    }
}

/// Returns the payment of a settled payout as an earlier file reported it, or as a person recorded
/// it. A pain.002 names no posting. A payout that was returned has the reference of the return.
std::optional<BankMatcher::Posting> BankMatcher::stored_posting(const Payout& payout) {
    if (payout.state != PayoutState::kPaid || payout.bank_ref.empty()) {
        return std::nullopt;
    }
    bool is_posting = true;
    ledger_.scan_creator_journal(payout.account, payout.creator, payout.closed_at, kEndOfTime,
                                 [&](const JournalGroup& group) {
                                     if (group.payout_id == payout.payout_id &&
                                         group.entries.front().reason == JournalReason::kSettle) {
                                         is_posting =
                                             !group.note.starts_with("bank import pain.002");
                                     }
                                     return true;
                                 });
    return is_posting ? std::optional(Posting{payout.bank_ref, 0}) : std::nullopt;
}

/// A second payment of a payout is no repetition. Two postings of one file are one payment only if
/// the bank gives both the same reference, in different entries.
void BankMatcher::judge_again(JudgedLine& judged) {
    const Payout& payout = *judged.payout;
    const BankLine& line = judged.line;
    auto known = postings_.find(payout.payout_id);
    if (known == postings_.end()) {
        const std::optional<Posting> stored = stored_posting(payout);
        if (!stored || !line.is_posting_ref || stored->bank_ref == line.bank_ref) {
            postings_.emplace(payout.payout_id, Posting{line.bank_ref, line.entry});
            return;
        }
        known = postings_.emplace(payout.payout_id, *stored).first;
    }
    const Posting& first = known->second;
    const bool in_file = first.entry != 0;
    const bool is_repeated = in_file ? !line.bank_ref.empty() && first.bank_ref == line.bank_ref &&
                                           first.entry != line.entry
                                     : !line.is_posting_ref || first.bank_ref == line.bank_ref;
    if (is_repeated) {
        return;
    }
    judged.outcome = BankOutcome::kDiffers;
    judged.needs_person = true;
    judged.note = "payout " + payout.payout_id + " is paid twice" +
                  (in_file ? " in this file" : "") + ", with the references " +
                  (first.bank_ref.empty() ? "(none)" : first.bank_ref) + " and " +
                  (line.bank_ref.empty() ? "(none)" : line.bank_ref);
}

}  // namespace

std::vector<JudgedLine> judge_bank_file(LedgerReader& ledger, AccountNumber account,
                                        const AccountId& account_id, const BankFile& file) {
    return BankMatcher(ledger, account, account_id).judge(file);
}

}  // namespace sluice::cli
