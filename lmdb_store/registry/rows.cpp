#include "lmdb_store/registry/rows.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "core/intake/registry_view.hpp"
#include "core/values/texts.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/registry_generated.h"

namespace sluice::store {
namespace {

namespace fbs = registry_fbs;

// Bits of Shop.source_flags.
constexpr std::uint8_t kPresentmentMoney = 1;
constexpr std::uint8_t kCountsTestOrders = 2;
constexpr std::uint8_t kCountsGiftCards = 4;

std::uint8_t flags_of(const SourceSettings& settings) noexcept {
    const int flags = (settings.presentment_money ? kPresentmentMoney : 0) |
                      (settings.counts_test_orders ? kCountsTestOrders : 0) |
                      (settings.counts_gift_cards ? kCountsGiftCards : 0);
    return static_cast<std::uint8_t>(flags);
}

fbs::Instant to_instant(Timestamp time) {
    return {time.seconds, time.nanos};
}

Timestamp from_instant(const fbs::Instant& instant) {
    return {instant.seconds(), instant.nanos()};
}

std::optional<Timestamp> from_instant(const fbs::Instant* instant) {
    return instant != nullptr ? std::optional(from_instant(*instant)) : std::nullopt;
}

template <class Table>
std::string finish(flatbuffers::FlatBufferBuilder& builder, flatbuffers::Offset<Table> root) {
    builder.Finish(root);
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

/// An aligned copy of a row, because FlatBuffers needs 8-byte alignment and LMDB guarantees 2.
template <class Table>
class Row {
public:
    explicit Row(std::string_view bytes) : words_((bytes.size() + 7) / 8) {
        if (bytes.empty()) {
            return;
        }
        std::memcpy(words_.data(), bytes.data(), bytes.size());
        const auto* aligned = reinterpret_cast<const std::uint8_t*>(words_.data());
        flatbuffers::Verifier verifier(aligned, bytes.size());
        table_ =
            verifier.VerifyBuffer<Table>(nullptr) ? flatbuffers::GetRoot<Table>(aligned) : nullptr;
    }
    [[nodiscard]] bool ok() const noexcept { return table_ != nullptr; }
    const Table* operator->() const noexcept { return table_; }

private:
    std::vector<std::uint64_t> words_;
    const Table* table_ = nullptr;
};

std::string_view view_of(const flatbuffers::String& text) {
    return {text.c_str(), text.size()};
}

/// Returns "" without a text.
std::string_view view_of(const flatbuffers::String* text) {
    return text != nullptr ? view_of(*text) : std::string_view();
}

/// Omits an empty text, because an absent field takes no space.
flatbuffers::Offset<flatbuffers::String> add_text(flatbuffers::FlatBufferBuilder& builder,
                                                  std::string_view text) {
    return text.empty() ? 0 : builder.CreateString(text.data(), text.size());
}

std::string_view view_of(const flatbuffers::Vector<std::uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> add_bytes(
    flatbuffers::FlatBufferBuilder& builder, std::string_view bytes) {
    return builder.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

std::string encode_account(const RegisteredAccount& row) {
    flatbuffers::FlatBufferBuilder builder(128);
    const fbs::Instant created = to_instant(row.created_at);
    const RateLimit limit = row.rate_limit.value_or(RateLimit{0, 0});
    return finish(builder,
                  fbs::CreateAccount(builder, row.number.value, row.slot.value, limit.requests,
                                     limit.window_seconds, row.suspended, &created));
}

std::string encode_shop(const RegisteredShop& row) {
    flatbuffers::FlatBufferBuilder builder(256);
    const auto account_id = builder.CreateString(row.account_id.str());
    const ShopSource& source = row.source;
    const auto domain = add_text(builder, source.domain);
    const fbs::Instant created = to_instant(row.created_at);
    const fbs::Instant from = to_instant(source.settings.from.value_or(Timestamp{}));
    return finish(builder, fbs::CreateShop(
                               builder, row.number.value, row.account_number.value, account_id,
                               row.suspended, &created, static_cast<std::uint8_t>(source.platform),
                               domain, source.settings.from ? &from : nullptr,
                               source.settings.platform_shop, flags_of(source.settings)));
}

std::string encode_token(const StoredToken& token) {
    flatbuffers::FlatBufferBuilder builder(512);
    const TokenRow& row = token.row;
    const auto account_id = builder.CreateString(row.account_id.str());
    const auto secret_sha256 =
        builder.CreateVector(token.secret_sha256.data(), token.secret_sha256.size());
    const auto sealed = add_bytes(builder, token.sealed_secret);
    const auto shop_id = add_text(builder, row.shop_id.view());
    const auto label = add_text(builder, row.label);
    const auto made_by = add_text(builder, row.made_by);
    const auto page_key =
        token.page_key ? builder.CreateVector(token.page_key->data(), token.page_key->size()) : 0;
    const fbs::Instant created = to_instant(row.created_at);
    const fbs::Instant expires = to_instant(row.expires_at.value_or(Timestamp{}));
    const fbs::Instant revoked = to_instant(row.revoked_at.value_or(Timestamp{}));
    return finish(
        builder,
        fbs::CreateToken(builder, token.account_number.value, account_id, row.scopes, &created,
                         row.expires_at ? &expires : nullptr, row.revoked_at ? &revoked : nullptr,
                         secret_sha256, sealed, shop_id, label, made_by, page_key));
}

std::optional<RegisteredAccount> decode_account(std::string_view id, std::string_view bytes) {
    const Row<fbs::Account> stored(bytes);
    if (!stored.ok() || stored->number() == 0) {
        return std::nullopt;
    }
    RegisteredAccount row{
        .account_id = AccountId(id), .number = {stored->number()}, .slot = {stored->slot()}};
    if (stored->rate_requests() != 0) {
        row.rate_limit = RateLimit{stored->rate_requests(), stored->rate_window_seconds()};
    }
    row.suspended = stored->suspended();
    row.created_at = from_instant(*stored->created_at());
    return row;
}

std::optional<RegisteredShop> decode_shop(std::string_view id, std::string_view bytes) {
    const Row<fbs::Shop> stored(bytes);
    if (!stored.ok() || stored->number() == 0 ||
        stored->platform() > static_cast<std::uint8_t>(Platform::kWooCommerce)) {
        return std::nullopt;
    }
    RegisteredShop row;
    row.shop_id = ShopId(id);
    row.number = {stored->number()};
    row.account_id = AccountId(view_of(*stored->account_id()));
    row.account_number = {stored->account_number()};
    row.suspended = stored->suspended();
    row.created_at = from_instant(*stored->created_at());
    row.source.platform = static_cast<Platform>(stored->platform());
    row.source.domain = view_of(stored->domain());
    SourceSettings& settings = row.source.settings;
    settings.from = from_instant(stored->orders_from());
    settings.platform_shop = stored->platform_shop();
    settings.presentment_money = (stored->source_flags() & kPresentmentMoney) != 0;
    settings.counts_test_orders = (stored->source_flags() & kCountsTestOrders) != 0;
    settings.counts_gift_cards = (stored->source_flags() & kCountsGiftCards) != 0;
    return row;
}

std::optional<StoredToken> decode_token(std::string_view id, std::string_view bytes) {
    const Row<fbs::Token> stored(bytes);
    StoredToken token;
    if (!stored.ok() || stored->secret_sha256()->size() != token.secret_sha256.size()) {
        return std::nullopt;
    }
    token.row.token_id = TokenId(id);
    token.row.account_id = AccountId(view_of(*stored->account_id()));
    token.row.scopes = stored->scopes();
    token.row.created_at = from_instant(*stored->created_at());
    token.row.expires_at = from_instant(stored->expires_at());
    token.row.revoked_at = from_instant(stored->revoked_at());
    token.row.shop_id = ShopId(view_of(stored->shop_id()));
    token.row.label = view_of(stored->label());
    token.row.made_by = view_of(stored->made_by());
    token.account_number = {stored->account_number()};
    std::ranges::copy(*stored->secret_sha256(), token.secret_sha256.begin());
    token.sealed_secret = view_of(*stored->sealed_secret());
    const auto* const page_key = stored->page_key();
    const bool has_page_key = (token.row.scopes & kCreatorPages) != 0;
    if (has_page_key != (page_key != nullptr) ||
        (has_page_key && page_key->size() != std::tuple_size_v<PageKey>)) {
        return std::nullopt;
    }
    if (has_page_key) {
        std::ranges::copy(*page_key, token.page_key.emplace().begin());
    }
    return token;
}

bool differ_in_seal_only(std::string_view id, std::string_view a, std::string_view b) {
    std::optional<StoredToken> first = decode_token(id, a);
    std::optional<StoredToken> second = decode_token(id, b);
    if (!first || !second) {
        return false;
    }
    first->sealed_secret.clear();
    second->sealed_secret.clear();
    return encode_token(*first) == encode_token(*second);
}

std::optional<std::string> user_name(std::string_view text) {
    constexpr std::size_t kBytesMax = 254;
    const bool has_control = std::ranges::any_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
    return text.empty() || text.size() > kBytesMax || has_control
               ? std::nullopt
               : std::optional(ascii_lower(text));
}

std::string encode_user(const UserRow& row) {
    flatbuffers::FlatBufferBuilder builder(256);
    const auto account_id = builder.CreateString(row.account_id.str());
    const fbs::Instant created = to_instant(row.created_at);
    const fbs::Instant removed = to_instant(row.removed_at.value_or(Timestamp{}));
    return finish(builder, fbs::CreateUser(builder, row.account_number.value, account_id,
                                           static_cast<std::uint8_t>(row.role), &created,
                                           row.removed_at ? &removed : nullptr));
}

std::optional<UserRow> decode_user(std::string_view name, std::string_view bytes) {
    const Row<fbs::User> stored(bytes);
    const bool known = stored.ok() && stored->account_number() != 0 &&
                       stored->role() >= static_cast<std::uint8_t>(Role::kViewer) &&
                       stored->role() <= static_cast<std::uint8_t>(Role::kSupport);
    if (!known) {
        return std::nullopt;
    }
    return UserRow{.name = std::string(name),
                   .account_id = AccountId(view_of(*stored->account_id())),
                   .account_number = {stored->account_number()},
                   .role = static_cast<Role>(stored->role()),
                   .created_at = from_instant(*stored->created_at()),
                   .removed_at = from_instant(stored->removed_at())};
}

std::string limit_text(const std::optional<RateLimit>& limit) {
    return limit ? std::to_string(limit->requests) + "/" + std::to_string(limit->window_seconds)
                 : "default";
}

std::string source_changes(const ShopSource& before, const ShopSource& after) {
    const SourceSettings& was = before.settings;
    const SourceSettings& is = after.settings;
    std::string text;
    const auto add = [&text](bool differs, std::string_view name, std::string_view value) {
        if (differs) {
            text.append(text.empty() ? "" : ", ").append(name).append(" ").append(value);
        }
    };
    const auto choice = [](bool counts) { return counts ? "count" : "ignore"; };
    add(before.platform != after.platform, "platform", to_string(after.platform));
    add(before.domain != after.domain, "domain", after.domain.empty() ? "none" : after.domain);
    add(was.from != is.from, "from", is.from ? is.from->to_string() : "none");
    add(was.platform_shop != is.platform_shop, "platform-shop", std::to_string(is.platform_shop));
    add(was.presentment_money != is.presentment_money, "money",
        is.presentment_money ? "presentment" : "shop");
    add(was.counts_test_orders != is.counts_test_orders, "test-orders",
        choice(is.counts_test_orders));
    add(was.counts_gift_cards != is.counts_gift_cards, "gift-cards", choice(is.counts_gift_cards));
    return text.empty() ? "no change" : text;
}

std::string encode_change(const ChangeRow& row) {
    flatbuffers::FlatBufferBuilder builder(256);
    const auto actor = builder.CreateString(row.author.actor);
    const auto reason = builder.CreateString(row.author.reason);
    const auto change = builder.CreateString(row.change);
    const fbs::Instant at = to_instant(row.at);
    return finish(builder, fbs::CreateChange(builder, &at, actor, reason, change));
}

std::optional<ChangeRow> decode_change(std::string_view key, std::string_view bytes) {
    const Row<fbs::Change> stored(bytes);
    const std::size_t slash = key.find('/');
    if (!stored.ok() || key.size() - std::min(slash, key.size()) != 1 + sizeof(std::uint64_t)) {
        return std::nullopt;
    }
    return ChangeRow{
        .store = std::string(key.substr(0, slash)),
        .number = get_big_endian<std::uint64_t>(key.data() + slash + 1),
        .at = from_instant(*stored->at()),
        .author = {std::string(view_of(*stored->actor())), std::string(view_of(*stored->reason()))},
        .change = std::string(view_of(*stored->change()))};
}

}  // namespace sluice::store
