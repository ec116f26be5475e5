// sluice payout export

#include <algorithm>

#include "core/commands/ids.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "worker/access/accounts.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/bank/payees.hpp"
#include "worker/bank/payment.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/reports/payouts.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kDateBytes = 10;  // 2026-02-03

struct ExportCommand {
    std::vector<std::string> ids;
    std::string again;  ///< Id of an earlier message; empty means a new one.
    PaymentForm form = PaymentForm::kCsv;
    std::optional<Currency> currency;  ///< Other payouts of the named runs are left out.
    std::string payees, debtor, out;
    PaymentColumns columns;
    std::string execution_date;
    std::optional<std::string> remittance;
    SubmitOptions submit;
};

/// The bank accounts, read before the ledger.
struct BankFiles {
    Payees payees;
    Debtors debtors;
};

Result<BankFiles> read_bank_files(const ExportCommand& command) {
    BankFiles files;
    auto payees = read_payees(command.payees);
    if (!payees.ok()) {
        return payees.error();
    }
    files.payees = std::move(payees).value();
    if (!command.debtor.empty()) {
        auto debtors = read_debtors(command.debtor);
        if (!debtors.ok()) {
            return debtors.error();
        }
        files.debtors = std::move(debtors).value();
    }
    return files;
}

/// Returns the named payouts, and all payouts of a named payout run, sorted by id, each once.
Result<std::vector<Payout>> named_payouts(LedgerReader& ledger, AccountNumber account,
                                          const ExportCommand& command) {
    std::map<std::string, Payout> found;
    for (const std::string& id : command.ids) {
        bool known = false;
        Payout one;
        one.payout_id = id;
        if (ledger.load(one) && one.account == account) {
            found.emplace(id, one);
            continue;
        }
        PayoutRun run;
        run.payout_run = id;
        if (ledger.load(run) && run.account == account) {
            scan_payout_run(ledger, id, [&](const Payout& payout) {
                known = true;
                if (!command.currency || payout.currency == *command.currency) {
                    found.emplace(payout.payout_id, payout);
                }
                return true;
            });
        }
        if (!known) {
            return Error{ErrorCode::kNotFound,
                         "account " + command.submit.account->str() + " has no payout " + id};
        }
    }
    std::vector<Payout> payouts;
    for (auto& [id, payout] : found) {
        payouts.push_back(std::move(payout));
    }
    if (payouts.empty()) {
        return Error{ErrorCode::kNotFound,
                     "none of the payouts is in " + std::string(command.currency->code())};
    }
    return payouts;
}

bool was_sent_by(LedgerReader& ledger, const Payout& payout, const std::string& command) {
    bool found = false;
    ledger.scan_creator_journal(
        payout.account, payout.creator, *payout.sent_at, kEndOfTime,
        [&](const JournalGroup& group) {
            found = group.payout_id == payout.payout_id && group.command_id == command &&
                    group.entries.front().reason == JournalReason::kMemoSent;
            return !found;
        });
    return found;
}

/// Returns the payouts that the `payout sent` or `payout export` with this id sent.
std::vector<Payout> sent_payouts(LedgerReader& ledger, AccountNumber account,
                                 const std::string& command) {
    std::vector<Payout> candidates, payouts;
    ledger.scan_payouts([&](const Payout& payout) {
        if (payout.account == account && payout.sent_at &&
            command.starts_with(command_id_prefix(*payout.sent_at))) {
            candidates.push_back(payout);
        }
        return true;
    });
    for (Payout& payout : candidates) {
        if (was_sent_by(ledger, payout, command)) {
            payouts.push_back(std::move(payout));
        }
    }
    return payouts;
}

/// Returns the earlier command with this key and these payouts (rule K1), or an empty id.
Result<std::string> sent_with_key(const Frame& frame, const ExportCommand& command,
                                  AccountNumber account) {
    std::string id;
    Status read = with_snapshot(
        frame, command.submit.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            CommandKey key;
            key.account = account;
            key.key = command.submit.key;
            if (key.key.empty() || !ledger.load(key)) {
                return Status::success();
            }
            const auto named = named_payouts(ledger, account, command);
            if (!named.ok()) {
                return named.error();
            }
            const std::vector<Payout> sent = sent_payouts(ledger, account, key.command_id);
            const auto same = [](const Payout& a, const Payout& b) {
                return a.payout_id == b.payout_id;
            };
            if (!std::equal(named->begin(), named->end(), sent.begin(), sent.end(), same)) {
                return Error{ErrorCode::kConflict, "key " + key.key + " was used by " +
                                                       key.command_id +
                                                       " with other content; nothing was done"};
            }
            id = key.command_id;
            return Status::success();
        },
        ReadFrom::kConfirmed);
    return read.ok() ? Result<std::string>(std::move(id)) : Result<std::string>(read.error());
}

/// Returns an error unless all of them are APPROVED.
Status check_states(const std::vector<Payout>& payouts) {
    for (const Payout& payout : payouts) {
        if (payout.state != PayoutState::kApproved) {
            const bool sent = payout.state == PayoutState::kSent;
            return Error{ErrorCode::kConflict,
                         "payout " + payout.payout_id + " is " +
                             std::string(to_string(payout.state)) +
                             (sent ? ": to write its message again name it with --again"
                                   : ": expected APPROVED")};
        }
    }
    return Status::success();
}

/// Makes the message without its id and time. Finds every reason to refuse it before anything is
/// marked as sent.
Result<PaymentMessage> message_of(LedgerReader& ledger, const std::vector<Payout>& payouts,
                                  const ExportCommand& command, const BankFiles& files) {
    PaymentMessage message;
    message.account_id = command.submit.account->str();
    message.currency = payouts.front().currency;
    message.execution_date = command.execution_date;
    message.more = files.payees.columns;
    message.names_remittance = command.remittance.has_value();
    if (const BankAccount* debtor = debtor_in(files.debtors, message.currency.code())) {
        message.debtor = *debtor;
    }
    const CreatorNames names(ledger);
    for (const Payout& payout : payouts) {
        if (payout.currency != message.currency) {
            return Error{ErrorCode::kInvalid,
                         "expected payouts of one currency: " + payouts.front().payout_id +
                             " is in " + std::string(message.currency.code()) + ", " +
                             payout.payout_id + " in " + std::string(payout.currency.code()) +
                             "; use --currency for one file per currency"};
        }
        CreatorRow profile{payout.account, payout.creator, {}, {}, {}};
        const std::string creator = names.shown(payout.account, payout.creator).str();
        if (!ledger.load(profile) || profile.payee.empty()) {
            return Error{ErrorCode::kInvalid, "payout " + payout.payout_id + ": creator " +
                                                  creator + " has no payee; `sluice creator set " +
                                                  creator + " --payee`"};
        }
        const auto to = files.payees.by_reference.find(profile.payee);
        if (to == files.payees.by_reference.end()) {
            return Error{ErrorCode::kInvalid, command.payees + ": expected a row of payee " +
                                                  profile.payee + ", of creator " + creator};
        }
        Payment payment{payout.payout_id, creator, profile.payee, payout.amount, to->second, {}};
        auto remittance =
            remittance_text(command.remittance.value_or("{payout}"), payment, payout.until);
        if (!remittance.ok()) {
            return remittance.error();
        }
        payment.remittance = std::move(remittance).value();
        message.payments.push_back(std::move(payment));
    }
    if (Status fits = check_columns(command.columns, message); !fits.ok()) {
        return fits.error();
    }
    if (command.form == PaymentForm::kPain) {
        if (!message.debtor) {
            return Error{ErrorCode::kInvalid, command.debtor + ": expected a row for " +
                                                  std::string(message.currency.code())};
        }
        if (Status fits = check_pain(message); !fits.ok()) {
            return fits.error();
        }
    }
    return message;
}

Result<PaymentMessage> read_message(const Frame& frame, const ExportCommand& command,
                                    AccountNumber account, const BankFiles& files) {
    std::optional<PaymentMessage> message;
    Status read = with_snapshot(
        frame, command.submit.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            auto payouts = named_payouts(ledger, account, command);
            if (!payouts.ok()) {
                return payouts.error();
            }
            if (Status possible = check_states(*payouts); !possible.ok()) {
                return possible;
            }
            auto made = message_of(ledger, *payouts, command, files);
            if (!made.ok()) {
                return made.error();
            }
            message = std::move(made).value();
            return Status::success();
        },
        ReadFrom::kConfirmed);
    return read.ok() ? Result<PaymentMessage>(*std::move(message))
                     : Result<PaymentMessage>(read.error());
}

/// Writes the message of the command `id`, from the ledger alone.
Status write_sent(const Frame& frame, const ExportCommand& command, AccountNumber account,
                  const BankFiles& files, const std::string& id) {
    return with_snapshot(
        frame, command.submit.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            const std::vector<Payout> payouts = sent_payouts(ledger, account, id);
            if (payouts.empty()) {
                return Error{ErrorCode::kNotFound, "account " + command.submit.account->str() +
                                                       " has no payouts that " + id + " sent"};
            }
            auto message = message_of(ledger, payouts, command, files);
            if (!message.ok()) {
                return message.error();
            }
            message->message_id = id;
            message->created_at = *payouts.front().sent_at;
            if (Status written = write_output(
                    command.out, payment_file(*message, command.form, command.columns));
                !written.ok()) {
                return Error{written.error().code,
                             written.error().message +
                                 "; the payouts are sent: write the file with "
                                 "--again " +
                                 id};
            }
            std::printf("message %s, %zu payout%s, written to %s\n", id.c_str(), payouts.size(),
                        payouts.size() == 1 ? "" : "s", printable(command.out).c_str());
            return Status::success();
        },
        ReadFrom::kConfirmed);
}

Status run_export(const Frame& frame, const ExportCommand& command) {
    const auto account = account_number(frame, *command.submit.account);
    if (!account.ok()) {
        return account.error();
    }
    const auto files = read_bank_files(command);
    if (!files.ok()) {
        return files.error();
    }
    if (!command.again.empty()) {
        return write_sent(frame, command, *account, *files, command.again);
    }
    const auto known = sent_with_key(frame, command, *account);
    if (!known.ok()) {
        return known.error();
    }
    if (!known->empty()) {
        return write_sent(frame, command, *account, *files, *known);
    }
    if (!command.execution_date.empty() &&
        command.execution_date < now().to_string().substr(0, kDateBytes)) {
        return Error{ErrorCode::kInvalid,
                     "--execution-date " + command.execution_date + ": that day has passed"};
    }
    const auto message = read_message(frame, command, *account, *files);
    if (!message.ok()) {
        return message.error();
    }
    PayoutMove move;
    move.verb = PayoutVerb::kSent;
    for (const Payment& payment : message->payments) {
        move.ids.push_back(payment.payout_id);
    }
    const auto sent = submit_quietly(frame, move, command.submit);
    if (!sent.ok()) {
        return sent.error();
    }
    return write_sent(frame, command, *account, *files, sent->command_id);
}

Result<std::string> parse_date(std::string_view text) {
    const std::string date(text);
    if (date.size() != kDateBytes || !Timestamp::parse(date + "T00:00:00Z")) {
        return Error{ErrorCode::kInvalid, "expected a date such as 2026-02-03"};
    }
    return date;
}

}  // namespace

void declare_export(Subcommand group) {
    auto [app, command] =
        add_command(group, "export",
                    "Mark approved payouts as sent, and write the bank's payment file", run_export);
    command.submit.reason = "payout export";
    const Option ids =
        add_texts(app, "ID", "", command.ids, "Payouts, or payout runs for all of their payouts");
    add_id(app, "--account", "A", command.submit.account.emplace(), "Account").required();
    add_value(app, "--currency", "CUR", command.currency, parse_currency,
              "Only the payouts in this currency of the payout runs (ISO 4217)");
    add_value(app, "--form", "csv|json|pain.001", command.form, parse_payment_form,
              "File format; pain.001 means pain.001.001.09, EUR only")
        .required();
    add_file(
        app, "--payees", "FILE", command.payees, FileUse::kInput,
        "Payout destinations: a CSV file with columns payee,name, optionally iban,bic (pain.001 "
        "requires the IBAN), and any others, which csv and json pass through")
        .required();
    add_file(
        app, "--debtor", "FILE", command.debtor, FileUse::kInput,
        "Debtor's account, required for pain.001: a CSV file with columns name,iban, optionally "
        "bic and currency (one row per currency)");
    const Option columns =
        add_value(app, "--columns", "LIST|wise|paypal", command.columns, parse_payment_columns,
                  "Columns of --form csv: HEADER=FIELD or HEADER='TEXT', with a comma between, or "
                  "the batch file of Wise or PayPal, which need a payees column email");
    add_value(
        app, "--execution-date", "DATE", command.execution_date, parse_date,
        "Day on which the bank is to pay, YYYY-MM-DD, in pain.001 (default: the day of export)");
    add_value(
        app, "--remittance", "TEXT", command.remittance,
        [](std::string_view text) { return Result<std::string>(std::string(text)); },
        "Text for the payee's statement; {month}, {payout} and {creator} are replaced "
        "(default: {payout}). Given, csv and json have a column remittance");
    add_file(app, "--out", "FILE", command.out, FileUse::kOutput, "Output file").required();
    add_value(app, "--again", "ID", command.again, parse_admin_id,
              "Write the file of this earlier message again; nothing is marked as sent")
        .excludes(ids);
    app.require([&command = command, columns]() -> std::string {
        if (columns.is_given() && command.form != PaymentForm::kCsv) {
            return "--form csv, for --columns,";
        }
        if (!command.execution_date.empty() && command.form != PaymentForm::kPain) {
            return "--form pain.001, for --execution-date,";
        }
        if (command.ids.empty() && command.again.empty()) {
            return "ID or --again";
        }
        return command.form == PaymentForm::kPain && command.debtor.empty() ? "--debtor" : "";
    });
    add_command_options(app, command.submit, false);
}

}  // namespace sluice::cli
