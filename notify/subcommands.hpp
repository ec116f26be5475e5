// Shared by the subcommands of `sluice notify`. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "lmdb_store/destinations/destination_store.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {

/// Returns the result of `action`, or an error if the destinations cannot be opened.
template <class Action>
[[nodiscard]] std::invoke_result_t<Action, store::DestinationStore&> with_destinations(
    const Frame& frame, store::DestinationStore::Mode mode, Action&& action) {
    const auto opened = store::DestinationStore::open(frame.paths(), mode);
    if (!opened.ok()) {
        return opened.error();
    }
    return std::forward<Action>(action)(**opened);
}

void declare_notify_deliveries(Subcommand group);
void declare_notify_run(Subcommand group);

/// Adds `--ca-file FILE`.
void add_ca_file(Subcommand app, std::string& target);

/// Adds the positional ID.
void add_destination_id(Subcommand app, std::string& id);

/// Returns RFC 3339, or null for 0.
[[nodiscard]] Json time_or_null(std::uint64_t milliseconds);

}  // namespace sluice::cli
