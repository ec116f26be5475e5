// sluice sign, verify: to debug a signature; sluice tax
#include <algorithm>
#include <array>
#include <utility>

#include "core/intake/diagnosis.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/lookup.hpp"
#include "core/values/money.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "tool/send/body_layouts.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t kBodyBytesMax = 1u << 30;

struct SignCommand {
    std::string file = "-";
    std::string token_file;
    std::optional<ShopId> shop;
    std::string signature;
    bool catalog = false;
};

Result<std::string> read_body(const SignCommand& command) {
    return read_to_end(command.file == "-" ? "/dev/stdin" : command.file, kBodyBytesMax);
}

/// The shop whose tokens are tried. For a shop of the store, also tokens that may not sign.
struct Signers {
    std::shared_ptr<const ShopView> shop;
    std::vector<std::shared_ptr<const TokenView>> barred;
};

/// Returns a shop with the one token in the file, in the form that the diagnosis needs.
Result<Signers> signers_of_file(const std::string& token_file) {
    auto secret = read_secret(token_file);
    if (!secret.ok()) {
        return secret.error();
    }
    auto token = std::make_shared<TokenView>();
    token->scopes = kWriteOrders;
    token->signing_key = std::make_unique<SigningKey>(secret.value());
    auto account = std::make_shared<AccountView>();
    account->tokens.push_back(std::move(token));
    auto shop = std::make_shared<ShopView>();
    shop->account = std::move(account);
    return Signers{std::move(shop), {}};
}

Result<Signers> signers_of_store(const Frame& frame, const ShopId& id) {
    Fd held;
    auto key = store::MasterKey::hold(frame.paths().master_key, held);
    auto registry = key.ok() ? store::RegistryReader::open(frame.paths(), *key) : key.error();
    if (!registry.ok()) {
        return registry.error();
    }
    auto shop = registry.value()->find_shop(id.view());
    if (!shop) {
        return not_found("there is no shop " + id.str());
    }
    return Signers{shop, registry.value()->find_barred_tokens(shop->account->number, kWriteOrders,
                                                              kDiagnosisBarredMax)};
}

Status run_sign(const Frame& /*frame*/, const SignCommand& command) {
    auto secret =
        command.catalog ? Result<std::string>(std::string()) : read_secret(command.token_file);
    auto body = secret.ok() ? read_body(command) : secret.error();
    if (!body.ok()) {
        return body.error();
    }
    const Digest256 digest =
        command.catalog ? sha256(body.value()) : SigningKey(secret.value()).sign(body.value());
    std::printf("%s\n", to_hex(digest).c_str());
    return Status::success();
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kAdvice{{
    {"signature_prefix", "send the bare digest, without a prefix such as sha256="},
    {"signature_uppercase", "write the digest in lower case"},
    {"signature_base64", "this is base64: send the digest in hexadecimal"},
    {"signature_unkeyed_sha256", "this is the plain SHA-256 of the body: use HMAC with the token"},
    {"body_trailing_newline", "the body ends with a newline that was not signed"},
    {"body_missing_newline", "a final newline was signed that is not in the body"},
    {"body_reformatted", "the JSON was rewritten after it was signed: send the signed bytes"},
    {"token_revoked", "signed with a token that is revoked"},
    {"token_expired", "signed with a token that has expired"},
    {"token_scope", "signed with a token that lacks the scope write_orders"},
}};

Error mismatch(std::string_view reason) {
    const auto* const known =
        find_item(kAdvice, reason, &std::pair<std::string_view, std::string_view>::first);
    return invalid("the signature does not match: " +
                   std::string(known != nullptr
                                   ? known->second
                                   : "another secret, or other bytes than these were signed"));
}

bool is_signed_by(const ShopView& shop, std::string_view body, const Digest256& digest) {
    return std::ranges::any_of(shop.account->tokens, [&](const auto& token) {
        return token->active(now()) && (token->scopes & kWriteOrders) != 0 && token->signing_key &&
               token->signing_key->verify(body, digest);
    });
}

/// @param is_signed  Returns true if its argument is the text that was signed.
/// @param otherwise  The result if no likely layout was signed.
Error layout_mismatch(std::string_view body, Error otherwise,
                      const std::function<bool(const std::string&)>& is_signed) {
    const std::string layout = find_signed_layout(body, is_signed);
    if (layout.empty()) {
        return otherwise;
    }
    return invalid("the signature does not match: the body was signed " + layout +
                   "; something rewrote it afterwards: send the bytes that "
                   "were signed");
}

/// Explains why no token of the shop signed a platform's webhook.
std::string webhook_mismatch(const Signers& signers, std::string_view body,
                             const Digest256& digest) {
    const auto fits = [&](const TokenView& token) {
        return token.signing_key && token.signing_key->verify(body, digest);
    };
    for (const auto& token : signers.shop->account->tokens) {
        if (fits(*token)) {
            return token->shop_id.empty() || token->shop_id == signers.shop->shop_id
                       ? "signed with a token that lacks the scope of this platform's webhooks"
                       : "signed with the token of shop " + token->shop_id.str();
        }
    }
    for (const auto& token : signers.barred) {
        if (fits(*token)) {
            return "signed with a token that is revoked or has expired";
        }
    }
    return signers.shop->source.platform == Platform::kShopify
               ? "another secret, or other bytes than these were signed; Shopify signs the "
                 "webhooks made in its admin with a key of their own"
               : "another secret, or other bytes than these were signed";
}

/// Verifies the signature of a webhook of the shop's platform.
Status verify_webhook(const Signers& signers, std::string_view body, std::string_view signature) {
    const std::string no_match = "the signature does not match: ";
    const auto digest = parse_base64_digest(signature);
    if (!digest) {
        return invalid(no_match + "it is not the 44 characters of base64 that the platform sends");
    }
    const ShopView& shop = *signers.shop;
    for (const auto& token : shop.account->tokens) {
        if (token->may_sign_webhooks(shop.source.platform, shop.shop_id, now()) &&
            token->signing_key && token->signing_key->verify(body, *digest)) {
            std::printf("the signature matches\n");
            return Status::success();
        }
    }
    return invalid(no_match + webhook_mismatch(signers, body, *digest));
}

Status verify_event(const Frame& frame, const SignCommand& command) {
    const Result<Signers> tried =
        command.shop ? signers_of_store(frame, *command.shop) : signers_of_file(command.token_file);
    if (!tried.ok()) {
        return tried.error();
    }
    const Signers& signers = tried.value();
    auto body = read_body(command);
    if (!body.ok()) {
        return body.error();
    }
    const auto digest = parse_hex_digest(command.signature, HexCase::kLowerOnly);
    if (!digest && signers.shop->source.platform != Platform::kNone) {
        return verify_webhook(signers, body.value(), command.signature);
    }
    if (digest && is_signed_by(*signers.shop, body.value(), *digest)) {
        std::printf("the signature matches\n");
        return Status::success();
    }
    const std::string_view reason =
        diagnose_signature({command.signature, 1}, body.value(), signers.shop.get(), signers.barred,
                           kWriteOrders, now());
    if (digest && (reason.empty() || reason == "body_reformatted")) {
        return layout_mismatch(body.value(), mismatch(reason), [&](const std::string& form) {
            return is_signed_by(*signers.shop, form, *digest);
        });
    }
    return mismatch(reason);
}

Status run_verify(const Frame& frame, const SignCommand& command) {
    if (!command.catalog) {
        return verify_event(frame, command);
    }
    auto body = read_body(command);
    if (!body.ok()) {
        return body.error();
    }
    const auto digest = parse_hex_digest(command.signature, HexCase::kEither);
    if (!digest) {
        return invalid("the signature is no hexadecimal SHA-256 digest");
    }
    if (*digest != sha256(body.value())) {
        const Error otherwise{ErrorCode::kInvalid,
                              "the signature is not the SHA-256 digest of these bytes"};
        return layout_mismatch(body.value(), otherwise,
                               [&](const std::string& form) { return sha256(form) == *digest; });
    }
    std::printf("the signature matches\n");
    return Status::success();
}

/// Requires exactly one source of the secret, or none for the catalog.
void require_key(Subcommand app, const SignCommand& command, Option token_file,
                 const char* sources) {
    app.require([&command, token_file, sources] {
        const int keys = (token_file.is_given() ? 1 : 0) + (command.shop ? 1 : 0);
        return keys == (command.catalog ? 0 : 1) ? "" : sources;
    });
}

/// Adds what `sign` and `verify` share. Returns `--token-file`.
Option add_body(Subcommand app, SignCommand& command) {
    add_file(app, "FILE", "", command.file, FileUse::kInput,
             "File with the body (default: standard input)");
    const Option token_file = add_file(app, "--token-file", "F", command.token_file,
                                       FileUse::kInput, "File with the token's secret");
    add_flag(app, "--catalog", command.catalog,
             "Use SHA-256 without a token, as for /product-data");
    return token_file;
}

struct TaxCommand {
    Decimal amount;
    Decimal rate;
};

Result<Decimal> parse_decimal(std::string_view text) {
    return parsed(Decimal::parse(text), "expected a decimal such as 120.00 or 0.2");
}

Status run_tax(const Frame& /*frame*/, const TaxCommand& command) {
    std::printf("%s\n", tax_within(command.amount, command.rate).to_string().c_str());
    return Status::success();
}

void declare_tax(Subcommand app) {
    auto [tax, command] = add_command(
        app, "tax", "Print the tax inside a gross amount, rounded half to even", run_tax);
    tax.keeps_user();
    add_value(tax, "AMOUNT", "AMOUNT", command.amount, parse_decimal, "Gross amount").required();
    add_value(tax, "RATE", "RATE", command.rate, parse_decimal, "Tax rate; 0.2 means 20 percent")
        .required();
}

}  // namespace

void declare_sign(Subcommand app) {
    auto [sign, signed_body] =
        add_command(app, "sign", "Print the X-Signature of a body", run_sign);
    sign.keeps_user();
    const Option signing_file = add_body(sign, signed_body);
    require_key(sign, signed_body, signing_file, "one of --token-file, --catalog");

    auto [verify, command] =
        add_command(app, "verify", "Verify a signature, and explain a mismatch", run_verify);
    const Option token_file = add_body(verify, command);
    add_text(verify, "--signature", "TEXT", command.signature,
             "X-Signature header as it was sent; of a shop with a platform, the signature of the "
             "platform's webhook")
        .required();
    add_id(verify, "--shop", "S", command.shop, "Try the tokens of this shop of the store");
    require_key(verify, command, token_file, "one of --token-file, --shop, --catalog");
    declare_tax(app);
}

}  // namespace sluice::cli
