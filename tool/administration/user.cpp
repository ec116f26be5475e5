// sluice user add|remove|list

#include "lmdb_store/registry/registry.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

using store::Registry;

struct UserCommand {
    std::string name;
    AccountId account;
    store::Role role = store::Role::kViewer;
};

std::string named(const UserCommand& command) {
    return printable(command.name) + " of account " + command.account.str();
}

Status add_user(const Frame& frame, const UserCommand& command) {
    return change_registry(
        frame, "user " + named(command) + " is " + std::string(to_string(command.role)),
        [&](Registry& registry) {
            return registry.add_user(command.name, command.account, command.role, now_ms());
        });
}

Status remove_user(const Frame& frame, const UserCommand& command) {
    return change_registry(frame, "removed user " + named(command), [&](Registry& registry) {
        return registry.remove_user(command.name, command.account, now_ms());
    });
}

Status list_users(const Frame& frame, const RegistryListOptions& command) {
    return list_registry(
        frame, command.format, {{"user"}, {"account_id"}, {"role"}, {"created_at"}},
        [&](Registry& registry) { return registry.users(command.account); },
        [](const store::UserRow& row) -> Row {
            return {row.name, row.account_id.str(), to_string(row.role),
                    row.created_at.to_string()};
        });
}

Result<std::string> parse_user_name(std::string_view text) {
    return parsed(store::user_name(text), "expected 1 to 254 bytes without control characters");
}

void add_user_options(Subcommand app, UserCommand& command) {
    add_value(app, "NAME", "NAME", command.name, parse_user_name,
              "Name that nginx states after the login, such as an e-mail address; case of ASCII "
              "letters does not matter")
        .required();
    add_id(app, "--account", "A", command.account, "Account").required();
    app.takes_reason();
}

}  // namespace

void declare_user(Subcommand app) {
    const Subcommand group = app.add_group(
        "user", "Manage users: people who read an account on the page, after a login at nginx");
    auto [add, added] =
        add_command(group, "add", "Let a person read an account, or change the role", add_user);
    add_user_options(add, added);
    add_value(add, "--role", "viewer|support|manager", added.role, parse_role,
              "viewer: orders, creators, programs; support: also balances, payees, payouts and "
              "statements of creators; manager: also journal, approvals, months")
        .required();

    auto [remove, removed] = add_command(
        group, "remove", "Remove a person from an account, from the next request on", remove_user);
    add_user_options(remove, removed);

    auto [list, listed] = add_command(group, "list", "List users", list_users);
    add_id(list, "--account", "A", listed.account, "Only users of this account");
    add_format(list, listed.format);
}

}  // namespace sluice::cli
