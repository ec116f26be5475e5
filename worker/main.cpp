// The `sluice` program.
#include <unistd.h>

#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "core/json/document.hpp"
#include "pg_store/connection/url.hpp"
#include "worker/cli/cli.hpp"
#include "worker/commands.hpp"
#include "worker/system/process.hpp"

namespace {

/// Ends the process, because simdjson's preparation cannot report that memory is short.
[[noreturn]] void end_without_memory() noexcept {
    std::fputs("sluice: not enough memory to start\n", stderr);
    ::_exit(1);
}

/// Adds every subcommand, in the order of the help.
void declare_commands(sluice::cli::Subcommand app) {
    using namespace sluice::cli;
    declare_store(app);
    declare_account(app);
    declare_token(app);
    declare_user(app);
    declare_registry(app);
    declare_program(app);
    declare_creator(app);
    declare_click(app);
    declare_worker(app);
    declare_serve(app);
    declare_notify(app);
    declare_queue(app);
    declare_dead(app);
    declare_report(app);
    declare_explain(app);
    declare_reconcile(app);
    declare_export_tables(app);
    declare_feed(app);
    declare_payout(app);
    declare_bank(app);
    declare_money(app);
    declare_write_off(app);
    declare_opening(app);
    declare_approvals(app);
    declare_order(app);
    declare_period(app);
    declare_forget(app);
    declare_ledger(app);
    declare_send(app);
    declare_sign(app);
    declare_doctor(app);
    declare_backup(app);
}

}  // namespace

int main(int argc, char** argv) {
    const std::new_handler none = std::set_new_handler(&end_without_memory);
    sluice::cli::catch_damage();
    sluice::prepare_json();
    const std::vector<std::string> words(argv, argv + argc);
    std::vector<const char*> copies;
    for (const std::string& word : words) {
        copies.push_back(word.c_str());
    }
    copies.push_back(nullptr);
    sluice::pg::hide_passwords(argc, argv);
    std::set_new_handler(none);
    return sluice::cli::run(argc, copies.data(), declare_commands);
}
