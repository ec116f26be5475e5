// sluice token create|list|revoke
#include <cstdio>
#include <utility>

#include "core/values/lookup.hpp"
#include "core/values/token_number.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/drain/token_days.hpp"

namespace sluice::cli {
namespace {

using store::Registry;

struct CreateCommand {
    store::TokenRequest request;
    std::string secret_from;
    std::string secret_file;
    Format format = Format::kTable;
};

Result<store::TokenRequest> request_of(const CreateCommand& command) {
    store::TokenRequest request = command.request;
    const Status read =
        command.secret_from.empty()
            ? Status::success()
            : assign(request.secret, read_secret(command.secret_from, Exposed::kWarn));
    return read.ok() ? Result(std::move(request)) : read.error();
}

Result<store::NewToken> add_token(const Frame& frame, const store::TokenRequest& request) {
    Fd held;
    return store::MasterKey::hold(frame.paths().master_key, held)
        .and_then([&](const store::MasterKey& key) {
            return with_registry(frame, Registry::Mode::kReadWrite, [&](Registry& registry) {
                return registry.create_token(request, key, now_ms());
            });
        });
}

/// Writes the file before the token, because a token whose secret is lost is useless.
Status create_into_file(const Frame& frame, const CreateCommand& command,
                        store::TokenRequest request) {
    if (!request.secret) {
        request.secret = store::random_secret();
    }
    auto file = write_new_secret(command.secret_file, *request.secret);
    const auto token = file.ok() ? add_token(frame, request) : file.error();
    if (!token.ok()) {
        return token.error();
    }
    file->keep();
    write_object(command.format,
                 {{"token_id", token->token_id.str()}, {"secret_file", command.secret_file}});
    return token->published;
}

Status create_token(const Frame& frame, const CreateCommand& command) {
    auto request = request_of(command);
    if (!request.ok()) {
        return request.error();
    }
    if (!command.secret_file.empty()) {
        return create_into_file(frame, command, std::move(request).value());
    }
    const auto token = add_token(frame, request.value());
    if (!token.ok()) {
        return token.error();
    }
    if (request->secret) {  // the caller has it; it belongs on no terminal and in no log
        write_object(command.format, {{"token_id", token->token_id.str()}});
        return token->published;
    }
    write_object(command.format, {{"token_id", token->token_id.str()}, {"secret", token->secret}});
    if (command.format == Format::kTable) {
        std::fputs("The secret is shown only this once.\n", stderr);
    }
    return token->published;
}

Status list_tokens(const Frame& frame, const RegistryListOptions& command) {
    const auto days = worker::read_token_days(frame.paths());
    if (!days.ok()) {
        return days.error();
    }
    return list_registry(
        frame, command.format,
        left("token_id account_id scopes created_at expires_at revoked_at shop_id label made_by "
             "last_used"),
        [&](Registry& registry) { return registry.tokens(command.account); },
        [&days = *days](const store::TokenRow& row) -> Row {
            const auto* const used = find_value(days, token_number(row.token_id.view()));
            return {row.token_id.str(),
                    row.account_id.str(),
                    scope_names(row.scopes),
                    row.created_at.to_string(),
                    row.expires_at,
                    row.revoked_at,
                    text_or_null(row.shop_id.str()),
                    text_or_null(row.label),
                    text_or_null(row.made_by),
                    used == nullptr ? Json() : Json(worker::day_text(*used))};
        });
}

Status revoke_token(const Frame& frame, const TokenId& id) {
    return change_registry(frame, "revoked token " + printable(id.view()),
                           [&](Registry& registry) { return registry.revoke_token(id, now_ms()); });
}

Result<std::string> parse_label(std::string_view text) {
    constexpr std::size_t kBytesMax = 100;
    auto label = parse_typed(text);
    return label.ok() && (label->empty() || label->size() > kBytesMax)
               ? invalid("expected 1 to 100 bytes")
               : label;
}

Result<TokenId> parse_token_id(std::string_view text) {
    return fitting<TokenId>(text, !text.empty(), "expected a token id, as token list shows it");
}

}  // namespace

void declare_token(Subcommand app) {
    const Subcommand group =
        app.add_group("token", "Manage tokens, whose secrets sign and authorize requests");
    auto [create, created] =
        add_command(group, "create", "Create a token and print its secret once", create_token);
    add_id(create, "--account", "A", created.request.account_id, "Account that owns the token")
        .required();
    add_value(create, "--scope", "S[,S...]", created.request.scopes, parse_scopes,
              "Scopes: write_orders (sign events), write_products (send batches), write_clicks "
              "(sign clicks), read_orders and read_ledger (the API of `sluice serve`); or alone "
              "shopify_webhooks or woocommerce_webhooks (sign a platform's webhooks), or alone "
              "creator_pages (make links to creators' pages)")
        .required();
    add_id(create, "--shop", "S", created.request.shop_id,
           "Webhooks: the only shop for which the secret counts (default: all of the account)");
    add_value(create, "--label", "TEXT", created.request.label, parse_label,
              "What the token is for, as `token list` shows it (1 to 100 bytes)");
    add_value(create, "--expires", "WHEN", created.request.expires_at, parse_expiry,
              "Expiry: a time (RFC 3339), or a duration: 90d, 12h, 30m, 45s (default: never)");
    add_file(
        create, "--secret-from", "FILE|-", created.secret_from, FileUse::kInput,
        "File with the secret (at least 16 bytes, 32 for creator_pages), which is not printed; - "
        "means standard input (default: a random secret)");
    add_file(create, "--secret-file", "FILE", created.secret_file, FileUse::kNewOutput,
             "Write the secret to a new file of mode 0600 instead of printing it");
    add_format(create, created.format);
    create.takes_reason();

    auto [list, listed] =
        add_command(group, "list", "List tokens, without their secrets", list_tokens);
    add_id(list, "--account", "A", listed.account, "Only tokens of this account");
    add_format(list, listed.format);

    auto [revoke, revoked] =
        add_command(group, "revoke", "Revoke a token from the next request on", revoke_token);
    add_value(revoke, "TOKEN_ID", "TOKEN_ID", revoked, parse_token_id,
              "Token id, as `token list` shows it")
        .required();
    revoke.takes_reason();
}

}  // namespace sluice::cli
