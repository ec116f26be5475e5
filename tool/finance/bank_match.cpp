#include "tool/finance/bank_match.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "core/commands/ids.hpp"
#include "core/lists/names.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "tool/bank/schema_values.hpp"
#include "tool/finance/kept_export.hpp"
#include "tool/finance/stored_postings.hpp"

namespace sluice::cli {
namespace {

/// Returns the words of the text that look like payout ids, each once. A bank may break a line
/// within an id: then they are sought in the text without its spaces.
std::vector<std::string> payout_ids_in(std::string text) {
    std::vector<std::string> ids;
    for (const bool without_spaces : {false, true}) {
        if (without_spaces) {
            std::erase_if(text, [](char c) { return without_space({&c, 1}).empty(); });
        }
        for (std::size_t at = text.find('P'); at != std::string::npos;
             at = text.find('P', at + 1)) {
            const std::string_view rest = std::string_view(text).substr(at);
            const std::size_t end = rest.find_first_not_of("0123456789", kPayoutIdPrefixBytes);
            const std::string id(rest.substr(0, end));
            if (id.size() >= kPayoutIdBytesMin && looks_like_payout_id(id) &&
                std::ranges::count(ids, id) == 0) {
                ids.push_back(id);
            }
        }
        if (!ids.empty()) {
            break;
        }
    }
    return ids;
}

/// Judges lines against the payouts, which change state in the memory of this object alone. Settled
/// lines come first, because a file may report the return before the payment.
class BankMatcher {
public:
    BankMatcher(LedgerReader& ledger, AccountNumber account, const AccountId& account_id)
        : ledger_(ledger), names_(ledger), account_(account), account_id_(account_id) {}

    std::vector<JudgedLine> judge(const BankFile& file);

private:
    using Ids = std::set<std::string>;

    [[nodiscard]] std::vector<BankLine> listed(const BankFile& file);
    void find_by_text(BankLine& line);
    void list_message(const BankLine& line, const Ids& named, std::vector<BankLine>& lines);
    [[nodiscard]] std::string message_fault(const BankLine& line, std::vector<Payout>& payouts,
                                            const Ids& named) const;
    JudgedLine judge(const BankLine& line);
    JudgedLine judge_unmatched(const BankLine& line, const Payout* payout);
    [[nodiscard]] bool answers_message_of(const BankLine& line, const Payout& payout) const;
    [[nodiscard]] bool has_sent(const std::string& message);
    static void judge_repeated(JudgedLine& judged);
    void judge_state(JudgedLine& judged);
    void judge_again(JudgedLine& judged);
    [[nodiscard]] StoredPostings& postings_of(const std::string& payout_id);
    [[nodiscard]] bool has_other_date(const JudgedLine& judged);
    [[nodiscard]] Payout* find(const std::string& id);

    LedgerReader& ledger_;
    lists::CreatorNames names_;
    AccountNumber account_;
    AccountId account_id_;
    std::map<std::string, Payout> payouts_;
    std::map<std::string, StoredPostings> postings_;  ///< By payout.
    std::map<std::string, bool> sent_;                ///< By message.
    std::vector<BankReport> reports_;
    Ids rejected_;  ///< Payouts that the file states as rejected.
};

std::vector<JudgedLine> BankMatcher::judge(const BankFile& file) {
    reports_ = file.reports;
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
    if (Payout* const known = find_value(payouts_, id)) {
        return known;
    }
    Payout payout{id};
    return looks_like_payout_id(id) && ledger_.load(payout)
               ? &payouts_.emplace(id, std::move(payout)).first->second
               : nullptr;
}

// ---- Lines that do not name one payout by its id ------------------------------------------------

std::vector<BankLine> BankMatcher::listed(const BankFile& file) {
    std::vector<BankLine> stated = file.lines;
    Ids named;
    for (BankLine& line : stated) {
        if (!line.of) {
            find_by_text(line);
            named.insert(line.end_to_end_id);
            if (line.event == BankEvent::kFailed) {
                rejected_.insert(line.end_to_end_id);
            }
        }
    }
    std::vector<BankLine> lines;
    for (const BankLine& line : stated) {
        if (line.of) {
            list_message(line, named, lines);
        } else {
            lines.push_back(line);
        }
    }
    return lines;
}

/// Takes a payout id of the line's text if the line has no end-to-end id of a payout. Several ids
/// of this account are named for a person.
void BankMatcher::find_by_text(BankLine& line) {
    if (line.is_charge || looks_like_payout_id(line.end_to_end_id)) {
        return;
    }
    std::vector<std::string> ids = payout_ids_in(line.text);
    std::vector<std::string> own = ids;
    std::erase_if(own, [this](const std::string& id) {
        const Payout* payout = find(id);
        return payout == nullptr || payout->account != account_;
    });
    if (own.size() > 1) {
        line.fault = "its text names more than one payout: " + own[0] + " and " + own[1];
    }
    if (!ids.empty()) {
        line.end_to_end_id = own.empty() ? ids.front() : own.front();
        line.note = line.note.empty() ? "named in the text" : line.note;
    }
}

/// Returns why what the bank states of the message cannot count for each of its payouts, or an
/// empty text. A bank may leave out of a posting what it rejected before, so number and sum are
/// those of all payouts or of those that have not failed. Leaves in `payouts` those that are meant.
std::string BankMatcher::message_fault(const BankLine& line, std::vector<Payout>& payouts,
                                       const Ids& named) const {
    const OriginalMessage& of = *line.of;
    const Currency currency = payouts.front().currency;
    const bool is_exchanged = line.amount && line.amount->currency != currency;
    const auto sum_of = [&](const std::vector<Payout>& some) {
        Decimal sum = zero_amount(currency);
        for (const Payout& payout : some) {
            sum += payout.amount;
        }
        return sum;
    };
    const auto fits = [&](const std::vector<Payout>& some) {
        return !is_exchanged && !some.empty() &&
               (of.transactions.empty() ||
                schema_decimal(of.transactions) == Decimal(static_cast<Int128>(some.size()), 0)) &&
               (of.sum.empty() || schema_decimal(of.sum) == sum_of(some));
    };
    std::vector<Payout> rest = payouts;
    std::erase_if(rest, [this](const Payout& payout) {
        return payout.state == PayoutState::kFailed || rejected_.contains(payout.payout_id);
    });
    if (!fits(payouts) && !fits(rest)) {
        const bool some_failed = !rest.empty() && rest.size() < payouts.size();
        return "message " + of.message_id + " has " + std::to_string(payouts.size()) +
               " payouts and the sum " + sum_of(payouts).to_string() +
               (is_exchanged ? " " + std::string(currency.code()) : std::string()) +
               (some_failed ? ", without those that failed " + std::to_string(rest.size()) +
                                  " and " + sum_of(rest).to_string()
                            : std::string()) +
               ", the bank states " + (of.transactions.empty() ? "no number" : of.transactions) +
               " and " +
               (of.sum.empty() ? "no sum"
                : is_exchanged ? to_string(*line.amount)
                               : of.sum);
    }
    if (!fits(payouts)) {
        payouts = std::move(rest);
    }
    const auto is_of = [&payouts](const std::string& id) {
        return std::ranges::count(payouts, id, &Payout::payout_id) != 0;
    };
    const bool lists_another = line.entry == 0 && !std::ranges::all_of(named, is_of);
    return lists_another && line.event != BankEvent::kPending
               ? "the bank states one status for message " + of.message_id +
                     ", and lists a transaction that names none of its payouts"
               : std::string();
}

/// Lists the payouts of the message, if the numbers that the bank repeats are those of the message.
/// Its one payment information has the id of the message. An entry of a statement that is about
/// another system's message is no error.
void BankMatcher::list_message(const BankLine& line, const Ids& named,
                               std::vector<BankLine>& lines) {
    const OriginalMessage& of = *line.of;
    std::vector<Payout> payouts = of.message_id.empty()
                                      ? std::vector<Payout>()
                                      : payouts_of_message(ledger_, account_, of.message_id);
    const bool is_part = !of.payment_info_id.empty() && of.payment_info_id != of.message_id;
    BankLine whole = line;
    whole.note = payouts.empty() || is_part
                     ? "account " + account_id_.str() + " has sent no message " + of.message_id +
                           (is_part ? " with the payment information " + of.payment_info_id : "")
                     : message_fault(line, payouts, named);
    if (!whole.note.empty()) {
        if (payouts.empty() && line.entry != 0) {
            whole.of.reset();
            find_by_text(whole);
        }
        lines.push_back(std::move(whole));
        return;
    }
    for (const Payout& payout : payouts) {
        if (line.entry != 0 || !named.contains(payout.payout_id)) {
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

/// Returns whether the line's amount is the payout's, as it is or after the fees that the line
/// states.
bool has_amount_of(const BankLine& line, const Payout& payout) {
    if (!line.amount) {
        return false;
    }
    if (line.amount->currency != payout.currency) {
        return line.instructed == Money{payout.currency, payout.amount};
    }
    Decimal fees = zero_amount(payout.currency);
    for (const Money& fee : line.included_fees) {
        fees += fee.currency == payout.currency ? fee.amount : zero_amount(payout.currency);
    }
    const Decimal before = line.event == BankEvent::kReturned ? line.amount->amount + fees
                                                              : line.amount->amount - fees;
    return line.amount->amount == payout.amount || before == payout.amount;
}

/// Returns whether the line is another return of a payout than the one that was recorded.
bool comes_back_again(const BankLine& line, const Payout& payout) {
    const PostingRefs recorded = PostingRefs::parse(payout.bank_ref);
    return line.event == BankEvent::kReturned && !recorded.empty() && !line.posting.empty() &&
           !recorded.is_same_posting(line.posting);
}

JudgedLine BankMatcher::judge_unmatched(const BankLine& line, const Payout* payout) {
    JudgedLine judged{line};
    judged.note = line.note;
    const bool is_ours = has_sent(reports_[line.report].original_message);
    const bool comes_back = line.event == BankEvent::kReturned && !line.is_charge;
    const bool is_final = line.event != BankEvent::kPending;
    judged.needs_person =
        line.of || (payout == nullptr && (looks_like_payout_id(line.end_to_end_id) || comes_back ||
                                          (is_ours && is_final)));
    if (!line.fault.empty()) {
        judged.note = line.fault;
    } else if (!line.of && !line.end_to_end_id.empty()) {
        judged.note = payout != nullptr
                          ? "payout " + line.end_to_end_id + " belongs to another account than " +
                                account_id_.str()
                          : "account " + account_id_.str() + " has no payout " + line.end_to_end_id;
    } else if (judged.note.empty()) {
        judged.note = comes_back ? "money comes back and names no payout" : "no end-to-end id";
    }
    return judged;
}

bool BankMatcher::has_sent(const std::string& message) {
    const auto [known, added] = sent_.try_emplace(message, false);
    if (added && !message.empty()) {
        known->second = !payouts_of_message(ledger_, account_, message).empty();
    }
    return known->second;
}

/// Returns whether the line rejects the payout by its id and by the message that sent it, so that
/// an amount would add nothing.
bool BankMatcher::answers_message_of(const BankLine& line, const Payout& payout) const {
    return line.event == BankEvent::kFailed && !line.amount && !payout.message.empty() &&
           reports_[line.report].original_message == payout.message;
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
    const bool is_unclear = line.event == BankEvent::kUnclear || !line.fault.empty();
    if (line.event == BankEvent::kPending || is_unclear) {
        judged.note = line.fault.empty() ? line.note : line.fault;
        judged.needs_person = line.event != BankEvent::kPending;
        judged.outcome = judged.needs_person ? BankOutcome::kDiffers : BankOutcome::kPending;
        return judged;
    }
    if (line.event == BankEvent::kRepeated) {
        judge_repeated(judged);
        return judged;
    }
    if (!has_amount_of(line, *payout) && !answers_message_of(line, *payout)) {
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

/// The bank rejects a repetition of what it has. Only its answer to the first instruction, or its
/// statement, says whether that was paid.
void BankMatcher::judge_repeated(JudgedLine& judged) {
    const PayoutState state = judged.payout->state;
    const bool was_paid = state == PayoutState::kPaid || state == PayoutState::kReturned;
    judged.outcome = was_paid ? BankOutcome::kKnown : BankOutcome::kDiffers;
    judged.needs_person = !was_paid;
    judged.note = was_paid ? "rejected as a repetition; the payment was recorded before"
                           : "rejected as a repetition of what the bank has: its answer to the "
                             "first one, or its statement, says whether it was paid";
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
            postings_of(payout.payout_id).known.push_back({judged.line.posting, judged.line.entry});
        }
    } else if (state == PayoutState::kReturned && comes_back_again(judged.line, payout)) {
        judged.outcome = BankOutcome::kDiffers;
        judged.needs_person = true;
        judged.note = "payout " + payout.payout_id + " came back twice, with the references " +
                      payout.bank_ref + " and " + judged.line.bank_ref;
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

StoredPostings& BankMatcher::postings_of(const std::string& payout_id) {
    const auto [known, added] = postings_.try_emplace(payout_id);
    if (added) {
        known->second = stored_postings(ledger_, payout_id);
    }
    return known->second;
}

/// Returns whether an earlier statement settled the payout with a booking date that is more than a
/// day away: a notification may state an hour of another zone.
bool BankMatcher::has_other_date(const JudgedLine& judged) {
    constexpr std::int64_t kDaySeconds = 24 * 3600;
    const std::optional<Timestamp>& paid_at = judged.payout->paid_at;
    const std::optional<Timestamp>& date = judged.line.booking_date;
    return postings_of(judged.payout->payout_id).are_of_statement && paid_at && date &&
           std::abs(paid_at->seconds - date->seconds) > kDaySeconds;
}

/// A second payment of a payout is no repetition. Two postings are one payment only if the bank
/// gives both the same reference, in different entries. A posting without a reference of its own
/// may be the one that was recorded, unless the payout came back since, or the bank dated the
/// other on another day.
void BankMatcher::judge_again(JudgedLine& judged) {
    const BankLine& line = judged.line;
    std::vector<Posting>& known = postings_of(judged.payout->payout_id).known;
    const Posting here{line.posting, line.entry};
    const auto is_of = [&](const auto& fits) { return std::ranges::any_of(known, fits); };
    const bool in_file = is_of([](const Posting& one) { return one.entry != 0; });
    const bool is_repeated =
        is_of([&](const Posting& one) { return one.refs.is_same_posting(here.refs); }) &&
        !is_of([&](const Posting& one) { return one.entry == here.entry; });
    const bool is_first = !in_file && judged.payout->state == PayoutState::kPaid &&
                          (known.empty() || here.refs.empty()) && !has_other_date(judged);
    judged.records_ref = is_first && known.empty() && !here.refs.empty();
    if (is_repeated || is_first) {
        known.push_back(here);
        return;
    }
    const std::string first = known.empty() ? std::string() : known.front().refs.to_string();
    judged.outcome = BankOutcome::kDiffers;
    judged.needs_person = true;
    judged.note = "payout " + judged.payout->payout_id + " is paid twice" +
                  (in_file ? " in this file" : "") + ", with the references " +
                  (first.empty() ? "(none)" : first) + " and " +
                  (line.bank_ref.empty() ? "(none)" : line.bank_ref);
}

}  // namespace

std::string reason_of(const BankFile& file, const JudgedLine& judged) {
    const BankReport& report = file.reports[judged.line.report];
    const bool is_settled = judged.verb == PayoutVerb::kSettle;
    return import_reason({report.form, report.message_id, judged.line.reason},
                         is_settled ? judged.line.posting : PostingRefs());
}

std::vector<JudgedLine> judge_bank_file(LedgerReader& ledger, AccountNumber account,
                                        const AccountId& account_id, const BankFile& file) {
    return BankMatcher(ledger, account, account_id).judge(file);
}

}  // namespace sluice::cli
