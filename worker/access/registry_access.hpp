// Asking and changing the registry, as the commands of people do.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>

#include "core/values/result.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// What `action`, a Status or a Result, says of the registry; or why it cannot be opened.
template <class Action>
[[nodiscard]] std::invoke_result_t<Action, store::Registry&> with_registry(
    const Frame& frame, store::Registry::Mode mode, Action&& action) {
    const auto registry = store::Registry::open(frame.paths(), mode);
    if (!registry.ok()) {
        return registry.error();
    }
    return std::forward<Action>(action)(**registry);
}

template <class Ask>
[[nodiscard]] auto ask_registry(const Frame& frame, Ask&& ask) {
    return with_registry(frame, store::Registry::Mode::kReadOnly, std::forward<Ask>(ask));
}

/// Prints `done` once it is.
template <class Change>
[[nodiscard]] Status change_registry(const Frame& frame, const std::string& done, Change&& change) {
    Status changed =
        with_registry(frame, store::Registry::Mode::kReadWrite, std::forward<Change>(change));
    if (changed.ok()) {
        std::printf("%s\n", done.c_str());
    }
    return changed;
}

}  // namespace sluice::cli
