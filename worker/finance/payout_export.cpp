// sluice payout export

#include <algorithm>
#include <filesystem>

#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/protocol/signature.hpp"
#include "core/reports/names.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/bank/payees.hpp"
#include "worker/bank/payment.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/commands.hpp"
#include "worker/finance/kept_export.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kDateBytes = 10;  // 2026-02-03
constexpr std::size_t kKeptBytesMax = std::size_t{1} << 30;

struct ExportCommand {
    std::vector<std::string> ids;
    std::string again;  ///< Id of an earlier message; empty means a new one.
    PaymentForm form = PaymentForm::kCsv;
    std::optional<Currency> currency;  ///< Other payouts of the named runs are left out.
    std::string payees, debtor, out;
    std::string out_suffix;  ///< -EUR, of one currency of several.
    PaymentColumns columns;
    std::string execution_date;
    std::optional<bool> batch_booking;
    std::optional<std::string> remittance;
    SubmitOptions submit;
};

/// The bank accounts, read before the ledger.
struct BankFiles {
    Payees payees;
    Debtors debtors;
};

Result<BankFiles> read_bank_files(const ExportCommand& command) {
    auto payees = read_payees(command.payees);
    if (!payees.ok()) {
        return payees.error();
    }
    auto debtors = command.debtor.empty() ? Debtors() : read_debtors(command.debtor);
    if (!debtors.ok()) {
        return debtors.error();
    }
    return BankFiles{std::move(payees).value(), std::move(debtors).value()};
}

/// Returns the named payouts, and those of a named payout run that are not void, sorted by id, each
/// once.
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
            for (Payout& payout : payouts_of_run(ledger, id)) {
                known = true;
                if (payout.state != PayoutState::kVoid &&
                    (!command.currency || payout.currency == *command.currency)) {
                    found.try_emplace(payout.payout_id, std::move(payout));
                }
            }
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
                     command.currency
                         ? "none of the payouts is in " + std::string(command.currency->code())
                         : "every payout of the payout run is void"};
    }
    return payouts;
}

/// Returns the message that an earlier command with this key and these payouts sent (rule K1), or
/// an empty id.
Result<std::string> sent_with_key(const Frame& frame, const ExportCommand& command,
                                  AccountNumber account) {
    return with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kConfirmed,
        [&](LedgerReader& ledger) -> Result<std::string> {
            CommandKey key;
            key.account = account;
            key.key = command.submit.key;
            if (key.key.empty() || !ledger.load(key)) {
                return std::string();
            }
            const auto named = named_payouts(ledger, account, command);
            if (!named.ok()) {
                return named.error();
            }
            const std::vector<Payout> sent = sent_payouts(ledger, account, key.command_id);
            if (!std::ranges::equal(*named, sent, {}, &Payout::payout_id, &Payout::payout_id)) {
                return Error{ErrorCode::kConflict, "key " + key.key + " was used by " +
                                                       key.command_id +
                                                       " with other content; nothing was done"};
            }
            return sent.front().message;
        });
}

/// Makes the message without its id and time. Finds every reason to refuse it before anything is
/// marked as sent.
Result<PaymentMessage> message_of(LedgerReader& ledger, const std::vector<Payout>& payouts,
                                  const ExportCommand& command, const BankFiles& files) {
    PaymentMessage message;
    message.account_id = command.submit.account->str();
    message.currency = payouts.front().currency;
    message.execution_date = command.execution_date;
    message.batch_booking = command.batch_booking;
    message.more = files.payees.columns;
    message.names_remittance = command.remittance.has_value();
    if (const BankAccount* debtor = debtor_in(files.debtors, message.currency.code())) {
        message.debtor = *debtor;
    }
    const reports::CreatorNames names(ledger);
    for (const Payout& payout : payouts) {
        if (payout.currency != message.currency) {
            return Error{ErrorCode::kInvalid,
                         "expected payouts of one currency: " + payouts.front().payout_id +
                             " is in " + std::string(message.currency.code()) + ", " +
                             payout.payout_id + " in " + std::string(payout.currency.code()) +
                             "; use --currency for one file per currency"};
        }
        const std::string creator = names.shown(payout.account, payout.creator).str();
        if (Status same = check_payee(ledger, payout, creator); !same.ok()) {
            return same.error();
        }
        const auto to = files.payees.by_reference.find(payout.payee);
        if (to == files.payees.by_reference.end()) {
            return Error{ErrorCode::kInvalid, command.payees + ": expected a row of payee " +
                                                  payout.payee + ", of creator " + creator};
        }
        Payment payment{payout.payout_id, creator, payout.payee, payout.amount, to->second, {}};
        const std::string pattern = command.remittance.value_or(
            std::string(default_remittance(command.columns, message.currency)));
        auto remittance = remittance_text(pattern, payment, payout.until);
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
        if (Status fits = prepare_pain(message); !fits.ok()) {
            return fits.error();
        }
    }
    return message;
}

/// A message, and payouts_digest() of what it pays.
struct NewMessage {
    PaymentMessage message;
    Digest256 payouts;
};

Result<NewMessage> read_message(const Frame& frame, const ExportCommand& command,
                                AccountNumber account, const BankFiles& files) {
    return with_snapshot(frame, command.submit.ledger_url, ReadFrom::kConfirmed,
                         [&](LedgerReader& ledger) -> Result<NewMessage> {
                             auto payouts = named_payouts(ledger, account, command);
                             if (!payouts.ok()) {
                                 return payouts.error();
                             }
                             if (Status possible = check_states(*payouts); !possible.ok()) {
                                 return possible.error();
                             }
                             auto made = message_of(ledger, *payouts, command, files);
                             if (!made.ok()) {
                                 return made.error();
                             }
                             return NewMessage{std::move(made).value(), payouts_digest(*payouts)};
                         });
}

// ---- Kept files ---------------------------------------------------------------------------------

Status write_out(const ExportCommand& command, const std::string& bytes, const std::string& message,
                 std::size_t payouts) {
    const bool is_sibling = !command.out_suffix.empty();
    const Status written = is_sibling ? write_sibling(command.out, command.out_suffix, bytes)
                                      : write_output(command.out, bytes);
    if (!written.ok()) {
        return Error{written.error().code, written.error().message +
                                               "; the payouts are sent: write the file with "
                                               "--again " +
                                               message};
    }
    std::printf(
        "message %s, %zu payout%s, written to %s\n", message.c_str(), payouts,
        payouts == 1 ? "" : "s",
        printable(is_sibling ? sibling_of(command.out, command.out_suffix) : command.out).c_str());
    return Status::success();
}

/// Writes exactly the bytes that were kept.
Status write_again(const Frame& frame, const ExportCommand& command, AccountNumber account,
                   const std::string& named) {
    std::string message = named;
    std::vector<Payout> payouts;
    std::string proven;
    Status read = with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kConfirmed,
        [&](LedgerReader& ledger) -> Status {
            payouts = payouts_of_message(ledger, account, message);
            if (payouts.empty()) {  // maybe the command that sent it
                payouts = sent_payouts(ledger, account, named);
                message = payouts.empty() ? std::string() : payouts.front().message;
            }
            if (payouts.empty() || message.empty()) {
                return Error{ErrorCode::kNotFound, "account " + command.submit.account->str() +
                                                       " has no exported message " + named};
            }
            proven = proven_sha256(ledger, payouts.front());
            return check_unended(message, payouts);
        });
    if (!read.ok()) {
        return read;
    }
    const std::string kept = kept_file(frame, message);
    const auto bytes = read_file(kept, kKeptBytesMax);
    if (!bytes.ok()) {
        return Error{bytes.error().code, "message " + message +
                                             " cannot be written again: " + bytes.error().message +
                                             "; it is kept where it was exported"};
    }
    if (to_hex(sha256(*bytes)) != proven) {
        return Error{ErrorCode::kCorrupt, "\"" + kept +
                                              "\" was altered: its SHA-256 is not the one in the "
                                              "memo entry SENT"};
    }
    return write_out(command, *bytes, message, payouts.size());
}

/// `M260131140509-7KQ4M9XW`: drawn before the command is sent, because its memo entry has the
/// digest of bytes that hold the id.
std::string new_message_id(Timestamp at) {
    constexpr std::size_t kRandomBytes = 4;
    return "M" + command_id_prefix(at).substr(1) + random_hex(kRandomBytes);
}

/// Keeps the file, marks its payouts as sent unless they changed since they were read, and writes
/// it out.
Status send_message(const Frame& frame, const ExportCommand& command, AccountNumber account,
                    NewMessage made) {
    PaymentMessage& message = made.message;
    message.created_at = now();
    message.message_id = new_message_id(message.created_at);
    const std::string bytes = payment_file(message, command.form, command.columns);
    if (Status kept = keep_export(frame, message.message_id, bytes); !kept.ok()) {
        return kept;
    }
    PayoutMove move;
    move.verb = PayoutVerb::kSent;
    move.message = message.message_id;
    move.sha256 = to_hex(sha256(bytes));
    move.expect = to_hex(made.payouts);
    for (const Payment& payment : message.payments) {
        move.ids.push_back(payment.payout_id);
    }
    const auto sent = submit_quietly(frame, move, command.submit);
    if (sent.ok() && sent->outcome == CommandOutcome::kDone) {
        return write_out(command, bytes, message.message_id, message.payments.size());
    }
    if (!sent.ok() && sent.error().code == ErrorCode::kInvalid) {  // refused: nothing was sent
        std::error_code ignored;
        std::filesystem::remove(kept_file(frame, message.message_id), ignored);
    }
    // A command with the same key may have been applied after the look for it.
    const auto known = sent_with_key(frame, command, account);
    if (known.ok() && !known->empty()) {
        return write_again(frame, command, account, *known);
    }
    return sent.ok() ? Status(Error{ErrorCode::kConflict, sent->text}) : Status(sent.error());
}

/// Returns one command for each file: one for each currency of the named payouts, or more if the
/// file's reader has a limit. Each has a key of its own.
Result<std::vector<ExportCommand>> by_file(const Frame& frame, const ExportCommand& command,
                                           AccountNumber account) {
    const auto named = with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kConfirmed,
        [&](LedgerReader& ledger) { return named_payouts(ledger, account, command); });
    if (!named.ok()) {
        return named.error();
    }
    std::map<Currency, std::vector<std::string>> ids;
    for (const Payout& payout : *named) {
        ids[command.currency.value_or(payout.currency)].push_back(payout.payout_id);
    }
    const std::size_t most =
        command.columns.rows_max == 0 ? named->size() : command.columns.rows_max;
    std::vector<ExportCommand> commands;
    for (const auto& [currency, payouts] : ids) {
        for (std::size_t first = 0; first < payouts.size(); first += most) {
            ExportCommand& one = commands.emplace_back(command);
            const std::size_t last = std::min(first + most, payouts.size());
            one.ids.assign(payouts.begin() + static_cast<std::ptrdiff_t>(first),
                           payouts.begin() + static_cast<std::ptrdiff_t>(last));
            one.out_suffix = (ids.size() > 1 ? "-" + std::string(currency.code()) : "") +
                             (payouts.size() > most ? "-" + std::to_string(first / most + 1) : "");
            one.submit.key += one.submit.key.empty() ? "" : one.out_suffix;
        }
    }
    if (commands.size() == 1) {
        return std::vector<ExportCommand>{command};
    }
    if (command.out == "-" || command.out.starts_with("/dev/")) {
        return Error{ErrorCode::kInvalid,
                     ids.size() > 1 ? "the payouts have several currencies, a file each: expected "
                                      "--currency, or a name of files in --out"
                                    : "the payouts need " + std::to_string(commands.size()) +
                                          " files of at most " + std::to_string(most) +
                                          " payments: expected a name of files in --out"};
    }
    return commands;
}

/// Checks every message before the first is sent.
Status send_all(const Frame& frame, const std::vector<ExportCommand>& commands,
                AccountNumber account, const BankFiles& files) {
    std::vector<std::pair<std::string, std::optional<NewMessage>>> messages;
    for (const ExportCommand& command : commands) {
        const auto known = sent_with_key(frame, command, account);
        if (!known.ok()) {
            return known.error();
        }
        messages.emplace_back(*known, std::nullopt);
        if (known->empty() && !command.execution_date.empty() &&
            command.execution_date < now().to_string().substr(0, kDateBytes)) {
            return Error{ErrorCode::kInvalid,
                         "--execution-date " + command.execution_date + ": that day has passed"};
        }
        if (known->empty()) {
            auto message = read_message(frame, command, account, files);
            if (!message.ok()) {
                return message.error();
            }
            messages.back().second = std::move(message).value();
        }
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
        auto& [known, message] = messages[i];
        Status done = message ? send_message(frame, commands[i], account, *std::move(message))
                              : write_again(frame, commands[i], account, known);
        if (!done.ok()) {
            return done;
        }
    }
    return Status::success();
}

Status run_export(const Frame& frame, const ExportCommand& command) {
    const auto account = account_number(frame, *command.submit.account);
    if (!account.ok()) {
        return account.error();
    }
    if (!command.again.empty()) {
        return write_again(frame, command, *account, command.again);
    }
    const auto files = read_bank_files(command);
    if (!files.ok()) {
        return files.error();
    }
    const auto commands = by_file(frame, command, *account);
    return commands.ok() ? send_all(frame, *commands, *account, *files) : Status(commands.error());
}

Result<bool> parse_yes_no(std::string_view text) {
    if (text != "yes" && text != "no") {
        return Error{ErrorCode::kInvalid, "expected yes or no"};
    }
    return text == "yes";
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
    add_account(app, command.submit);
    add_value(
        app, "--currency", "CUR", command.currency, parse_currency,
        "Only the payouts in this currency of the payout runs (default: a file per currency)");
    const Option form =
        add_value(app, "--form", "csv|json|pain.001", command.form, parse_payment_form,
                  "File format; pain.001 means pain.001.001.09");
    add_file(
        app, "--payees", "FILE", command.payees, FileUse::kInput,
        "Payout destinations: a CSV file with columns payee,name, optionally iban,bic (pain.001 "
        "requires the IBAN), and any others, which csv and json pass through; street, building, "
        "postcode, town and country are the address in pain.001");
    add_file(
        app, "--debtor", "FILE", command.debtor, FileUse::kInput,
        "Debtor's account, required for pain.001: a CSV file with columns name,iban, optionally "
        "bic, currency (one row per currency), and an address as in --payees");
    const Option columns =
        add_value(app, "--columns", "LIST|wise|paypal", command.columns, parse_payment_columns,
                  "Columns of --form csv: HEADER=FIELD or HEADER='TEXT', with a comma between, or "
                  "the batch file of Wise or PayPal, which need a payees column email (more files "
                  "above 1000 and 5000 payments)");
    add_value(
        app, "--execution-date", "DATE", command.execution_date, parse_date,
        "Day on which the bank is to pay, YYYY-MM-DD, in pain.001 (default: the day of export)");
    add_value(app, "--batch-booking", "yes|no", command.batch_booking, parse_yes_no,
              "Whether the bank is to post the payments of pain.001 as one sum (default: as agreed "
              "with the bank)");
    add_text(app, "--remittance", "TEXT", command.remittance,
             "Text for the payee's statement; {month}, {payout}, {short} and {creator} are "
             "replaced (default: {payout}; {short}, such as 00017KQ4M9, where Wise takes less). "
             "Given, csv and json have a column remittance");
    add_file(app, "--out", "FILE", command.out, FileUse::kOutputs,
             "Output file; of several currencies OUT.csv becomes OUT-EUR.csv, OUT-USD.csv, and of "
             "several files OUT-1.csv, OUT-2.csv")
        .required();
    add_id(app, "--again", "ID", command.again,
           "Write the kept bytes of this message again; nothing is marked as sent")
        .excludes(ids);
    app.require([&given = command, form, columns]() -> std::string {
        if (columns.is_given() && given.form != PaymentForm::kCsv) {
            return "--form csv, for --columns,";
        }
        if (!given.execution_date.empty() && given.form != PaymentForm::kPain) {
            return "--form pain.001, for --execution-date,";
        }
        if (given.batch_booking && given.form != PaymentForm::kPain) {
            return "--form pain.001, for --batch-booking,";
        }
        if (!given.again.empty()) {
            return {};
        }
        if (given.ids.empty()) {
            return "ID or --again";
        }
        if (!form.is_given()) {
            return "--form";
        }
        if (given.payees.empty()) {
            return "--payees";
        }
        return given.form == PaymentForm::kPain && given.debtor.empty() ? "--debtor" : "";
    });
    add_command_options(app, command.submit, false);
}

}  // namespace sluice::cli
