// Administration: the subcommands for operators of a store, noun by noun.
#pragma once

#include <optional>
#include <string>

#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// Makes a program of root the user `sluice`, which will own the new store. Root owns it if there
/// is no such user, or if that user cannot enter the folder above.
[[nodiscard]] Status become_new_owner(const store::StorePaths& paths,
                                      const std::optional<std::string>& group);

void declare_store(Subcommand app);    // init, store, key
void declare_account(Subcommand app);  // account, shop
void declare_token(Subcommand app);
void declare_user(Subcommand app);
void declare_registry(Subcommand app);
void declare_worker(Subcommand app);
void declare_queue(Subcommand app);
void declare_dead(Subcommand app);
void declare_forget(Subcommand app);
void declare_ledger(Subcommand app);
void declare_ledger_copy(Subcommand group);
void declare_ledger_snapshot(Subcommand group);
void declare_doctor(Subcommand app);
void declare_backup(Subcommand app);  // backup, restore

}  // namespace sluice::cli
