// Commands: the subcommands of the program, in the order of the help. Each is defined in the room
// of its users: tool/administration/ serves operators of a store, tool/finance/ pays creators.
#pragma once

#include "program/cli/cli.hpp"

namespace sluice::cli {

void declare_store(Subcommand app);    // init, store, key
void declare_account(Subcommand app);  // account, shop
void declare_token(Subcommand app);
void declare_user(Subcommand app);
void declare_registry(Subcommand app);
void declare_program(Subcommand app);
void declare_creator(Subcommand app);
void declare_click(Subcommand app);
void declare_link(Subcommand app);
void declare_worker(Subcommand app);
void declare_serve(Subcommand app);
void declare_notify(Subcommand app);
void declare_queue(Subcommand app);
void declare_dead(Subcommand app);
void declare_report(Subcommand app);
void declare_explain(Subcommand app);
void declare_reconcile(Subcommand app);
void declare_export_tables(Subcommand app);  // export
void declare_feed(Subcommand app);
void declare_payout(Subcommand app);
void declare_bank(Subcommand app);
void declare_money(Subcommand app);  // adjust, credit, reverse
void declare_write_off(Subcommand app);
void declare_opening(Subcommand app);
void declare_approvals(Subcommand app);  // approve, withdraw, approvals
void declare_order(Subcommand app);      // hold, release, reject, attribute, detach, anomaly, order
void declare_period(Subcommand app);
void declare_forget(Subcommand app);
void declare_ledger(Subcommand app);
void declare_send(Subcommand app);
void declare_sign(Subcommand app);  // sign, verify, tax
void declare_translate(Subcommand app);
void declare_doctor(Subcommand app);
void declare_backup(Subcommand app);  // backup, restore

// Subcommands in files of their own, each added by the command that it belongs to.

void declare_program_preview(Subcommand group);
void declare_creator_page(Subcommand group);    // creator page
void declare_export(Subcommand group);          // payout export
void declare_export_journal(Subcommand group);  // export journal
void declare_ledger_copy(Subcommand group);
void declare_ledger_snapshot(Subcommand group);

}  // namespace sluice::cli
