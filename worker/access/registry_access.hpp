// Registry access: look-ups and changes for the commands that people type.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/output.hpp"
#include "program/system/identity.hpp"

namespace sluice::cli {

/// Returns the result of `action`, a Status or a Result; or an error if the registry cannot be
/// opened.
template <class Action>
[[nodiscard]] std::invoke_result_t<Action, store::Registry&> with_registry(
    const Frame& frame, store::Registry::Mode mode, Action&& action) {
    const auto registry = store::Registry::open(frame.paths(), mode);
    if (!registry.ok()) {
        return registry.error();
    }
    (*registry)->set_author({current_user(), frame.reason});
    return std::forward<Action>(action)(**registry);
}

template <class Ask>
[[nodiscard]] auto ask_registry(const Frame& frame, Ask&& ask) {
    return with_registry(frame, store::Registry::Mode::kReadOnly, std::forward<Ask>(ask));
}

/// Changes the registry, then prints `done`.
template <class Change>
[[nodiscard]] Status change_registry(const Frame& frame, const std::string& done, Change&& change) {
    Status changed =
        with_registry(frame, store::Registry::Mode::kReadWrite, std::forward<Change>(change));
    if (changed.ok()) {
        std::printf("%s\n", done.c_str());
    }
    return changed;
}

/// Logs a change of another part of the store, before it is made.
[[nodiscard]] Status note_change(const Frame& frame, const std::string& change);

/// Prints a row of the columns for each row that `ask` returns from the registry.
template <class Ask, class RowOf>
[[nodiscard]] Status list_registry(const Frame& frame, Format format, std::vector<Column> columns,
                                   Ask&& ask, RowOf&& row_of) {
    const auto rows = ask_registry(frame, std::forward<Ask>(ask));
    if (rows.ok()) {
        list_all(format, std::move(columns), *rows, row_of);
    }
    return rows.ok() ? Status::success() : Status(rows.error());
}

/// Options of a command that lists rows of the registry.
struct RegistryListOptions {
    std::optional<AccountId> account;  ///< Absent means every account.
    Format format = Format::kTable;
};

/// Returns the number of an account of the registry; kNotFound names the account.
[[nodiscard]] Result<AccountNumber> account_number(const Frame& frame, const AccountId& account);

/// Looks up a row; kNotFound names the account or shop.
[[nodiscard]] Result<store::RegisteredAccount> find_account(store::Registry& registry,
                                                            const AccountId& id);
[[nodiscard]] Result<store::RegisteredShop> find_shop(store::Registry& registry, const ShopId& id);

}  // namespace sluice::cli
