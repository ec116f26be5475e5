// The subcommands, noun by noun. Each function declares one noun's; it is in
// worker/commands/<noun>.cpp.
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_store(CLI::App& app, Frame& frame);    // init, store, key
void declare_account(CLI::App& app, Frame& frame);  // account, shop
void declare_token(CLI::App& app, Frame& frame);
void declare_registry(CLI::App& app, Frame& frame);
void declare_program(CLI::App& app, Frame& frame);
void declare_creator(CLI::App& app, Frame& frame);
void declare_touch(CLI::App& app, Frame& frame);
void declare_worker(CLI::App& app, Frame& frame);
void declare_queue(CLI::App& app, Frame& frame);
void declare_dead(CLI::App& app, Frame& frame);
void declare_report(CLI::App& app, Frame& frame);
void declare_explain(CLI::App& app, Frame& frame);
void declare_payout(CLI::App& app, Frame& frame);
void declare_money(CLI::App& app, Frame& frame);  // adjust, credit, reverse, approve, approvals
void declare_order(CLI::App& app, Frame& frame);  // hold, release, reject, attribute, detach ...
void declare_period(CLI::App& app, Frame& frame);
void declare_forget(CLI::App& app, Frame& frame);
void declare_ledger(CLI::App& app, Frame& frame);
void declare_send(CLI::App& app, Frame& frame);  // send events, send products
void declare_sign(CLI::App& app, Frame& frame);  // sign, verify
void declare_tax(CLI::App& app, Frame& frame);
void declare_doctor(CLI::App& app, Frame& frame);

}  // namespace sluice::cli
