// sluice account create|set|list|suspend|resume, shop create|set|list|silence|suspend|resume
#include <cstdio>
#include <optional>
#include <string>

#include "core/lists/silence.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/shops/source_options.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

using store::Registry;

struct AccountCommand {
    AccountId id;
    std::optional<RateLimit> rate_limit;
};

struct ShopCommand {
    ShopId id;
    AccountId account;
};

Status create_account(const Frame& frame, const AccountCommand& command) {
    return change_registry(frame, "created account " + command.id.str(), [&](Registry& registry) {
        return registry.create_account(command.id, command.rate_limit, now_ms());
    });
}

Status set_account(const Frame& frame, const AccountCommand& command) {
    const std::string limit = command.rate_limit ? to_string(*command.rate_limit) : "default";
    return change_registry(frame, "account " + command.id.str() + " has rate limit " + limit,
                           [&](Registry& registry) {
                               return registry.set_rate_limit(command.id, command.rate_limit);
                           });
}

struct SourceCommand {
    ShopId id;
    std::optional<Platform> platform;
    std::optional<std::string> domain;
    std::optional<Timestamp> from;
    std::optional<std::uint64_t> platform_shop;
    std::optional<bool> presentment_money, counts_test_orders, counts_gift_cards;
};

/// Options that are left out keep their value. Orders count from the moment on at which the shop
/// got its platform, unless the command says otherwise: earlier ones came under other ids.
void change_source(const SourceCommand& command, ShopSource& source) {
    const auto set = [](auto& to, const auto& given) {
        if (given) {
            to = *given;
        }
    };
    const Platform before = source.platform;
    set(source.platform, command.platform);
    if (source.platform != before) {
        source = {source.platform, {}, {}};
        if (source.platform != Platform::kNone) {
            source.settings.from = now_ms();
        }
    }
    if (command.domain) {
        source.domain = platform_domain(*command.domain);
    }
    if (command.from) {
        source.settings.from = command.from;
    }
    set(source.settings.platform_shop, command.platform_shop);
    set(source.settings.presentment_money, command.presentment_money);
    set(source.settings.counts_test_orders, command.counts_test_orders);
    set(source.settings.counts_gift_cards, command.counts_gift_cards);
}

Status set_shop(const Frame& frame, const SourceCommand& command) {
    const bool has_option = command.platform || command.domain || command.from ||
                            command.platform_shop || command.presentment_money ||
                            command.counts_test_orders || command.counts_gift_cards;
    if (!has_option) {
        return invalid("nothing to set: name at least one setting");
    }
    return change_registry(frame, "changed shop " + command.id.str(), [&](Registry& registry) {
        return registry.set_shop_source(
            command.id, [&](ShopSource& source) { change_source(command, source); });
    });
}

Result<std::string> parse_domain(std::string_view text) {
    return fitting(text, !text.empty(), "expected a host, such as shop.example");
}

Result<std::uint64_t> parse_platform_shop(std::string_view text) {
    return parsed(parse_digits(text), "expected a number; 0 checks nothing");
}

void declare_set_shop(Subcommand group) {
    auto [set, command] = add_command(
        group, "set", "Set the platform whose webhooks a shop sends, and how they are read",
        set_shop);
    add_id(set, "ID", "ID", command.id, "Shop").required();
    add_word<Platform>(set, "--platform", command.platform,
                       {{"shopify", Platform::kShopify},
                        {"woocommerce", Platform::kWooCommerce},
                        {"none", Platform::kNone}},
                       "Platform of the shop; none: it sends orders in our own format");
    add_value(set, "--domain", "HOST", command.domain, parse_domain,
              "Host as which the platform's webhooks name the shop");
    add_value(set, "--from", "TIME", command.from, parse_time,
              "Ignore orders placed before this time (default: when the platform is set)");
    add_value(set, "--platform-shop", "N", command.platform_shop, parse_platform_shop,
              "Shopify's number of the shop: refuse orders of others that share the secret");
    add_shopify_settings(set, command);
    set.takes_reason();
}

Status create_shop(const Frame& frame, const ShopCommand& command) {
    return change_registry(frame, "created shop " + command.id.str(), [&](Registry& registry) {
        return registry.create_shop(command.id, command.account, now_ms());
    });
}

/// Names the account's destinations of notifications, which a suspension does not stop.
void tell_destinations(const Frame& frame, const AccountId& id) {
    const auto opened =
        store::DestinationStore::open(frame.paths(), store::DestinationStore::Mode::kRead);
    auto rows = opened.ok() ? (*opened)->list() : opened.error();
    for (const store::StoredDestination& row : std::move(rows).value_or({})) {
        if (row.destination.account_id == id && !row.destination.is_paused) {
            std::printf(
                "destination %s still gets the account's changes; `sluice notify pause %s` "
                "stops it\n",
                row.destination.id.c_str(), row.destination.id.c_str());
        }
    }
}

template <bool suspended>
Status suspend(const Frame& frame, const AccountId& id) {
    const std::string done = suspended ? "suspended account " : "resumed account ";
    Status changed = change_registry(frame, done + id.str(), [&](Registry& registry) {
        return registry.suspend_account(id, suspended);
    });
    if (suspended && changed) {
        tell_destinations(frame, id);
    }
    return changed;
}

template <bool suspended>
Status suspend(const Frame& frame, const ShopId& id) {
    const std::string done = suspended ? "suspended shop " : "resumed shop ";
    return change_registry(frame, done + id.str(), [&](Registry& registry) {
        return registry.suspend_shop(id, suspended);
    });
}

template <class Id>
void declare_suspend(Subcommand group, const std::string& help, const std::string& noun) {
    auto [suspension, suspended] = add_command<Id>(group, "suspend", help, suspend<true>);
    add_id(suspension, "ID", "ID", suspended, noun).required();
    suspension.takes_reason();
    auto [resume, resumed] =
        add_command<Id>(group, "resume", "Resume after a suspend", suspend<false>);
    add_id(resume, "ID", "ID", resumed, noun).required();
    resume.takes_reason();
}

Status list_accounts(const Frame& frame, const Format& format) {
    return list_registry(
        frame, format, {{"account_id"}, {"rate_limit"}, {"suspended"}, {"created_at"}},
        [](Registry& registry) { return registry.accounts(); },
        [](const store::RegisteredAccount& row) -> Row {
            return {row.account_id.str(),
                    row.rate_limit ? Json(to_string(*row.rate_limit)) : Json(), row.suspended,
                    row.created_at.to_string()};
        });
}

Status list_shops(const Frame& frame, const RegistryListOptions& command) {
    return list_registry(
        frame, command.format,
        left("shop_id account_id suspended created_at platform domain orders_from"),
        [&](Registry& registry) { return registry.shops(command.account); },
        [](const store::RegisteredShop& row) -> Row {
            const ShopSource& source = row.source;
            return {row.shop_id.str(),
                    row.account_id.str(),
                    row.suspended,
                    row.created_at.to_string(),
                    std::string(to_string(source.platform)),
                    source.domain.empty() ? Json() : Json(source.domain),
                    source.settings.from};
        });
}

// ---- Silence --------------------------------------------------------------------------------

struct SilenceCommand {
    std::optional<AccountId> account;
    ListOptions list;
    bool check = false;
};

Status list_silences(const SilenceCommand& command, const std::vector<store::RegisteredShop>& shops,
                     LedgerReader& ledger) {
    const Timestamp at = now();
    std::size_t silent = 0;
    list_all(command.list.format,
             left("shop_id account_id last_event_at state") + right("silent usual limit") +
                 left("sentence"),
             shops, [&](const store::RegisteredShop& shop) -> Row {
                 const auto silence = lists::silence_of(ledger, shop.account_number, shop.number);
                 Json row = lists::silence_json(shop.shop_id, silence, at);
                 silent += row["state"].cell() == to_string(ShopSilence::kSilent) ? 1U : 0U;
                 return {shop.shop_id.str(),
                         shop.account_id.str(),
                         silence ? Json(silence->last_event.to_string()) : Json(),
                         row["state"],
                         row["silent"],
                         row["usual"],
                         row["limit"],
                         row["sentence"]};
             });
    if (command.check && silent != 0) {
        return conflict(std::to_string(silent) + " of " + std::to_string(shops.size()) + " shops " +
                        (silent == 1 ? "is" : "are") + " silent");
    }
    return Status::success();
}

/// A suspended shop sends nothing that is stored, so it is left out.
Status show_silence(const Frame& frame, const SilenceCommand& command) {
    auto rows =
        ask_registry(frame, [&](Registry& registry) { return registry.shops(command.account); });
    if (!rows.ok()) {
        return rows.error();
    }
    std::erase_if(*rows, [](const store::RegisteredShop& shop) { return shop.suspended; });
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) {
        return list_silences(command, *rows, ledger);
    });
}

void declare_silence(Subcommand group) {
    auto [silence, command] = add_command(
        group, "silence", "Show which shops send nothing for longer than usual", show_silence);
    add_id(silence, "--account", "A", command.account, "Only shops of this account");
    add_flag(silence, "--check", command.check, "Exit with 1 if a shop is silent");
    add_list_options(silence, command.list);
}

void declare_shop(Subcommand app) {
    const Subcommand group = app.add_group("shop", "Manage shops; each belongs to one account");
    auto [create, created] = add_command(group, "create", "Create a shop", create_shop);
    add_id(create, "ID", "ID", created.id, "Id of the shop, as senders state it").required();
    add_id(create, "--account", "A", created.account, "Account that owns the shop").required();
    create.takes_reason();

    declare_set_shop(group);

    auto [list, listed] = add_command(group, "list", "List shops", list_shops);
    add_id(list, "--account", "A", listed.account, "Only shops of this account");
    add_format(list, listed.format);
    declare_silence(group);

    declare_suspend<ShopId>(group, "Suspend a shop: requests are answered as for an unknown shop",
                            "Shop");
}

}  // namespace

void declare_account(Subcommand app) {
    const Subcommand group =
        app.add_group("account", "Manage accounts, which own shops, tokens and programs");
    auto [create, created] = add_command(group, "create", "Create an account", create_account);
    add_id(create, "ID", "ID", created.id, "Id of the account").required();
    add_value(create, "--rate-limit", "N/SECONDS", created.rate_limit, parse_rate_limit,
              "Rate limit of the account, in requests per seconds, shared by all signed endpoints "
              "(default: nginx's)");
    create.takes_reason();

    auto [set, changed] =
        add_command(group, "set", "Change the rate limit of an account", set_account);
    add_id(set, "ID", "ID", changed.id, "Account").required();
    add_value(set, "--rate-limit", "N/SECONDS|default", changed.rate_limit,
              parse_rate_limit_or_default, "Rate limit in requests per seconds, or nginx's default")
        .required();
    set.takes_reason();

    auto [list, format] = add_command(group, "list", "List accounts", list_accounts);
    add_format(list, format);

    declare_suspend<AccountId>(
        group, "Suspend an account: requests are answered as for unknown shops", "Account");
    declare_shop(app);
}

}  // namespace sluice::cli
