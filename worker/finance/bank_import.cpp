// sluice bank import

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "core/ledger/payout_rows.hpp"
#include "worker/access/accounts.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/bank/bank_file.hpp"
#include "worker/bank/payees.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/finance/finance.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

struct ImportCommand {
    std::string file, debtor;
    bool preview = false;
    Format format = Format::kTable;
    SubmitOptions submit;
};

enum class Outcome : std::uint8_t {
    kMoved,      ///< Recorded now, or would be.
    kKnown,      ///< Recorded before.
    kPending,    ///< The bank has not decided.
    kUnmatched,  ///< No payout of the account.
    kDiffers,    ///< A payout of the account, and something else than it says.
};

/// A line of the bank's file, with the payout that it names and what becomes of it.
struct Judged {
    const BankLine* line = nullptr;
    std::optional<Payout> payout{};
    Outcome outcome = Outcome::kUnmatched;
    PayoutVerb verb = PayoutVerb::kSettle;
    std::string creator{};
    std::string note{};
    /// Names a payout or a payment that this account should know, so a person has to look.
    bool needs_person = false;
};

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

    /// Returns the lines in the order of the file.
    std::vector<Judged> judge(const BankFile& file);

private:
    Judged judge(const BankLine& line);
    void judge_state(Judged& judged);
    void judge_known(Judged& judged) const;
    [[nodiscard]] Payout* find(const std::string& id);

    LedgerReader& ledger_;
    CreatorNames names_;
    AccountNumber account_;
    AccountId account_id_;
    std::map<std::string, Payout> payouts_;
    std::map<std::string, std::string> moved_refs_;  ///< By payout and verb: the bank's reference.
};

std::vector<Judged> BankMatcher::judge(const BankFile& file) {
    std::vector<Judged> all(file.lines.size());
    for (const bool settled : {true, false}) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((file.lines[i].event == BankEvent::kSettled) == settled) {
                all[i] = judge(file.lines[i]);
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

Judged BankMatcher::judge(const BankLine& line) {
    Judged judged{&line};
    judged.note = line.note;
    const Payout* payout = find(line.end_to_end_id);
    if (payout == nullptr || payout->account != account_) {
        judged.needs_person = payout == nullptr && looks_like_payout_id(line.end_to_end_id);
        judged.note = line.end_to_end_id.empty()
                          ? (line.note.empty() ? "no end-to-end id" : line.note)
                      : payout != nullptr
                          ? "payout " + line.end_to_end_id + " belongs to another account than " +
                                account_id_.str()
                          : "account " + account_id_.str() + " has no payout " + line.end_to_end_id;
        return judged;
    }
    judged.payout = *payout;
    judged.creator = names_.shown(account_, payout->creator).str();
    if (line.event == BankEvent::kPending || line.event == BankEvent::kUnclear) {
        judged.needs_person = line.event == BankEvent::kUnclear;
        judged.outcome = judged.needs_person ? Outcome::kDiffers : Outcome::kPending;
        return judged;
    }
    if (!has_amount_of(line, *payout)) {
        judged.outcome = Outcome::kDiffers;
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
void BankMatcher::judge_state(Judged& judged) {
    Payout& payout = payouts_.at(judged.payout->payout_id);
    const PayoutState state = payout.state;
    const bool can_be_paid = state == PayoutState::kApproved || state == PayoutState::kSent;
    const bool was_paid = state == PayoutState::kPaid || state == PayoutState::kReturned;
    PayoutState to = state;
    switch (judged.line->event) {
        case BankEvent::kSettled:
            to = can_be_paid ? PayoutState::kPaid : state;
            judged.outcome = was_paid ? Outcome::kKnown : Outcome::kDiffers;
            break;
        case BankEvent::kReturned:
            to = state == PayoutState::kPaid   ? PayoutState::kReturned
                 : state == PayoutState::kSent ? PayoutState::kFailed
                                               : state;
            judged.outcome = state == PayoutState::kReturned || state == PayoutState::kFailed
                                 ? Outcome::kKnown
                                 : Outcome::kDiffers;
            break;
        default:
            to = state == PayoutState::kSent ? PayoutState::kFailed : state;
            judged.outcome = state == PayoutState::kFailed ? Outcome::kKnown : Outcome::kDiffers;
    }
    if (to != state) {
        judged.outcome = Outcome::kMoved;
        judged.verb = to == PayoutState::kPaid       ? PayoutVerb::kSettle
                      : to == PayoutState::kReturned ? PayoutVerb::kReturned
                                                     : PayoutVerb::kFailed;
        payout.state = to;
        payout.bank_ref = judged.line->bank_ref;
        moved_refs_[payout.payout_id + std::string(to_string(judged.verb))] = payout.bank_ref;
    } else if (judged.outcome == Outcome::kKnown) {
        judge_known(judged);
    } else {
        judged.needs_person = true;
        judged.note = "payout " + payout.payout_id + " is " + std::string(to_string(state)) +
                      ", so the bank's report does not fit";
    }
}

/// A second payment of one payout in the same file is no repetition.
void BankMatcher::judge_known(Judged& judged) const {
    judged.note = "recorded before";
    const auto settled =
        moved_refs_.find(judged.payout->payout_id + std::string(to_string(PayoutVerb::kSettle)));
    if (judged.line->event == BankEvent::kSettled && settled != moved_refs_.end() &&
        settled->second != judged.line->bank_ref) {
        judged.outcome = Outcome::kDiffers;
        judged.needs_person = true;
        judged.note = "payout " + judged.payout->payout_id +
                      " is paid twice in this file, with the references " + settled->second +
                      " and " + judged.line->bank_ref;
    }
}

// ---- Output -------------------------------------------------------------------------------------

std::string outcome_text(const Judged& judged, bool preview) {
    switch (judged.outcome) {
        case Outcome::kMoved:
            if (judged.verb == PayoutVerb::kSettle) {
                return preview ? "WOULD_SETTLE" : "SETTLED";
            }
            if (judged.verb == PayoutVerb::kFailed) {
                return preview ? "WOULD_FAIL" : "FAILED";
            }
            return preview ? "WOULD_RETURN" : "RETURNED";
        case Outcome::kKnown:
            return "KNOWN";
        case Outcome::kPending:
            return "PENDING";
        case Outcome::kUnmatched:
            return "UNMATCHED";
        case Outcome::kDiffers:
            break;
    }
    return "DIFFERS";
}

Row row_of(const Judged& judged, bool preview) {
    const BankLine& line = *judged.line;
    std::string fees;
    for (const Money& fee : line.fees) {
        fees += (fees.empty() ? "" : ", ") + to_string(fee);
    }
    return {line.line,
            outcome_text(judged, preview),
            text_or_null(line.end_to_end_id),
            text_or_null(judged.creator),
            line.amount ? Json(line.amount->currency.code()) : Json(),
            line.amount ? Json(line.amount->amount.to_string()) : Json(),
            text_or_null(fees),
            text_or_null(line.bank_ref),
            line.booking_date,
            text_or_null(line.reason),
            text_or_null(judged.note)};
}

void print(const ImportCommand& command, const std::vector<Judged>& judged) {
    Listing listing(command.format, {{"line", Align::kRight},
                                     {"outcome"},
                                     {"end_to_end_id"},
                                     {"creator_id"},
                                     {"currency"},
                                     {"amount", Align::kRight},
                                     {"fees", Align::kRight},
                                     {"bank_ref"},
                                     {"booking_date", Align::kLeft, false},
                                     {"reason"},
                                     {"note"}});
    std::size_t moved = 0;
    for (const Judged& one : judged) {
        moved += one.outcome == Outcome::kMoved ? 1 : 0;
        listing.add(row_of(one, command.preview));
    }
    listing.finish();
    if (command.format == Format::kTable) {
        std::printf(
            "%zu of %zu lines %s\n", moved, judged.size(),
            command.preview ? "would be recorded; preview, nothing was changed" : "were recorded");
    }
}

/// Returns an error if a person has to look at a line, or if no line is about this account.
Status verdict(const ImportCommand& command, const std::vector<Judged>& judged) {
    const Judged* first = nullptr;
    std::size_t count = 0;
    const bool any_match = std::any_of(judged.begin(), judged.end(),
                                       [](const Judged& one) { return one.payout.has_value(); });
    for (const Judged& one : judged) {
        if (one.needs_person || (!any_match && !one.line->end_to_end_id.empty())) {
            first = first == nullptr ? &one : first;
            ++count;
        }
    }
    if (first == nullptr) {
        return {};
    }
    return Error{ErrorCode::kConflict, command.file + ":" + std::to_string(first->line->line) +
                                           ": " + first->note + "; not recorded" +
                                           (count == 1 ? std::string()
                                                       : ", like " + std::to_string(count - 1) +
                                                             " more of the lines above")};
}

// ---- Commands -----------------------------------------------------------------------------------

/// Payouts that one command moves, because the bank says the same of them.
struct MoveGroup {
    PayoutMove move;
    std::string reason;
};

std::string reason_of(const BankFile& file, const BankLine& line) {
    std::string reason = "bank import " + file.form;
    for (const std::string& part : {file.message_id, line.reason}) {
        reason += part.empty() ? "" : " " + part;
    }
    reason.resize(std::min(reason.size(), kReasonBytesMax));
    return reason;
}

/// Settlements come first, so that a return finds its payout settled.
std::vector<MoveGroup> moves_of(const BankFile& file, const std::vector<Judged>& judged) {
    using Key = std::tuple<PayoutVerb, std::string, std::optional<Timestamp>, std::string>;
    std::map<Key, std::vector<std::string>> groups;
    for (const Judged& one : judged) {
        if (one.outcome == Outcome::kMoved) {
            const bool settles = one.verb == PayoutVerb::kSettle;
            groups[{one.verb, one.line->bank_ref, settles ? one.line->booking_date : std::nullopt,
                    reason_of(file, *one.line)}]
                .push_back(one.payout->payout_id);
        }
    }
    std::vector<MoveGroup> moves;
    for (auto& [key, ids] : groups) {
        const auto& [verb, bank_ref, paid_at, reason] = key;
        moves.push_back({{verb, std::move(ids), bank_ref, paid_at}, reason});
    }
    return moves;
}

Status submit_all(const Frame& frame, const ImportCommand& command,
                  const std::vector<MoveGroup>& moves) {
    std::size_t done = 0;
    for (const MoveGroup& one : moves) {
        SubmitOptions options = command.submit;
        options.reason = one.reason;
        const auto moved = submit_quietly(frame, one.move, options);
        if (!moved.ok()) {
            return Error{moved.error().code,
                         command.file + ": " + std::to_string(done) +
                             " payouts are recorded; import the file again for the rest: " +
                             moved.error().message};
        }
        done += one.move.ids.size();
    }
    return {};
}

/// Refuses a report on a bank account that is not the debtor's.
Status check_accounts(const ImportCommand& command, const BankFile& file) {
    if (command.debtor.empty()) {
        return {};
    }
    const auto debtors = read_debtors(command.debtor);
    if (!debtors.ok()) {
        return debtors.error();
    }
    for (const BankFile::Account& account : file.accounts) {
        const bool known = std::any_of(debtors->begin(), debtors->end(), [&](const auto& debtor) {
            return debtor.second.iban == account.iban;
        });
        if (!known) {
            return Error{ErrorCode::kInvalid, command.file + ":" + std::to_string(account.line) +
                                                  ": expected an account of " + command.debtor +
                                                  ", found " + account.iban +
                                                  "; nothing was recorded"};
        }
    }
    return {};
}

Status run_import(const Frame& frame, const ImportCommand& command) {
    constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;
    const auto account = account_number(frame, *command.submit.account);
    if (!account.ok()) {
        return account.error();
    }
    const auto text = read_to_end(command.file, kFileBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    const auto file = parse_bank_file(command.file, *text);
    if (!file.ok()) {
        return Error{file.error().code, file.error().message + "; nothing was recorded"};
    }
    if (Status known = check_accounts(command, *file); !known.ok()) {
        return known;
    }
    std::vector<Judged> judged;
    const Status read = with_snapshot(
        frame, command.submit.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            judged = BankMatcher(ledger, *account, *command.submit.account).judge(*file);
            return {};
        },
        ReadFrom::kConfirmed);
    if (!read.ok()) {
        return read;
    }
    if (!command.preview) {
        if (Status moved = submit_all(frame, command, moves_of(*file, judged)); !moved.ok()) {
            return moved;
        }
    }
    print(command, judged);
    return verdict(command, judged);
}

}  // namespace

void declare_bank(Subcommand app) {
    const Subcommand group = app.add_group("bank", "Read what the bank reports");
    auto [imported, command] = add_command(
        group, "import",
        "Settle, fail or return payouts as a file of the bank reports them, and list the rest",
        run_import);
    add_file(imported, "FILE", "FILE", command.file, FileUse::kInput,
             "ISO 20022 file: pain.002, camt.053 or camt.054")
        .required();
    add_id(imported, "--account", "A", command.submit.account.emplace(), "Account").required();
    add_file(imported, "--debtor", "FILE", command.debtor, FileUse::kInput,
             "Debtor's accounts, as for `payout export`: refuse a file on another bank account");
    add_flag(imported, "--preview", command.preview,
             "Change nothing; print what would be recorded");
    add_format(imported, command.format);
    add_ledger(imported, command.submit.ledger_url);
}

}  // namespace sluice::cli
