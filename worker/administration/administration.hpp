// Administration: the subcommands for operators of a store, noun by noun.
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_store(Subcommand app);    // init, store, key
void declare_account(Subcommand app);  // account, shop
void declare_token(Subcommand app);
void declare_registry(Subcommand app);
void declare_worker(Subcommand app);
void declare_queue(Subcommand app);
void declare_dead(Subcommand app);
void declare_forget(Subcommand app);
void declare_ledger(Subcommand app);
void declare_ledger_copy(Subcommand group);
void declare_doctor(Subcommand app);
void declare_backup(Subcommand app);  // backup, restore

}  // namespace sluice::cli
