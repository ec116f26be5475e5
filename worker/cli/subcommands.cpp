#include "worker/cli/subcommands.hpp"

namespace sluice::cli {

void declare_commands(CLI::App& app, Frame& frame) {
    declare_store(app, frame);
    declare_account(app, frame);
    declare_token(app, frame);
    declare_registry(app, frame);
    declare_program(app, frame);
    declare_creator(app, frame);
    declare_touch(app, frame);
    declare_worker(app, frame);
    declare_queue(app, frame);
    declare_dead(app, frame);
    declare_report(app, frame);
    declare_explain(app, frame);
    declare_payout(app, frame);
    declare_money(app, frame);
    declare_order(app, frame);
    declare_period(app, frame);
    declare_forget(app, frame);
    declare_ledger(app, frame);
    declare_send(app, frame);
    declare_sign(app, frame);
    declare_tax(app, frame);
    declare_doctor(app, frame);
}

}  // namespace sluice::cli
