// sluice creator page check|link
#include <cstdio>

#include "core/protocol/page_token.hpp"
#include "core/rules/account.hpp"
#include "core/values/texts.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "serve/creators/page_config.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

constexpr const char* kDefaultConfig = "/etc/sluice/creators.toml";

struct LinkPageCommand {
    CreatorId creator;
    AccountId account;
    std::string secret_file;
    std::string config = kDefaultConfig;
    std::uint64_t minutes = 15;
    std::string ledger;
};

/// Prints each page, so that a table that has the wrong name is seen.
Status check_page(const Frame& /*frame*/, const std::string& file) {
    const auto config = serve::load_page_config(file);
    if (!config.ok()) {
        return config.error();
    }
    for (const auto& [account, page] : config->accounts) {
        const std::string frames = page.origins.empty()
                                       ? ", in no frame"
                                       : ", in frames of " + joined(page.origins, " and ");
        std::printf("%s: %s%s\n", printable(page.name).c_str(),
                    printable(*config->address_of(account)).c_str(), printable(frames).c_str());
    }
    return Status::success();
}

/// Returns the active token of the account whose secret this is.
Result<TokenId> page_token_id(const Frame& frame, const AccountId& account,
                              const std::string& secret) {
    const auto bearer = ask_registry(
        frame, [&secret](store::Registry& registry) { return registry.bearer(secret); });
    if (!bearer.ok()) {
        return bearer.error();
    }
    if (!*bearer || !(*bearer)->page_key || (*bearer)->account.account_id != account ||
        !is_active((*bearer)->token, now())) {
        return not_found("it is the secret of no active token of account " + account.str() +
                         " with the scope creator_pages");
    }
    return (*bearer)->token.token_id;
}

Result<CreatorId> known_creator(const Frame& frame, const LinkPageCommand& command) {
    return with_account(
        frame, command.account, command.ledger, ReadFrom::kAnyServer,
        [&](LedgerReader& ledger, AccountNumber account) -> Result<CreatorId> {
            CreatorRow row{account, first_id(ledger, account, command.creator), {}, {}, {}};
            if (!ledger.load(row)) {
                return not_found("account " + command.account.str() + " has no creator " +
                                 command.creator.str());
            }
            return row.creator;
        });
}

/// Prints the link alone, so that a program can take it.
Status link_page(const Frame& frame, const LinkPageCommand& command) {
    constexpr std::size_t kRandomBytes = 8;
    constexpr std::int64_t kSecondsPerMinute = 60;
    const auto config = serve::load_page_config(command.config);
    const auto secret = config.ok() ? read_secret(command.secret_file) : config.error();
    if (!secret.ok()) {
        return secret.error();
    }
    const auto address = config->address_of(command.account);
    if (!address) {
        return not_found(command.config + ": it has no table for account " + command.account.str());
    }
    const auto token_id = page_token_id(frame, command.account, *secret);
    const auto creator = token_id.ok() ? known_creator(frame, command) : token_id.error();
    if (!creator.ok()) {
        return creator.error();
    }
    const std::int64_t issued = now().seconds;
    const PageToken token{*token_id, *creator, issued,
                          issued + static_cast<std::int64_t>(command.minutes) * kSecondsPerMinute,
                          random_hex(kRandomBytes)};
    std::printf("%s#%s\n", address->c_str(), PageSigner(*secret).sign(token).c_str());
    return Status::success();
}

}  // namespace

void declare_creator_page(Subcommand group) {
    const Subcommand pages = group.add_group("page", "Creators' own pages");
    auto [check, checked] =
        add_command(pages, "check", "Check the file of the creators' pages", check_page);
    add_file(check, "FILE", "FILE", checked, FileUse::kInput, "As --creators-config takes it")
        .required();

    auto [link, linked] =
        add_command(pages, "link",
                    "Print a link to a creator's page, as a platform's backend gets it", link_page);
    add_id(link, "C", "C", linked.creator, "Creator").required();
    add_id(link, "--account", "A", linked.account, "Account").required();
    add_file(link, "--secret-file", "FILE|-", linked.secret_file, FileUse::kInput,
             "Secret of a token with the scope creator_pages")
        .required();
    add_file(link, "--creators-config", "FILE", linked.config, FileUse::kInput,
             "File of the creators' pages (default: " + std::string(kDefaultConfig) + ")");
    add_count(link, "--minutes", "N", linked.minutes, 1, 60,
              "Minutes for which it counts, 1 to 60 (default: 15)");
    add_ledger(link, linked.ledger);
}

}  // namespace sluice::cli
