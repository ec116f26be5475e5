// The command line's frame: what every subcommand shares.
//
// Each file of worker/commands declares the subcommands of one noun with CLI11, and gives each a
// function that runs after the whole line was understood. Exit status: 0 done, 1 the operation
// failed (its Status is printed as one line on stderr), 2 the command line was wrong, 3 the command
// is recorded and waits for another actor's approval.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::cli {

inline constexpr const char* kDefaultStore = "/var/lib/sluice";

/// What the whole line says, whichever subcommand it names.
struct Frame {
    std::string store = kDefaultStore;  ///< --store, else SLUICE_STORE.
    std::function<Status()> action;     ///< Set by the subcommand that was named.

    [[nodiscard]] store::StorePaths paths() const { return store::StorePaths(store); }
};

/// Declares a subcommand that runs `run(frame, options)`.
/// @return its options, for the caller to bind CLI11 options to; they live as long as `app`.
template <class Options>
[[nodiscard]] Options& on_run(CLI::App& app, Frame& frame,
                              Status (*run)(const Frame&, const Options&)) {
    auto options = std::make_shared<Options>();
    app.callback([options, &frame, run] {
        frame.action = [options, &frame, run] { return run(frame, *options); };
    });
    return *options;
}

/// A noun whose verbs are subcommands (`account`).
[[nodiscard]] CLI::App& add_group(CLI::App& parent, const std::string& name,
                                  const std::string& description);
/// A subcommand that does something (`create`).
[[nodiscard]] CLI::App& add_command(CLI::App& parent, const std::string& name,
                                    const std::string& description);

/// `shop create ID --account A`: how `app` is called, worked out from its options.
[[nodiscard]] std::string synopsis(const CLI::App& app);

/// Declares every subcommand of the program.
void declare_commands(CLI::App& app, Frame& frame);

/// The whole program: parses, runs, prints errors. Returns the exit status.
[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace sluice::cli
