// sluice bank import

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/approvals/subject.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/texts.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "tool/bank/bank_file.hpp"
#include "tool/bank/payees.hpp"
#include "tool/finance/bank_match.hpp"
#include "tool/finance/kept_export.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

struct ImportBankFileCommand {
    std::string file, debtor;
    bool preview = false;
    Format format = Format::kTable;
    SubmitOptions submit;
};

// ---- Output -------------------------------------------------------------------------------------

const char* outcome_text(const JudgedLine& judged, bool preview) {
    switch (judged.outcome) {
        case BankOutcome::kMoved:
            return judged.verb == PayoutVerb::kSettle   ? (preview ? "WOULD_SETTLE" : "SETTLED")
                   : judged.verb == PayoutVerb::kFailed ? (preview ? "WOULD_FAIL" : "FAILED")
                                                        : (preview ? "WOULD_RETURN" : "RETURNED");
        case BankOutcome::kKnown:
            return "KNOWN";
        case BankOutcome::kPending:
            return "PENDING";
        case BankOutcome::kUnmatched:
            return "UNMATCHED";
        case BankOutcome::kDiffers:
            break;
    }
    return "DIFFERS";
}

Row row_of(const JudgedLine& judged, bool preview) {
    const BankLine& line = judged.line;
    const auto fee_text = [](const Money& fee) { return to_string(fee); };
    return {line.line,
            outcome_text(judged, preview),
            text_or_null(line.end_to_end_id),
            text_or_null(judged.creator),
            line.amount ? Json(line.amount->currency.code()) : Json(),
            line.amount ? Json(line.amount->amount.to_string()) : Json(),
            text_or_null(joined(line.fees, ", ", fee_text)),
            text_or_null(line.bank_ref),
            line.booking_date,
            text_or_null(line.reason),
            text_or_null(judged.note)};
}

void print(const ImportBankFileCommand& command, const std::vector<JudgedLine>& judged) {
    list_all(command.format,
             right("line") + left("outcome end_to_end_id creator_id currency") +
                 right("amount fees") + left("bank_ref") + in_files("booking_date") +
                 left("reason note"),
             judged, [&](const JudgedLine& one) { return row_of(one, command.preview); });
    if (command.format == Format::kTable) {
        std::printf(
            "%td of %zu lines %s\n",
            std::ranges::count(judged, BankOutcome::kMoved, &JudgedLine::outcome), judged.size(),
            command.preview ? "would be recorded; preview, nothing was changed" : "were recorded");
    }
}

/// Returns an error if a person has to look at a line, or if no line is about this account. A file
/// that was compared with the debtor's accounts is the right one, whatever it lists.
Status verdict(const ImportBankFileCommand& command, const std::vector<JudgedLine>& judged) {
    const JudgedLine* first = nullptr;
    std::size_t count = 0;
    const bool is_right =
        !command.debtor.empty() ||
        std::ranges::any_of(judged, [](const JudgedLine& one) { return one.payout.has_value(); });
    for (const JudgedLine& one : judged) {
        if (one.needs_person || (!is_right && !one.line.end_to_end_id.empty())) {
            const bool is_first = first == nullptr || (one.line.of && !first->line.of);
            first = is_first ? &one : first;
            ++count;
        }
    }
    if (first == nullptr) {
        return is_right ? Status::success()
                        : conflict(command.file + ": no line is about a payout of account " +
                                   command.submit.account->str() + "; nothing was recorded");
    }
    return conflict(command.file + ":" + std::to_string(first->line.line) + ": " + first->note +
                    "; not recorded" +
                    (count == 1
                         ? std::string()
                         : ", like " + std::to_string(count - 1) + " more of the lines above"));
}

// ---- Commands -----------------------------------------------------------------------------------

/// Payouts that one command moves, because the bank says the same of them.
struct MoveGroup {
    PayoutMove move;
    std::string reason;
};

/// Settlements come first, so that a return finds its payout settled.
std::vector<MoveGroup> moves_of(const BankFile& file, const std::vector<JudgedLine>& judged) {
    using Key = std::tuple<PayoutVerb, std::string, std::optional<Timestamp>, std::string>;
    struct Named {
        std::vector<std::string> ids;
        std::vector<Payout> moving;
    };
    std::map<Key, Named> groups;
    for (const JudgedLine& one : judged) {
        if (one.outcome == BankOutcome::kMoved || one.records_ref) {
            const bool settles = one.verb == PayoutVerb::kSettle;
            Named& group =
                groups[{one.verb, settles ? one.line.posting.to_string() : one.line.bank_ref,
                        settles ? one.line.booking_date : std::nullopt, reason_of(file, one)}];
            group.ids.push_back(one.payout->payout_id);
            if (one.outcome == BankOutcome::kMoved) {
                group.moving.push_back(*one.payout);
            }
        }
    }
    std::vector<MoveGroup> moves;
    for (auto& [key, group] : groups) {
        const auto& [verb, bank_ref, paid_at, reason] = key;
        PayoutMove move{verb, std::move(group.ids), bank_ref, paid_at};
        move.expect = group.moving.empty() ? "" : to_hex(payouts_digest(group.moving));
        moves.push_back({std::move(move), reason});
    }
    return moves;
}

/// The payouts that this command moved, each with the verb.
using Moved = std::set<std::pair<std::string, PayoutVerb>>;

/// Each command names the payouts that it moves, and is refused if another one moved some of them
/// meanwhile.
Status submit_all(const Frame& frame, const ImportBankFileCommand& command,
                  const std::vector<MoveGroup>& moves, Moved& done) {
    for (const MoveGroup& one : moves) {
        SubmitOptions options = command.submit;
        options.reason = one.reason;
        const auto moved = submit_quietly(frame, one.move, options);
        if (!moved.ok()) {
            return Error{moved.error().code,
                         command.file + ": " + std::to_string(done.size()) +
                             " payouts are recorded; import the file again for the rest: " +
                             moved.error().message};
        }
        for (const std::string& id : one.move.ids) {
            done.emplace(id, one.move.verb);
        }
    }
    return {};
}

std::string name_of(const BankFile::Account& account) {
    return !account.iban.empty()    ? account.iban
           : !account.other.empty() ? "account " + account.other + ", which is no IBAN"
                                    : "no account";
}

/// Finds the reports about the debtor's payments: on an account of the debtor, or a pain.002
/// without an account that answers a message of this account.
class DebtorsOwn {
public:
    DebtorsOwn(Debtors debtors, AccountNumber account, LedgerReader& ledger)
        : debtors_(std::move(debtors)), account_(account), ledger_(ledger) {}

    [[nodiscard]] bool has(const BankFile::Account& account) const {
        return std::ranges::any_of(
            debtors_, [&](const auto& debtor) { return debtor.second.iban == account.iban; });
    }
    [[nodiscard]] bool has(const BankReport& report) const {
        return !report.original_message.empty() &&
               !payouts_of_message(ledger_, account_, report.original_message).empty();
    }

private:
    Debtors debtors_;
    AccountNumber account_;
    LedgerReader& ledger_;
};

Error not_the_debtors(const ImportBankFileCommand& command, const BankFile& file) {
    std::string where = command.file + ":1: expected an account of " + command.debtor;
    if (!file.accounts.empty()) {
        const BankFile::Account& first = file.accounts.front();
        where = command.file + ":" + std::to_string(first.line) + ": expected an account of " +
                command.debtor + ", found " + name_of(first);
    } else {
        const std::string& message = file.reports.front().original_message;
        where += " or a message of account " + command.submit.account->str() +
                 ", found no account and message " + (message.empty() ? "(none)" : message);
    }
    return invalid(where + "; nothing was recorded");
}

/// Leaves out the lines of other bank accounts, and returns their number. Refuses a file without an
/// account of the debtor.
Result<std::size_t> drop_other_accounts(const ImportBankFileCommand& command, BankFile& file,
                                        AccountNumber account, LedgerReader& ledger) {
    if (command.debtor.empty()) {
        return std::size_t{0};
    }
    auto debtors = read_debtors(command.debtor);
    if (!debtors.ok()) {
        return debtors.error();
    }
    const DebtorsOwn own(std::move(debtors).value(), account, ledger);
    const auto is_own = [&own](const auto& one) { return own.has(one); };
    const std::vector<bool> own_accounts = mapped(file.accounts, is_own);
    const std::vector<bool> own_reports = mapped(file.reports, is_own);
    if (std::ranges::count(own_accounts, true) + std::ranges::count(own_reports, true) == 0) {
        return not_the_debtors(command, file);
    }
    return std::erase_if(file.lines, [&](const BankLine& line) {
        return line.account ? !own_accounts[*line.account] : !own_reports[line.report];
    });
}

/// Shows what an earlier try of this command moved as moved, and not as recorded before.
void show_moved(const Moved& done, std::vector<JudgedLine>& judged) {
    for (JudgedLine& one : judged) {
        const PayoutVerb verb = one.line.event == BankEvent::kSettled    ? PayoutVerb::kSettle
                                : one.line.event == BankEvent::kReturned ? PayoutVerb::kReturned
                                                                         : PayoutVerb::kFailed;
        if (one.outcome == BankOutcome::kKnown && one.payout && !one.records_ref &&
            done.contains({one.payout->payout_id, verb})) {
            one.outcome = BankOutcome::kMoved;
            one.verb = verb;
            one.note = one.line.note;
        }
    }
}

Status run_import_bank_file(const Frame& frame, const ImportBankFileCommand& command) {
    constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;
    const auto account = account_number(frame, *command.submit.account);
    const auto text = account.ok() ? read_to_end(command.file, kFileBytesMax) : account.error();
    if (!text.ok()) {
        return text.error();
    }
    auto file = parse_bank_file(command.file, *text);
    if (!file.ok()) {
        return Error{file.error().code, file.error().message + "; nothing was recorded"};
    }
    constexpr int kTriesMax = 5;  // another import of the same payouts runs
    std::size_t skipped = 0;
    const auto judge = [&] {
        return with_snapshot(
            frame, command.submit.ledger_url, ReadFrom::kConfirmed, [&](LedgerReader& ledger) {
                return drop_other_accounts(command, *file, *account, ledger)
                    .and_then([&](std::size_t others) {
                        skipped += others;
                        return Result(
                            judge_bank_file(ledger, *account, *command.submit.account, *file));
                    });
            });
    };
    Moved done;
    auto judged = judge();
    for (int tries = 1; judged.ok() && !command.preview; ++tries) {
        const Status moved = submit_all(frame, command, moves_of(*file, *judged), done);
        if (moved.ok()) {
            break;
        }
        if (moved.error().code != ErrorCode::kInvalid || tries == kTriesMax) {
            return moved;
        }
        judged = judge();
    }
    if (!judged.ok()) {
        return judged.error();
    }
    show_moved(done, *judged);
    print(command, *judged);
    if (skipped != 0) {
        std::fprintf(command.format == Format::kTable ? stdout : stderr,
                     "%zu line%s of other bank accounts skipped\n", skipped,
                     skipped == 1 ? "" : "s");
    }
    return verdict(command, *judged);
}

}  // namespace

void declare_bank(Subcommand app) {
    const Subcommand group = app.add_group("bank", "Read what the bank reports");
    auto [imported, command] = add_command(
        group, "import",
        "Settle, fail or return payouts as a file of the bank reports them, and list the rest",
        run_import_bank_file);
    add_file(imported, "FILE", "FILE", command.file, FileUse::kInput,
             "ISO 20022 file: pain.002, camt.053 or camt.054")
        .required();
    add_account(imported, command.submit);
    add_file(
        imported, "--debtor", "FILE", command.debtor, FileUse::kInput,
        "Debtor's accounts, as for `payout export`: skip the lines of other bank accounts, and "
        "refuse a file on none of these; a file without a payout is then no error");
    add_flag(imported, "--preview", command.preview,
             "Change nothing; print what would be recorded");
    add_format(imported, command.format);
    add_ledger(imported, command.submit.ledger_url);
}

}  // namespace sluice::cli
