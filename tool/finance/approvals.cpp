// sluice approve, withdraw, approvals list|show
#include "core/lists/approvals.hpp"

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <set>

#include "core/apply/dry_run.hpp"
#include "core/approvals/signed_approval.hpp"
#include "core/values/lookup.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "tool/bank/payees.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {

namespace {

constexpr const char* kPayeesHelp =
    "File of bank accounts, as `payout export` takes it: the payouts may be exported with it alone";

struct ShowApprovalCommand {
    std::string id;
    std::string payees;    ///< File of bank accounts; empty means none.
    SubmitOptions submit;  ///< Account and ledger.
    Format format = Format::kTable;
    bool statement = false;
};

struct ApproveCommand {
    Approve command;
    SubmitOptions submit;
    std::string signature;  ///< File; empty means none.
    std::string payees;     ///< File of bank accounts; empty means none.
};

// ---- List ---------------------------------------------------------------------------------------

/// Lists commands that wait, then payouts that are closed and not approved.
Status run_list_approvals(const Frame& frame, const AccountListOptions& command) {
    return list_account_rows(frame, command, lists::pending_list().columns(),
                             [&](LedgerReader& ledger, AccountNumber account, Listing& listing) {
                                 lists::write_pending(ledger, account, command.account, listing);
                             });
}

// ---- View: what an approver is shown before the decision (controls K3) --------------------------

struct SeenApproval {
    Json object;         ///< As `approvals show` prints it.
    std::string digest;  ///< ApprovalSubject::digest, hexadecimal.
    bool waits = false;  ///< False if it was approved or withdrawn.
};

/// Prints an approval's object as tables.
void print_approval(const Json& shown) {
    Json head = Json::object();
    for (std::size_t i = 0; i < shown.names().size(); ++i) {
        const std::string& name = shown.names()[i];
        if (name != "fields" && name != "differences" && name != "effect") {
            head[name] = shown.items()[i];
        }
    }
    write_object(Format::kTable, head);
    for (std::size_t i = 0; i < shown.names().size(); ++i) {
        const Json& value = shown.items()[i];
        if (shown.names()[i] == "fields" && !value.names().empty()) {
            std::printf("\nfields\n");
            write_object(Format::kTable, value);
        } else if (shown.names()[i] == "differences" && !value.items().empty()) {
            write_table("differences", value);
        } else if (shown.names()[i] == "effect") {
            for (std::size_t j = 0; j < value.names().size(); ++j) {
                const Json& part = value.items()[j];
                const bool is_list = !part.items().empty();
                is_list ? write_table(value.names()[j], part)
                        : static_cast<void>(std::printf("\n%s: %s\n", value.names()[j].c_str(),
                                                        printable(part.cell()).c_str()));
            }
        }
    }
}

/// Returns the bank accounts of the file, or nothing if no file is named.
Result<std::optional<Payees>> named_payees(const std::string& file) {
    if (file.empty()) {
        return std::optional<Payees>();
    }
    return read_payees(file);
}

std::string digest_of(const std::optional<Payees>& payees) {
    return payees ? payees->sha256 : std::string();
}

/// Returns the bank accounts of the payouts that wait, as the bank will get them.
Json accounts_of(const ApprovalSubject& subject, const Payees& payees) {
    Json rows = Json::array();
    std::set<std::string> seen;
    for (const Payout& payout : subject.payouts) {
        if (!seen.insert(payout.payee).second) {
            continue;
        }
        const auto* const payee = find_value(payees.by_reference, payout.payee);
        const bool known = payee != nullptr;
        Json row{{"payee", payout.payee},
                 {"name", known ? Json(payee->name) : Json()},
                 {"iban", known ? Json(payee->iban) : Json()},
                 {"bic", known ? Json(payee->bic) : Json()}};
        for (std::size_t i = 0; i < payees.columns.size(); ++i) {
            row[payees.columns[i]] = known ? Json(payee->more[i]) : Json();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

/// Returns what `make` makes of a pending command, a payout or a payout run. Requires:
/// options.account.
template <class Make>
auto with_approval(const Frame& frame, const std::string& id, const SubmitOptions& options,
                   const std::optional<Payees>& payees, const Make& make) {
    return with_account(
        frame, *options.account, options.ledger_url, ReadFrom::kPrimary,
        [&](LedgerReader& ledger, AccountNumber account) {
            return shown_approval(ledger, account, *options.account, id, now(), digest_of(payees))
                .and_then([&](const ShownApproval& found) { return make(ledger, account, found); });
        });
}

Result<SeenApproval> show_approval(const Frame& frame, const std::string& id,
                                   const SubmitOptions& options,
                                   const std::optional<Payees>& payees) {
    return with_approval(frame, id, options, payees,
                         [&](LedgerReader& ledger, AccountNumber account,
                             const ShownApproval& found) -> Result<SeenApproval> {
                             Json object =
                                 lists::approval_object(ledger, account, *options.account, found);
                             if (payees && !found.subject.command) {
                                 object["payees_sha256"] = payees->sha256;
                                 object["effect"]["accounts"] = accounts_of(found.subject, *payees);
                             }
                             return SeenApproval{std::move(object), to_hex(found.subject.digest),
                                                 found.subject.waits()};
                         });
}

/// Prints the text that an approver signs, and nothing else.
Status print_statement(const Frame& frame, const std::string& id, const SubmitOptions& options,
                       const std::optional<Payees>& payees) {
    return with_approval(
        frame, id, options, payees,
        [&](LedgerReader& ledger, AccountNumber, const ShownApproval& found) -> Status {
            if (!found.subject.waits()) {
                return conflict(id + " does not wait for an approval");
            }
            const std::string text = approval_statement(ledger, *options.account, found.subject);
            std::fwrite(text.data(), 1, text.size(), stdout);
            return Status::success();
        });
}

Status run_show_approval(const Frame& frame, const ShowApprovalCommand& command) {
    const auto options = with_account_of(frame, command.id, command.submit);
    const auto payees = options.ok() ? named_payees(command.payees) : options.error();
    if (!payees.ok()) {
        return payees.error();
    }
    if (command.statement) {
        return print_statement(frame, command.id, *options, *payees);
    }
    const auto shown = show_approval(frame, command.id, *options, *payees);
    if (!shown.ok()) {
        return shown.error();
    }
    if (command.format == Format::kTable) {
        print_approval(shown->object);
    } else {
        write_object(command.format, shown->object);
    }
    return Status::success();
}

// ---- Approve, withdraw --------------------------------------------------------------------------

/// Asks on the terminal. Returns an error unless the answer is `yes`.
Status confirm() {
    std::printf("\nApprove this? Type yes: ");
    std::fflush(stdout);
    std::string answer;
    for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) {
        answer.push_back(static_cast<char>(c));
    }
    return answer == "yes" ? Status::success() : invalid("nothing was approved");
}

/// Shows the subject on a terminal, and asks; elsewhere `--expect` has the digest of `approvals
/// show`.
Status run_approve(const Frame& frame, const ApproveCommand& written) {
    constexpr std::size_t kSignatureBytesMax = 16'384;
    Approve command = written.command;
    if (!written.signature.empty()) {
        if (Status read =
                assign(command.signature, read_to_end(written.signature, kSignatureBytesMax));
            !read.ok()) {
            return read;
        }
    }
    const auto options = with_account_of(frame, command.id, written.submit);
    const auto payees = options.ok() ? named_payees(written.payees) : options.error();
    if (!payees.ok()) {
        return payees.error();
    }
    command.payees = digest_of(*payees);
    if (command.expect.empty() && command.signature.empty()) {
        const auto shown = show_approval(frame, command.id, *options, *payees);
        if (!shown.ok()) {
            return shown.error();
        }
        const bool asks =
            shown->waits && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
        if (shown->waits && !asks) {
            return invalid("look at it with `sluice approvals show " + command.id +
                           "`, then approve it with --expect DIGEST");
        }
        if (asks) {
            print_approval(shown->object);
            if (Status agreed = confirm(); !agreed.ok()) {
                return agreed;
            }
            command.expect = shown->digest;
        }
    }
    return submit(frame, command, *options);
}

Subcommand declare_list(Subcommand app, const std::string& name, const std::string& help) {
    auto [list, listed] = add_command(app, name, help, run_list_approvals);
    const Option account = add_id(list, "--account", "A", listed.account, "Account");
    list.require([account] { return account.is_given() ? "" : "--account"; });
    add_list_options(list, listed.list);
    return list;
}

}  // namespace

void declare_approvals(Subcommand app) {
    auto [approve, approved] = add_command(
        app, "approve", "Approve a payout, a payout run, or a pending command", run_approve);
    add_id(approve, "ID", "ID", approved.command.id, "Id, as `approvals` shows it").required();
    add_id_account(approve, approved.submit);
    add_id(approve, "--expect", "DIGEST", approved.command.expect,
           "Digest that `approvals show` printed; required unless a terminal asks");
    add_file(approve, "--signature", "FILE", approved.signature, FileUse::kInput,
             "Signature of what `approvals show --statement` printed, by ssh-keygen -Y sign");
    add_file(approve, "--payees", "FILE", approved.payees, FileUse::kInput, kPayeesHelp);
    add_command_options(approve, approved.submit, false);

    auto [withdraw, withdrawn] =
        add_command(app, "withdraw", "Withdraw a pending command", run_written<Withdraw>);
    add_id(withdraw, "ID", "ID", withdrawn.command.id, "Id, as `approvals` shows it").required();
    add_id_account(withdraw, withdrawn.submit);
    add_command_options(withdraw, withdrawn.submit, true);

    const Subcommand approvals = declare_list(
        app, "approvals", "List commands and payouts that await approval, or show one");
    declare_list(approvals, "list", "List commands and payouts that await approval");
    auto [show, shown] = add_command(
        approvals, "show", "Show what an approval would do, and its digest", run_show_approval);
    add_id(show, "ID", "ID", shown.id, "Id, as `approvals` lists it").required();
    add_id_account(show, shown.submit);
    add_ledger(show, shown.submit.ledger_url);
    add_format(show, shown.format);
    add_file(show, "--payees", "FILE", shown.payees, FileUse::kInput, kPayeesHelp);
    add_flag(show, "--statement", shown.statement,
             "Print the text that an approver signs, and nothing else");
}

}  // namespace sluice::cli
