// sluice hold, release, reject, attribute, detach, anomaly ack, order reset
#include <cstdio>

#include "worker/access/dry_run.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/books/id_account.hpp"
#include "worker/books/report_options.hpp"
#include "worker/books/written.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"

namespace sluice::cli {
namespace {

template <class What>
struct Tried {
    What command;
    SubmitOptions submit;
    DryRunOptions dry_run;
};

template <class What>
Status run_tried(const Frame& frame, const Tried<What>& tried) {
    return submit_or_try(frame, tried.command, tried.submit, tried.dry_run);
}

Status run_detach(const Frame& frame, const Tried<Detach>& tried) {
    if (tried.command.order) {
        return run_tried<Detach>(frame, tried);
    }
    const auto options = with_account_of(frame, tried.command.cause, tried.submit);
    return options.ok() ? submit_or_try(frame, tried.command, *options, tried.dry_run)
                        : Status(options.error());
}

/// A hold may come before its creator. But a misspelt name stops nothing and looks as if it did.
void warn_of_stranger(const Frame& frame, LedgerReader& ledger, const Written<Hold>& held) {
    ReportFilter named;
    named.account = held.submit.account;
    named.creator = held.command.target.creator;
    if (const Status known = check_names(frame, ledger, named); !known.ok()) {
        std::fprintf(stderr, "sluice: warning: %s; it is held all the same\n",
                     printable(known.error().message).c_str());
    }
}

Status check_target(const Frame& frame, LedgerReader& ledger, const Written<Hold>& held) {
    const ProgramId& program = held.command.target.program;
    const auto row = program.empty() ? std::nullopt : ledger.program(program);
    if (!program.empty() && (!row || row->program.account_id != *held.submit.account)) {
        return Error{ErrorCode::kNotFound,
                     "account " + held.submit.account->str() + " has no program " + program.str()};
    }
    warn_of_stranger(frame, ledger, held);
    return Status::success();
}

Status run_hold(const Frame& frame, const Written<Hold>& held) {
    if (!held.command.target.order) {
        Status known = with_snapshot(
            frame, held.submit.ledger_url,
            [&](LedgerReader& ledger) { return check_target(frame, ledger, held); },
            ReadFrom::kPrimary);
        if (!known.ok()) {
            return known;
        }
    }
    return run_written<Hold>(frame, held);
}

void add_order(CLI::App& app, OrderId& order, SubmitOptions& target) {
    add_id(app, "--shop", "S", target.shop.emplace(), "The order's shop").required();
    add_value(app, "--order", "O", order, parse_order_id, "The order").required();
}

/// An order, or a creator of an account.
void add_target(CLI::App& app, HoldTarget& target, SubmitOptions& options) {
    CLI::Option& shop = add_id(app, "--shop", "S", options.shop, "The order's shop");
    CLI::Option& order = add_value(app, "--order", "O", target.order, parse_order_id, "The order");
    CLI::Option& account = add_id(app, "--account", "A", options.account, "The creator's account");
    CLI::Option& creator = add_id(app, "--creator", "C", target.creator, "The creator");
    CLI::Option& program =
        add_id(app, "--program", "P", target.program, "Of the creator's programs only this one");
    shop.needs(&order);
    order.needs(&shop)->excludes(&creator);
    creator.needs(&account);
    program.needs(&creator);
    app.parse_complete_callback([&target] {
        if (!target.order && target.creator.empty()) {
            throw CLI::RequiredError("--shop and --order, or --account and --creator");
        }
    });
}

void declare_holds(CLI::App& app, Frame& frame) {
    CLI::App& hold = add_command(app, "hold", "Pay no increases of an order or a creator");
    auto& held = on_run(hold, frame, run_hold);
    add_target(hold, held.command.target, held.submit);
    add_command_options(hold, held.submit, true);

    CLI::App& release = add_command(app, "release", "End a hold, or the rejection of an order");
    auto& released = on_run(release, frame, run_written<Release>);
    add_target(release, released.command.target, released.submit);
    CLI::Option* of_hold = release.add_flag_callback(
        "--hold", [&released] { released.command.of = ReleaseOf::kHold; },
        "The hold, of an order that is held and rejected");
    release
        .add_flag_callback(
            "--reject", [&released] { released.command.of = ReleaseOf::kReject; },
            "The rejection, of an order that is held and rejected")
        ->excludes(of_hold);
    add_command_options(release, released.submit, true);

    CLI::App& reject = add_command(app, "reject", "An order earns nothing");
    auto& rejected = on_run(reject, frame, run_written<Reject>);
    add_order(reject, rejected.command.order, rejected.submit);
    add_command_options(reject, rejected.submit, true);
}

void declare_owner(CLI::App& app, Frame& frame) {
    CLI::App& attribute = add_command(app, "attribute", "Give an order to a creator");
    auto& given = on_run(attribute, frame, run_tried<Attribute>);
    add_order(attribute, given.command.order, given.submit);
    add_id(attribute, "--creator", "C", given.command.creator, "The creator").required();
    add_id(attribute, "--program", "P", given.command.program, "The program").required();
    attribute.add_flag("--replace", given.command.replace, "Take it from the creator who has it");
    add_dry_run(attribute, given.dry_run);
    add_command_options(attribute, given.submit, true);

    CLI::App& detach = add_command(app, "detach", "Take an order from its creator");
    auto& detached = on_run(detach, frame, run_detach);
    CLI::Option& shop = add_id(detach, "--shop", "S", detached.submit.shop, "The order's shop");
    CLI::Option& order =
        add_value(detach, "--order", "O", detached.command.order, parse_order_id, "The order");
    add_id_account(detach, detached.submit);
    CLI::Option& cause = add_value(detach, "--cause", "ID", detached.command.cause, parse_admin_id,
                                   "Every order that this import, apply or attribute gave out");
    shop.needs(&order);
    order.needs(&shop)->excludes(&cause);
    detach.add_flag("--retry", detached.command.retry, "Then try each again");
    detach.parse_complete_callback([&detached] {
        if (!detached.command.order && detached.command.cause.empty()) {
            throw CLI::RequiredError("--shop and --order, or --cause");
        }
    });
    add_dry_run(detach, detached.dry_run);
    add_command_options(detach, detached.submit, true);
}

}  // namespace

void declare_order(CLI::App& app, Frame& frame) {
    declare_holds(app, frame);
    declare_owner(app, frame);

    CLI::App& anomaly = add_group(app, "anomaly", "Anomalies of orders");
    CLI::App& ack = add_command(anomaly, "ack", "A person has looked: it blocks no more");
    auto& acked = on_run(ack, frame, run_written<AnomalyAck>);
    add_order(ack, acked.command.order, acked.submit);
    add_value(ack, "--kind", "K", acked.command.kind, parse_admin_id, "Its kind").required();
    add_command_options(ack, acked.submit, true);

    CLI::App& order = add_group(app, "order", "Orders");
    CLI::App& reset = add_command(order, "reset", "Set the stored version of an order back");
    auto& was_reset = on_run(reset, frame, run_written<OrderReset>);
    add_order(reset, was_reset.command.order, was_reset.submit);
    add_value(reset, "--version", "V", was_reset.command.version, parse_time,
              "Left out: the highest that was not in the future");
    add_command_options(reset, was_reset.submit, true);
}

}  // namespace sluice::cli
