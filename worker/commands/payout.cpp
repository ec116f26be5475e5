// sluice payout close|list, adjust, forget
#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

struct CloseCommand {
    PayoutClose close;
    std::string ledger;
};

struct ListCommand {
    std::string ledger;
    Format format = Format::kTable;
};

struct AdjustCommand {
    Adjust adjust;
    ShopId shop;
    std::string ledger;
};

struct ForgetCommand {
    Forget forget;
    ShopId shop;
    std::string ledger;
};

Status run_close(const Frame& frame, const CloseCommand& command) {
    if (command.close.until > now()) {
        return Error{ErrorCode::kInvalid, "--until lies in the future"};
    }
    return submit(frame, command.close, {std::nullopt, command.ledger});
}

Status run_list(const Frame& frame, const ListCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        Listing listing(command.format, payout_columns());
        ledger.scan_payouts([&](const Payout& payout) {
            listing.add(payout_row(payout));
            return true;
        });
        listing.finish();
        return Status::success();
    });
}

Status run_adjust(const Frame& frame, const AdjustCommand& command) {
    return submit(frame, command.adjust, {command.shop, command.ledger});
}

Status run_forget(const Frame& frame, const ForgetCommand& command) {
    return submit(frame, command.forget, {command.shop, command.ledger});
}

Result<Decimal> parse_adjustment(std::string_view text) {
    auto amount = parse_amount(text);
    if (amount.ok() && amount->is_zero()) {
        return Error{ErrorCode::kInvalid, "expected an amount that is not 0"};
    }
    return amount;
}

Result<std::string> parse_reason(std::string_view text) {
    if (text.empty()) {
        return Error{ErrorCode::kInvalid, "expected a reason that is not empty"};
    }
    return std::string(text);
}

}  // namespace

void declare_payout(CLI::App& app, Frame& frame) {
    CLI::App& group = add_group(app, "payout", "Payouts: what is closed counts as paid");
    CLI::App& close =
        add_command(group, "close", "Close what is payable, per creator and currency");
    CloseCommand& closed = on_run(close, frame, run_close);
    add_id(close, "--program", "P", closed.close.program, "The program").required();
    add_value(close, "--until", "T", closed.close.until, parse_time,
              "Commissions whose hold ended at or before this time (RFC 3339)")
        .required();
    add_ledger(close, closed.ledger);

    CLI::App& list = add_command(group, "list", "List the payouts in the order of closing");
    ListCommand& listed = on_run(list, frame, run_list);
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);

    CLI::App& adjust = add_command(app, "adjust", "Enter a correction by hand into the journal");
    AdjustCommand& adjusted = on_run(adjust, frame, run_adjust);
    add_value(adjust, "--order", "O", adjusted.adjust.order, parse_order_id, "The order")
        .required();
    add_id(adjust, "--shop", "S", adjusted.shop, "Its shop").required();
    add_value(adjust, "--amount", "M", adjusted.adjust.amount, parse_adjustment,
              "Signed, in the order's currency")
        .required();
    add_value(adjust, "--reason", "TEXT", adjusted.adjust.reason, parse_reason,
              "Kept with the entry, and who made it")
        .required();
    add_ledger(adjust, adjusted.ledger);

    CLI::App& forget = add_command(app, "forget", "Take a customer's personal data out of bodies");
    ForgetCommand& forgotten = on_run(forget, frame, run_forget);
    add_id(forget, "--shop", "S", forgotten.shop, "The shop").required();
    add_value(forget, "--customer", "ID", forgotten.forget.customer, parse_wire_id,
              "platform_customer_id; amounts and digests stay")
        .required();
    add_ledger(forget, forgotten.ledger);
}

}  // namespace sluice::cli
