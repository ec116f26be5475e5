#include <algorithm>
#include <array>

#include "core/explain/explain.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/statements/next_close.hpp"
#include "core/statements/statements.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

/// 3 Mar 2026
std::string day_words(Timestamp at) {
    constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::string text = at.to_string();
    const auto month = static_cast<std::size_t>((text[5] - '0') * 10 + (text[6] - '0') - 1);
    return (text[8] == '0' ? "" : std::string(1, text[8])) + text[9] + " " + kMonths[month] + " " +
           text.substr(0, 4);
}

std::string on_day(const std::optional<Timestamp>& at) {
    return at ? " on " + day_words(*at) : "";
}

/// Quotes a word for a POSIX shell. Returns nothing if it has a control character, because a line
/// that is pasted must not run another one.
std::optional<std::string> quoted_word(std::string_view word) {
    std::string quoted = "'";
    bool plain = !word.empty();
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F) {
            return std::nullopt;
        }
        plain = plain && (is_ascii_letter_or_digit(c) ||
                          std::string_view("._-:@+/=").find(c) != std::string_view::npos);
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    const bool is_option = word.starts_with('-');
    return plain && !is_option ? std::string(word) : quoted + "'";
}

/// Adds ` --option word` to a command, which becomes empty if the word cannot be quoted.
class CommandLine {
public:
    explicit CommandLine(std::string verb) : text_(std::move(verb)) {}
    CommandLine& with(std::string_view option, std::string_view word) {
        const auto quoted = quoted_word(word);
        possible_ = possible_ && quoted;
        text_ +=
            " " + std::string(option) + (word.starts_with('-') ? "=" : " ") + quoted.value_or("");
        return *this;
    }
    CommandLine& of_order(const Explanation& e) {
        return with("--shop", e.shop.shop_id.view()).with("--order", e.order.key.order_id.view());
    }
    /// The reason is left to the person.
    [[nodiscard]] std::string with_reason() const {
        return possible_ ? text_ + " --reason 'WHY'" : "";
    }

private:
    std::string text_;
    bool possible_ = true;
};

std::string amount_words(const Explanation& e) {
    const Money commission = commission_amount(e.order);
    return commission.amount.to_string() + " " + std::string(commission.currency.code()) + " for " +
           e.creator;
}

/// Returns whether a click of the account was ever counted.
bool has_clicks(LedgerReader& ledger, AccountNumber account) {
    bool has_some = false;
    ClickMonth first;
    first.account = account;
    ledger.scan(first, {1, 1}, [&has_some](const ClickMonth& /*row*/) {
        has_some = true;
        return false;
    });
    return has_some;
}

std::string waiting_words(const Explanation& e, LedgerReader& ledger) {
    if (e.candidates.empty() && e.order.codes.empty()) {
        return !e.order.device && has_clicks(ledger, e.order.key.account)
                   ? "No creator: the order carries no device id."
                   : "No creator: the order has no discount code, and no click of its device is "
                     "known.";
    }
    if (e.candidates.empty()) {
        return "No creator: code " + e.order.codes.front() +
               " belongs to no creator of a program that covers " + e.shop.shop_id.str() + ".";
    }
    const ExplainedCandidate& first = e.candidates.front();
    if (first.creator.empty()) {
        return "No creator: " + first.source + " belongs to no creator of a program that covers " +
               e.shop.shop_id.str() + ".";
    }
    return "No creator: " + first.source + " of " + first.creator + " " + first.words + ".";
}

/// Returns the time of the order's last memo entry of this reason.
std::optional<Timestamp> memo_time(const Explanation& e, JournalReason reason) {
    std::optional<Timestamp> at;
    for (const JournalGroup& group : e.journal) {
        const bool has = std::ranges::any_of(
            group.entries, [reason](const JournalEntry& entry) { return entry.reason == reason; });
        if (has && (!at || *at < group.recorded_at)) {
            at = group.recorded_at;
        }
    }
    return at;
}

/// The hold of the creator in all programs or, without it, in the order's program. One hold may
/// still block the order once the other is released.
void say_creator_hold(OrderAnswer& answer, const Explanation& e, LedgerReader& ledger) {
    const Attribution& given = e.order.position()->attribution;
    CreatorHold all{.account = e.order.key.account, .creator = given.creator};
    CreatorHold one{.account = all.account, .creator = all.creator, .program = given.program};
    const bool holds_all = ledger.load(all);
    if (ledger.load(one)) {
        answer.since = one.held_at;
    }
    CommandLine release("sluice release");
    release.with("--account", e.shop.account_id.view()).with("--creator", e.creator);
    if (holds_all) {
        answer.since = answer.since ? std::min(*answer.since, all.held_at) : all.held_at;
    } else {
        release.with("--program", given.program.view());
    }
    answer.command = release.with_reason();
}

/// The first thing that blocks, since when, and the command that ends it.
void say_blocked(OrderAnswer& answer, const Explanation& e, LedgerReader& ledger) {
    const std::string& what = e.blocked_by.front();
    if (what == "HOLD") {
        answer.since = memo_time(e, JournalReason::kMemoHeld);
        answer.command = CommandLine("sluice release").of_order(e).with_reason();
    } else if (what == "CREATOR_HOLD") {
        say_creator_hold(answer, e, ledger);
    } else if (const auto kind = parse_name<AnomalyKind>(what)) {
        const auto row = ledger.anomaly(e.order.key, *kind);
        answer.since = row ? std::optional(row->recorded_at) : std::nullopt;
        answer.command =
            CommandLine("sluice anomaly ack").of_order(e).with("--kind", what).with_reason();
    }
    answer.sentence = amount_words(e) + ", blocked by " + what +
                      (answer.since ? " since " + day_words(*answer.since) : "") + ".";
}

/// Returns when the payout reached its state.
std::optional<Timestamp> state_time(const Payout& payout) {
    switch (payout.state) {
        case PayoutState::kClosed:
            return payout.closed_at;
        case PayoutState::kApproved:
            return payout.approved_at ? payout.approved_at : std::optional(payout.closed_at);
        case PayoutState::kSent:
            return payout.sent_at;
        default:
            return payout.ended_at;
    }
}

std::string payout_words(const Payout& payout) {
    const auto at = state_time(payout);
    return "in payout " + payout.payout_id + " (" + std::string(to_string(payout.state)) +
           on_day(at) + ").";
}

std::string words_of(const Decimal& amount, Currency currency) {
    return amount.to_string() + " " + std::string(currency.code());
}

/// Returns what the order's creator was paid too much, or nothing.
std::optional<Money> live_debt(const Explanation& e) {
    for (const ExplainedAccrual& accrual : e.accruals) {
        if (accrual.is_live && accrual.accrued < accrual.allocated) {
            return Money{accrual.currency, accrual.allocated - accrual.accrued};
        }
    }
    return std::nullopt;
}

std::string debt_words(const Money& debt) {
    return words_of(debt.amount, debt.currency) + " will be deducted from the next payout.";
}

/// Says what is in a payout, and what of it a later one takes back.
/// Returns the payout that the first sentence names.
std::string say_in_payout(OrderAnswer& answer, const Explanation& e, LedgerReader& ledger) {
    std::string named;
    const std::optional<Money> debt = live_debt(e);
    for (const PositionPayout& own : e.order.position()->payouts) {
        Payout payout{.payout_id = own.payout_id};
        const bool counts = own.active && own.has_commission && ledger.load(payout);
        const bool is_paid = payout.state == PayoutState::kPaid;
        if (!counts || is_paid != (answer.status == "paid")) {
            continue;
        }
        answer.since = state_time(payout);
        const std::string amount = words_of(own.amount, own.currency) + " for " + e.creator;
        if (!debt) {
            answer.sentence = amount + ", " + payout_words(payout);
        } else if (is_paid) {
            answer.sentence = amount + " was paid" + on_day(answer.since) + " in payout " +
                              payout.payout_id + "; " + debt_words(*debt);
        } else {
            std::string where = payout_words(payout);
            where.back() = ';';
            answer.sentence = amount + ", " + where + " " + debt_words(*debt);
        }
        named = payout.payout_id;
    }
    if (!debt && answer.status == "in_payout") {
        answer.next_step = "payment";
    }
    return named;
}

/// Adds what the first sentence leaves out: adjustments by hand, amounts in other payouts, and what
/// is open as well. An open amount below 0 is owed back.
/// @param named       Payout that the first sentence names.
/// @param names_open  The first sentence names what the order's position has open.
void say_the_rest(OrderAnswer& answer, const Explanation& e, const std::string& named,
                  bool names_open, LedgerReader& ledger) {
    for (const ExplainedAccrual& accrual : e.accruals) {
        if (!accrual.manual.is_zero()) {
            answer.sentence += " " + words_of(accrual.manual, accrual.currency) + " of " +
                               accrual.creator + "'s commission is an adjustment by hand.";
        }
    }
    const bool earns_nothing = named.empty() && !names_open;
    for (const ExplainedPayout& own : e.payouts) {
        Payout payout{.payout_id = own.payout_id};
        if (!own.is_active || own.payout_id == named || !ledger.load(payout)) {
            continue;
        }
        answer.sentence += own.amount.is_negative()
                               ? " " + words_of(-own.amount, own.currency) + " of " + own.creator +
                                     " was deducted " + payout_words(payout)
                               : " " + words_of(own.amount, own.currency) +
                                     (earns_nothing ? " for " : " more for ") + own.creator +
                                     " is " + payout_words(payout);
    }
    const std::optional<Money> debt = named.empty() ? std::nullopt : live_debt(e);
    for (const ExplainedAccrual& accrual : e.accruals) {
        const Decimal open = accrual.accrued - accrual.allocated;
        const bool is_said =
            accrual.is_live && ((names_open && accrual.currency == e.order.currency) ||
                                (debt && debt->currency == accrual.currency));
        if (open.is_zero() || is_said) {
            continue;
        }
        answer.sentence += open.is_negative()
                               ? " " + words_of(-open, accrual.currency) +
                                     " will be deducted from " + accrual.creator + "'s next payout."
                               : " " + words_of(open, accrual.currency) + " more for " +
                                     accrual.creator + " is open, for the next close.";
    }
}

/// ", on 5 Apr 2026,", or nothing if the account has no payout day.
std::string payout_day_words(const Policy& policy, Timestamp from) {
    const auto day = payout_day_from(policy, from);
    return day ? ", on " + day_words(*day) + "," : "";
}

/// Says why a close leaves the creator out, and what ends that.
void say_left(OrderAnswer& answer, const Explanation& e, const CreatorClose& close,
              const Policy& policy, LedgerReader& ledger) {
    const std::string all = words_of(close.amount, close.currency);
    std::string why;
    switch (close.left.value()) {
        case SkipReason::kNotPositive:
            why = e.creator + "'s payable amounts are " + all + " in all";
            answer.next_step = "when more is payable";
            break;
        case SkipReason::kBelowMinimum:
            why = e.creator + " has " + all + " payable, below the minimum of " +
                  words_of(*amount_in(policy.min_payout, close.currency), close.currency);
            answer.next_step = "when more is payable";
            break;
        case SkipReason::kNoPayee:
            why = e.creator + " has no payee";
            answer.next_step = "when " + e.creator + " has a payee";
            break;
        default: {
            CreatorRow profile{e.order.key.account, close.creator, {}, {}, {}};
            static_cast<void>(ledger.load(profile));
            answer.next_at = cooled_at(policy, profile);
            why = e.creator + "'s payee changed" + on_day(profile.payee_since) + ", and closes " +
                  (answer.next_at ? "from " + day_words(*answer.next_at) + " on " : "later ") +
                  "pay it";
            answer.next_step = "when the new payee may be paid";
        }
    }
    answer.sentence = amount_words(e) + ", payable, but the next close leaves it: " + why + ".";
}

/// An amount that is open: payable, or pending until its clearing days end.
void say_open(OrderAnswer& answer, const Explanation& e, Timestamp now, bool tells_balance,
              LedgerReader& ledger) {
    const Attribution& given = e.order.position()->attribution;
    const Policy policy = account_settings(ledger, e.order.key.account).policy;
    const std::optional<ProgramRow> row = ledger.program(given.program);
    const auto clears_at =
        row ? std::optional(row->program.clears_at(e.order.ordered_at)) : std::nullopt;
    if (answer.status == "payable") {
        answer.since = clears_at;
        for (const CreatorClose& close :
             next_close_of(ledger, e.order.key.account, given.creator, policy, now)) {
            if (!close.left || close.currency != commission_amount(e.order).currency) {
                continue;
            }
            if (tells_balance) {
                say_left(answer, e, close, policy, ledger);
            } else {
                answer.sentence = amount_words(e) + ", payable, but the next close leaves it.";
                answer.next_step = "a later close";
            }
            return;
        }
        answer.next_at = payout_day_from(policy, start_of_day(now));
        answer.next_step = "next close";
        answer.sentence = amount_words(e) + ", payable; the next close" +
                          payout_day_words(policy, start_of_day(now)) + " takes it.";
        return;
    }
    answer.since = given.at;
    answer.next_at = clears_at;
    answer.next_step = "the clearing period ends";
    const auto day = clears_at ? payout_day_from(policy, *clears_at) : std::nullopt;
    answer.sentence = amount_words(e) + ", payable" +
                      (clears_at ? " from " + day_words(*clears_at) : " later") +
                      (day ? ", for the close of " + day_words(*day) : "") + ".";
}

}  // namespace

OrderAnswer order_answer(const Explanation& e, Timestamp now, LedgerReader& ledger,
                         bool tells_balance) {
    OrderAnswer answer;
    std::string named;
    answer.status = OrderJudge(ledger).status(e.order, now);
    if (answer.status == "waiting") {
        answer.since = e.order.ordered_at;
        answer.sentence = waiting_words(e, ledger);
        answer.next_step =
            e.order.codes.empty() ? "when a code or click is known" : "when the code has an owner";
    } else if (answer.status == "detached") {
        answer.since = memo_time(e, JournalReason::kMemoDetached);
        answer.sentence = "Detached" + on_day(answer.since) + "; it earns nothing.";
    } else if (answer.status == "rejected") {
        answer.since = memo_time(e, JournalReason::kMemoRejected);
        answer.sentence = "Rejected" + on_day(answer.since) + "; it earns nothing.";
        answer.command = CommandLine("sluice release --reject").of_order(e).with_reason();
    } else if (answer.status == "cancelled") {
        answer.since = e.order.cancelled_at;
        answer.sentence =
            "Cancelled by the shop" + on_day(e.order.cancelled_at) + "; it earns nothing.";
    } else if (answer.status == "blocked") {
        say_blocked(answer, e, ledger);
        answer.next_step = "when it is released";
    } else if (answer.status == "payable" || answer.status == "pending") {
        say_open(answer, e, now, tells_balance, ledger);
    } else {
        named = say_in_payout(answer, e, ledger);
    }
    if (const auto debt = live_debt(e); debt && answer.next_step.empty()) {
        answer.next_step =
            words_of(debt->amount, debt->currency) + " is deducted from the next payout";
    }
    const bool names_open =
        answer.status == "blocked" || answer.status == "payable" || answer.status == "pending";
    say_the_rest(answer, e, named, names_open, ledger);
    return answer;
}

}  // namespace sluice
