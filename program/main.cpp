// The `sluice` program.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/document.hpp"
#include "pg_store/connection/url.hpp"
#include "program/cli/cli.hpp"
#include "program/commands.hpp"
#include "program/system/process.hpp"

namespace {

/// Ends the process, because simdjson's preparation cannot report that memory is short.
[[noreturn]] void end_without_memory() noexcept {
    std::fputs("sluice: not enough memory to start\n", stderr);
    ::_exit(1);
}

/// Opens /dev/null as each standard stream that the caller has closed, in a mode in which using it
/// still fails. Otherwise a file of the store would get the stream's number, and messages would be
/// written into it.
void open_standard_streams() noexcept {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0) {
            (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

/// Subcommands that are declared together.
struct Declared {
    void (*declare)(sluice::cli::Subcommand app);
    std::array<std::string_view, 7> names;
};

namespace cli = sluice::cli;
// In the order of the help.
constexpr Declared kCommands[] = {
    {&cli::declare_store, {"init", "store", "key"}},
    {&cli::declare_account, {"account", "shop"}},
    {&cli::declare_token, {"token"}},
    {&cli::declare_user, {"user"}},
    {&cli::declare_registry, {"registry"}},
    {&cli::declare_program, {"program"}},
    {&cli::declare_creator, {"creator"}},
    {&cli::declare_click, {"click"}},
    {&cli::declare_link, {"link"}},
    {&cli::declare_worker, {"worker"}},
    {&cli::declare_serve, {"serve"}},
    {&cli::declare_notify, {"notify"}},
    {&cli::declare_queue, {"queue"}},
    {&cli::declare_dead, {"dead"}},
    {&cli::declare_report, {"report"}},
    {&cli::declare_explain, {"explain"}},
    {&cli::declare_reconcile, {"reconcile"}},
    {&cli::declare_export_tables, {"export"}},
    {&cli::declare_feed, {"feed"}},
    {&cli::declare_payout, {"payout"}},
    {&cli::declare_bank, {"bank"}},
    {&cli::declare_money, {"adjust", "credit", "reverse"}},
    {&cli::declare_write_off, {"write-off"}},
    {&cli::declare_opening, {"opening"}},
    {&cli::declare_approvals, {"approve", "withdraw", "approvals"}},
    {&cli::declare_order, {"hold", "release", "reject", "attribute", "detach", "anomaly", "order"}},
    {&cli::declare_period, {"period"}},
    {&cli::declare_forget, {"forget"}},
    {&cli::declare_ledger, {"ledger"}},
    {&cli::declare_send, {"send"}},
    {&cli::declare_sign, {"sign", "verify", "tax"}},
    {&cli::declare_translate, {"translate"}},
    {&cli::declare_doctor, {"doctor"}},
    {&cli::declare_backup, {"backup", "restore"}},
};

/// Adds the subcommands of the row that names `first`, because to declare all of them is most of
/// what a short command does. If no row does, as for `sluice --help`, adds all.
void declare_commands(cli::Subcommand app, std::string_view first) {
    const auto* const named = std::ranges::find_if(kCommands, [first](const Declared& row) {
        return !first.empty() && std::ranges::find(row.names, first) != row.names.end();
    });
    for (const Declared& row : kCommands) {
        if (named == std::end(kCommands) || named == &row) {
            row.declare(app);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    open_standard_streams();
    const std::new_handler none = std::set_new_handler(&end_without_memory);
    sluice::cli::catch_damage();
    sluice::prepare_json();
    const std::vector<std::string> words(argv, argv + argc);
    auto copies = sluice::mapped(words, [](const std::string& word) { return word.c_str(); });
    copies.push_back(nullptr);
    sluice::pg::hide_passwords(argc, argv);
    std::set_new_handler(none);
    return sluice::cli::run(argc, copies.data(), declare_commands);
}
