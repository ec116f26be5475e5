// The subcommands, noun by noun. Each function declares one noun's; it is in
// worker/commands/<noun>.cpp.
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// Declares every subcommand of the program.
void declare_commands(Subcommand app);

void declare_store(Subcommand app);    // init, store, key
void declare_account(Subcommand app);  // account, shop
void declare_token(Subcommand app);
void declare_registry(Subcommand app);
void declare_program(Subcommand app);
void declare_creator(Subcommand app);
void declare_touch(Subcommand app);
void declare_worker(Subcommand app);
void declare_queue(Subcommand app);
void declare_dead(Subcommand app);
void declare_report(Subcommand app);
void declare_explain(Subcommand app);
void declare_payout(Subcommand app);
void declare_money(Subcommand app);  // adjust, credit, reverse, approve, approvals
void declare_order(Subcommand app);  // hold, release, reject, attribute, detach ...
void declare_period(Subcommand app);
void declare_forget(Subcommand app);
void declare_ledger(Subcommand app);
void declare_send(Subcommand app);  // send events, send products
void declare_sign(Subcommand app);  // sign, verify
void declare_tax(Subcommand app);
void declare_doctor(Subcommand app);

}  // namespace sluice::cli
