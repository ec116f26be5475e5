// sluice payout export

#include <algorithm>
#include <filesystem>

#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/lists/names.hpp"
#include "core/protocol/signature.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/bank/payees.hpp"
#include "tool/bank/payment.hpp"
#include "tool/finance/export_plan.hpp"
#include "tool/finance/kept_export.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"

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
    std::string out_suffix;  ///< As in FilePayouts.
    PaymentColumns columns;
    std::string execution_date;
    std::optional<bool> batch_booking;
    std::optional<std::string> remittance;
    SubmitOptions submit;
};

ExportRequest request_of(const ExportCommand& command, AccountNumber account) {
    return {account,          *command.submit.account,  command.ids,
            command.currency, command.columns.rows_max, command.submit.key};
}

/// The bank accounts, read before the ledger.
struct BankFiles {
    Payees payees;
    Debtors debtors;
};

Result<BankFiles> read_bank_files(const ExportCommand& command) {
    BankFiles files;
    Status read = assign(files.payees, read_payees(command.payees));
    if (read.ok() && !command.debtor.empty()) {
        read = assign(files.debtors, read_debtors(command.debtor));
    }
    return read.ok() ? Result(std::move(files)) : read.error();
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
    const lists::CreatorNames names(ledger, payouts.front().account);
    for (const Payout& payout : payouts) {
        if (payout.currency != message.currency) {
            return invalid("expected payouts of one currency: " + payouts.front().payout_id +
                           " is in " + std::string(message.currency.code()) + ", " +
                           payout.payout_id + " in " + std::string(payout.currency.code()) +
                           "; use --currency for one file per currency");
        }
        const std::string creator = names.shown(payout.account, payout.creator).str();
        if (Status same = check_payee(ledger, payout, creator, message.account_id); !same.ok()) {
            return same.error();
        }
        const auto to = files.payees.by_reference.find(payout.payee);
        if (to == files.payees.by_reference.end()) {
            return invalid(command.payees + ": expected a row of payee " + payout.payee +
                           ", of creator " + creator);
        }
        Payment payment{payout.payout_id, creator, payout.payee, payout.amount, to->second, {}};
        const std::string pattern = command.remittance.value_or(
            std::string(default_remittance(command.columns, message.currency)));
        if (Status fits =
                assign(payment.remittance, remittance_text(pattern, payment, payout.until));
            !fits.ok()) {
            return fits.error();
        }
        message.payments.push_back(std::move(payment));
    }
    if (Status fits = check_columns(command.columns, message); !fits.ok()) {
        return fits.error();
    }
    if (command.form == PaymentForm::kPain) {
        if (!message.debtor) {
            return invalid(command.debtor + ": expected a row for " +
                           std::string(message.currency.code()));
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
    Digest256 payouts{};
    std::string payees{};  ///< SHA-256 of the file of bank accounts.
};

/// A file that is to be written, with its own suffix and key in `command`.
struct OutFile {
    ExportCommand command;
    std::string sent_before;  ///< The message that an earlier command with the key sent, or empty.
    NewMessage made{};        ///< Else.
};

/// Reads the ledger for all files. Finds every reason to refuse one of them before the first is
/// sent.
Result<std::vector<OutFile>> read_files(LedgerReader& ledger, AccountNumber account,
                                        const ExportCommand& command, const BankFiles& files,
                                        std::string& notes) {
    auto plan = plan_export(ledger, request_of(command, account));
    if (!plan.ok()) {
        return plan.error();
    }
    if (plan->files.size() > 1 && (command.out == "-" || command.out.starts_with("/dev/"))) {
        const Currency first = plan->files.front().payouts.front().currency;
        const bool is_one = std::ranges::all_of(plan->files, [first](const FilePayouts& file) {
            return file.payouts.front().currency == first;
        });
        return invalid(is_one
                           ? "the payouts need " + std::to_string(plan->files.size()) +
                                 " files of at most " + std::to_string(command.columns.rows_max) +
                                 " payments: expected a name of files in --out"
                           : "the payouts have several currencies, a file each: expected "
                             "--currency, or a name of files in --out");
    }
    notes = plan->notes;
    std::vector<OutFile> out;
    for (FilePayouts& one : plan->files) {
        OutFile& file = out.emplace_back(OutFile{command, {}});
        file.command.out_suffix = one.suffix;
        file.command.submit.key = key_of(command.submit.key, one.suffix);
        if (one.are_sent) {
            file.sent_before = one.payouts.front().message;
            continue;
        }
        if (!command.execution_date.empty() &&
            command.execution_date < now().to_string().substr(0, kDateBytes)) {
            return invalid("--execution-date " + command.execution_date + ": that day has passed");
        }
        auto message = message_of(ledger, one.payouts, command, files);
        if (!message.ok()) {
            return message.error();
        }
        file.made = {std::move(message).value(), payouts_digest(one.payouts), files.payees.sha256};
    }
    return out;
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
    Status read =
        with_snapshot(frame, command.submit.ledger_url, ReadFrom::kConfirmed,
                      [&](LedgerReader& ledger) -> Status {
                          payouts = payouts_of_message(ledger, account, message);
                          if (payouts.empty()) {  // maybe the command that sent it
                              payouts = sent_payouts(ledger, account, named);
                              message = payouts.empty() ? std::string() : payouts.front().message;
                          }
                          if (payouts.empty() || message.empty()) {
                              return not_found("account " + command.submit.account->str() +
                                               " has no exported message " + named);
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
    move.payees = made.payees;
    move.ids = mapped(message.payments, [](const Payment& payment) { return payment.payout_id; });
    const auto sent = submit_quietly(frame, move, command.submit);
    if (sent.ok() && sent->outcome == CommandOutcome::kDone) {
        return write_out(command, bytes, message.message_id, message.payments.size());
    }
    // A command with the same key may have been applied after the search for it.
    const auto known = with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kConfirmed,
        [&](LedgerReader& ledger) { return sent_with_key(ledger, request_of(command, account)); });
    const bool is_refused = sent.ok() ? sent->outcome != CommandOutcome::kPending
                                      : sent.error().code == ErrorCode::kInvalid;
    if (is_refused && known.ok() &&
        (known->empty() || known->front().message != message.message_id)) {  // nothing was sent
        std::error_code ignored;
        std::filesystem::remove(kept_file(frame, message.message_id), ignored);
    }
    if (known.ok() && !known->empty()) {
        return write_again(frame, command, account, known->front().message);
    }
    return sent.ok() ? Status(conflict(sent->text)) : Status(sent.error());
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
    std::string notes;
    auto out = with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kConfirmed,
        [&](LedgerReader& ledger) { return read_files(ledger, *account, command, *files, notes); });
    if (!out.ok()) {
        return out.error();
    }
    for (OutFile& file : *out) {
        Status done = file.sent_before.empty()
                          ? send_message(frame, file.command, *account, std::move(file.made))
                          : write_again(frame, file.command, *account, file.sent_before);
        if (!done.ok()) {
            return done;
        }
    }
    if (!notes.empty()) {
        std::printf("%s\n", printable(notes).c_str());
    }
    return Status::success();
}

Result<std::string> parse_date(std::string_view text) {
    const auto day = Timestamp::parse(std::string(text) + "T00:00:00Z");
    return fitting(text, text.size() == kDateBytes && day, "expected a date such as 2026-02-03");
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
    const Option form = add_word<PaymentForm>(app, "--form", command.form,
                                              {{"csv", PaymentForm::kCsv},
                                               {"json", PaymentForm::kJson},
                                               {"pain.001", PaymentForm::kPain}},
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
    add_word<bool>(
        app, "--batch-booking", command.batch_booking, {{"yes", true}, {"no", false}},
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
