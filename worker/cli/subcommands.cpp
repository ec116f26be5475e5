#include "worker/cli/subcommands.hpp"

namespace sluice::cli {

void declare_commands(Subcommand app) {
    declare_store(app);
    declare_account(app);
    declare_token(app);
    declare_registry(app);
    declare_program(app);
    declare_creator(app);
    declare_touch(app);
    declare_worker(app);
    declare_queue(app);
    declare_dead(app);
    declare_report(app);
    declare_explain(app);
    declare_payout(app);
    declare_money(app);
    declare_order(app);
    declare_period(app);
    declare_forget(app);
    declare_ledger(app);
    declare_send(app);
    declare_sign(app);
    declare_tax(app);
    declare_doctor(app);
}

}  // namespace sluice::cli
