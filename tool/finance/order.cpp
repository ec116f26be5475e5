// sluice hold, hold list, release, reject, attribute, detach, anomaly ack, order reset
#include <cstdio>

#include "core/ledger/command_rows.hpp"
#include "core/lists/creators.hpp"
#include "core/lists/names.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/texts.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/finance/code_orders.hpp"
#include "tool/reports/report_options.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

struct TriedDetach : Tried<Detach> {
    CodeOptions code;
};
struct TriedAttribute : Tried<Attribute> {
    CodeOptions code;
};

/// Returns whether an order of the account is still attributed as the command set it.
bool has_attributed(LedgerReader& ledger, AccountNumber account, const std::string& cause) {
    constexpr std::size_t kAtOnce = 256;
    AttributedOrder from{cause, account, {}, {}};
    OrderState order;
    std::vector<AttributedOrder> rows(kAtOnce);
    while (rows.size() == kAtOnce) {
        rows.clear();
        ledger.scan(from, {2, 4}, [&rows](const AttributedOrder& row) {
            rows.push_back(row);
            return rows.size() < kAtOnce;
        });
        for (const AttributedOrder& row : rows) {
            if (ledger.load_order({row.account, row.shop, row.order_id}, order) && order.live &&
                order.position()->attribution.command_id == cause) {
                return true;
            }
        }
        from = rows.empty() ? from : rows.back();
    }
    return false;
}

/// Returns whether some node has applied a command with this id.
Result<bool> is_command(const Frame& frame, const std::string& ledger_url, const std::string& id) {
    bool found = false;
    const Status read = with_each_node(frame, ledger_url, [&](LedgerReader& ledger) {
        ledger.scan_commands([&](const CommandRow& row) {
            found = row.command_id == id;
            return !found;
        });
        return !found;
    });
    return read.ok() ? Result<bool>(found) : Result<bool>(read.error());
}

/// Returns the account in which the key was used, or nothing if it is none or several: a repeated
/// command finds no order of its cause any more (K1).
std::optional<AccountId> account_of_key(LedgerReader& ledger, const std::string& key) {
    std::optional<AccountId> found;
    for (const auto& [number, id] : account_ids(ledger)) {
        CommandKey row;
        row.account = number;
        row.key = key;
        if (!key.empty() && ledger.load(row)) {
            if (found) {
                return std::nullopt;
            }
            found = id;
        }
    }
    return found;
}

/// Finds the account of the orders that the cause attributed. A command belongs to one account, so
/// orders of several accounts are detached account by account.
/// @param known  An account of which it attributed an order, if there is one.
Status find_account_of_cause(LedgerReader& ledger, const std::string& cause,
                             const std::optional<AccountId>& known, SubmitOptions& options) {
    if (options.account) {
        return Status::success();
    }
    std::vector<std::string> names;
    for (const auto& [number, id] : account_ids(ledger)) {
        if (has_attributed(ledger, number, cause)) {
            names.push_back(id.str());
        }
    }
    if (names.size() > 1) {
        return conflict(cause + " attributed orders of accounts " + joined(names, ", ") +
                        ": name one with --account, then the next");
    }
    options.account = !names.empty() ? std::optional(AccountId(names.front()))
                      : known        ? known
                                     : account_of_key(ledger, options.key);
    return options.account ? Status::success()
                           : not_found(cause + " attributed no order: name an --account");
}

Status run_attribute(const Frame& frame, const TriedAttribute& tried) {
    if (!tried.code.is_given()) {
        return run_tried<Attribute>(frame, tried);
    }
    Tried<Attribute> all = tried;
    auto orders = find_code_orders(frame, tried.code, all.submit,
                                   [](const OrderState& /*order*/) { return true; });
    if (!orders.ok()) {
        return orders.error();
    }
    all.command.orders = std::move(orders).value();
    return run_tried<Attribute>(frame, all);
}

Status detach_by_code(const Frame& frame, const TriedDetach& tried) {
    Tried<Detach> all = tried;
    const Digest256 code = code_digest(tried.code.code);
    std::size_t others = 0;
    auto orders = find_code_orders(frame, tried.code, all.submit, [&](const OrderState& order) {
        const bool takes = is_through_code(order, code);
        others += takes ? 0U : 1U;
        return takes;
    });
    if (!orders.ok()) {
        return orders.error();
    }
    // With a key, the first command with it may have detached them.
    if (orders->orders.empty() && tried.submit.key.empty()) {
        std::printf("no change: code %s attributed none of %zu orders that carry it\n",
                    printable(tried.code.code).c_str(), others);
        return Status::success();
    }
    all.command.orders = std::move(orders).value();
    return run_tried<Detach>(frame, all);
}

Status run_detach(const Frame& frame, const TriedDetach& tried) {
    if (tried.command.order) {
        return run_tried<Detach>(frame, tried);
    }
    if (tried.code.is_given()) {
        return detach_by_code(frame, tried);
    }
    SubmitOptions options = tried.submit;
    const std::string& cause = tried.command.cause;
    bool is_known = false;
    Status found =
        with_snapshot(frame, options.ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) {
            const std::optional<AccountId> account = lists::account_of(ledger, cause);
            is_known = account.has_value();
            return find_account_of_cause(ledger, cause, account, options);
        });
    if (!is_known && (found.ok() || found.error().code == ErrorCode::kNotFound)) {
        const auto known = is_command(frame, options.ledger_url, cause);
        if (!known.ok() || !*known) {
            return known.ok() ? not_found("the ledger knows no command " + cause) : known.error();
        }
    }
    return found.ok() ? submit_or_try(frame, tried.command, options, tried.dry_run) : found;
}

Status check_target(const Frame& frame, LedgerReader& ledger, const Written<Hold>& held) {
    const ProgramId& program = held.command.target.program;
    const auto row = program.empty() ? std::nullopt : ledger.program(program);
    if (!program.empty() && (!row || row->program.account_id != *held.submit.account)) {
        return not_found("account " + held.submit.account->str() + " has no program " +
                         program.str());
    }
    // A creator whom the ledger does not know is held as well, because a hold may come first.
    warn_unknown_names(frame, ledger, {held.submit.account, {}, held.command.target.creator},
                       "; the hold takes effect anyway");
    return Status::success();
}

Status run_hold(const Frame& frame, const Tried<Hold>& held) {
    if (!held.command.target.order) {
        Status known =
            with_snapshot(frame, held.submit.ledger_url, ReadFrom::kPrimary,
                          [&](LedgerReader& ledger) { return check_target(frame, ledger, held); });
        if (!known.ok()) {
            return known;
        }
    }
    return run_tried<Hold>(frame, held);
}

Status run_hold_list(const Frame& frame, const AccountListOptions& command) {
    return list_account_rows(frame, command, lists::hold_list().columns(),
                             [&](LedgerReader& ledger, AccountNumber account, Listing& listing) {
                                 lists::write_holds(ledger, account, command.account, std::nullopt,
                                                    listing);
                             });
}

void add_order(Subcommand app, OrderId& order, SubmitOptions& target) {
    add_id(app, "--shop", "S", target.shop.emplace(), "Shop of the order").required();
    add_value(app, "--order", "O", order, parse_order_id, "Order").required();
}

/// Adds the options that name an order, or a creator of an account.
void add_target(Subcommand app, HoldTarget& target, SubmitOptions& options) {
    const Option shop = add_id(app, "--shop", "S", options.shop, "Shop of the order");
    const Option order = add_value(app, "--order", "O", target.order, parse_order_id, "Order");
    const Option account = add_id(app, "--account", "A", options.account, "Account of the creator");
    const Option creator = add_id(app, "--creator", "C", target.creator, "Creator");
    const Option program = add_id(app, "--program", "P", target.program,
                                  "Only this program of the creator (default: all)");
    shop.needs(order);
    order.needs(shop).excludes(creator);
    creator.needs(account);
    program.needs(creator);
    app.require([&target] {
        return target.order || !target.creator.empty()
                   ? ""
                   : "--shop and --order, or --account and --creator";
    });
}

void declare_holds(Subcommand app) {
    auto [hold, held] = add_command(
        app, "hold", "Block payouts of an order or a creator; refunds still count", run_hold);
    add_target(hold, held.command.target, held.submit);
    add_tried_options(hold, held);

    auto [list, listed] =
        add_command(hold, "list", "List the holds on creators and orders", run_hold_list);
    add_id(list, "--account", "A", listed.account, "Account").required();
    add_list_options(list, listed.list);

    auto [release, released] = add_command(
        app, "release", "Release a hold, or the rejection of an order", run_tried<Release>);
    add_target(release, released.command.target, released.submit);
    const Option of_hold = release.add_flag(
        "--hold", [&of = released.command.of] { of = ReleaseOf::kHold; },
        "Release the hold of an order that is held and rejected");
    release
        .add_flag(
            "--reject", [&of = released.command.of] { of = ReleaseOf::kReject; },
            "Release the rejection of an order that is held and rejected")
        .excludes(of_hold);
    add_tried_options(release, released);

    auto [reject, rejected] =
        add_command(app, "reject", "Reject an order: it earns no commission", run_tried<Reject>);
    add_order(reject, rejected.command.order, rejected.submit);
    add_tried_options(reject, rejected);
}

void declare_owner(Subcommand app) {
    auto [attribute, given] =
        add_command(app, "attribute", "Attribute an order, or the orders of a code, to a creator",
                    run_attribute);
    const Option its_shop =
        add_id(attribute, "--shop", "S", given.submit.shop, "Shop of the order");
    const Option its_order =
        add_value(attribute, "--order", "O", given.command.order, parse_order_id, "Order");
    its_shop.needs(its_order);
    add_id_account(attribute, given.submit);
    its_order.needs(its_shop).excludes(add_code_options(attribute, given.code));
    attribute.require([&command = given.command, &code = given.code] {
        return !command.order.empty() || code.is_given() ? ""
                                                         : "--shop and --order, or --code and "
                                                           "--from";
    });
    add_id(attribute, "--creator", "C", given.command.creator, "Creator").required();
    add_id(attribute, "--program", "P", given.command.program, "Program").required();
    add_flag(attribute, "--replace", given.command.replace,
             "Replace the creator to whom it is attributed");
    add_tried_options(attribute, given);

    auto [detach, detached] = add_command(
        app, "detach", "Detach an order, or the orders of a code, from the creator", run_detach);
    const Option shop = add_id(detach, "--shop", "S", detached.submit.shop, "Shop of the order");
    const Option order =
        add_value(detach, "--order", "O", detached.command.order, parse_order_id, "Order");
    add_id_account(detach, detached.submit);
    const Option cause =
        add_id(detach, "--cause", "ID", detached.command.cause,
               "Detach every order that this import, apply or attribute attributed");
    shop.needs(order);
    const Option code = add_code_options(detach, detached.code);
    order.needs(shop).excludes(cause).excludes(code);
    cause.excludes(code);
    add_flag(detach, "--retry", detached.command.retry, "Attribute each order again");
    detach.require([&command = detached.command, &code = detached.code] {
        return command.order || !command.cause.empty() || code.is_given()
                   ? ""
                   : "--shop and --order, or --cause, or --code and --from";
    });
    add_tried_options(detach, detached);
}

}  // namespace

void declare_order(Subcommand app) {
    declare_holds(app);
    declare_owner(app);

    const Subcommand anomaly = app.add_group("anomaly", "Handle anomalies of orders");
    auto [ack, acked] =
        add_command(anomaly, "ack", "Acknowledge an anomaly, so that it no longer blocks payout",
                    run_tried<AnomalyAck>);
    add_order(ack, acked.command.order, acked.submit);
    add_id(ack, "--kind", "K", acked.command.kind,
           "Kind of the anomaly, as `report anomalies` shows it")
        .required();
    add_tried_options(ack, acked);

    const Subcommand order = app.add_group("order", "Repair orders");
    auto [reset, was_reset] =
        add_command(order, "reset", "Reset the stored version of an order", run_tried<OrderReset>);
    add_order(reset, was_reset.command.order, was_reset.submit);
    add_value(reset, "--version", "V", was_reset.command.version, parse_time,
              "Version (RFC 3339; default: the highest that was not in the future)");
    add_tried_options(reset, was_reset);
}

}  // namespace sluice::cli
