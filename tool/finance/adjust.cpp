// sluice adjust, credit, reverse
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

Result<Money> parse_credit(std::string_view text) {
    return parsed(parse_money(text), "expected an amount with its currency, such as \"12.00 USD\"");
}

void declare_adjust(Subcommand app) {
    auto [adjust, adjusted] = add_command(
        app, "adjust", "Post a manual correction of an order's commission", run_tried<Adjust>);
    add_value(adjust, "--order", "O", adjusted.command.order, parse_order_id, "Order").required();
    add_id(adjust, "--shop", "S", adjusted.submit.shop.emplace(), "Shop of the order").required();
    add_value(adjust, "--amount", "M", adjusted.command.amount, parse_amount,
              "Signed amount in the order's currency, such as -12.50")
        .required();
    add_tried_options(adjust, adjusted);
}

void declare_credit(Subcommand app) {
    auto [credit, credited] = add_command(
        app, "credit", "Credit a creator with an amount without an order", run_tried<Credit>);
    add_account(credit, credited.submit);
    add_id(credit, "--creator", "C", credited.command.creator, "Creator").required();
    add_id(credit, "--program", "P", credited.command.program, "Program").required();
    add_value(credit, "--amount", "M", credited.command.amount, parse_credit,
              "Signed amount with its currency: \"12.00 USD\"")
        .required();
    const Option shop =
        add_id(credit, "--shop", "S", credited.submit.shop, "Shop of the missing order");
    const Option order = add_value(credit, "--order", "O", credited.command.order, parse_order_id,
                                   "Missing order; if it arrives later, it is blocked");
    shop.needs(order);
    order.needs(shop);
    add_value(credit, "--sale-at", "T", credited.command.sale_at, parse_time,
              "Time when the clearing period begins (RFC 3339; default: now)");
    add_tried_options(credit, credited);
}

void declare_reverse(Subcommand app) {
    auto [reverse, reversed] =
        add_command(app, "reverse", "Reverse an adjust, a credit, a write-off or opening balances",
                    run_tried<Reverse>);
    add_id(reverse, "ID", "ID", reversed.command.id,
           "Command id of what was posted; an opening balance: with its number, or all of "
           "its import")
        .required();
    add_id_account(reverse, reversed.submit);
    add_tried_options(reverse, reversed);
}

}  // namespace

void declare_money(Subcommand app) {
    declare_adjust(app);
    declare_credit(app);
    declare_reverse(app);
}

}  // namespace sluice::cli
