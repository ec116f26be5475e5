#include "lmdb_store/rows/keys.hpp"

#include "core/protocol/signature.hpp"
#include "core/values/assert.hpp"

namespace sluice::store {
namespace {

constexpr std::uint8_t kCutMark = 1;
constexpr std::size_t kCodeBytes = 2;
constexpr std::size_t kAdminIdAndEnd = kAdminIdBytesMax + 1;
/// Moves the most negative second to 0, so that unsigned bytes sort as signed seconds.
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

constexpr std::size_t cut_id(std::size_t whole_max) {
    return whole_max + 1 + sizeof(Digest256);
}

// Every key of a table that is not described fits, whatever its ids are.
static_assert(8 + cut_id(kIdBytesWhole) + 1 + 1 + sizeof(EventDigest) <= kKeyBytesMax);
static_assert(8 + cut_id(kIdBytesWhole) + 1 + 2 * kCodeBytes <= kKeyBytesMax);
static_assert(8 + 2 * cut_id(kIdBytesWholeVariant) + 1 + 2 * kCodeBytes <= kKeyBytesMax);
static_assert(4 + sizeof(Digest256) + 2 * kAdminIdAndEnd + 12 <= kKeyBytesMax);
static_assert(4 + 2 * kAdminIdAndEnd + 3 + 4 <= kKeyBytesMax);
static_assert(4 + kAdminIdAndEnd + 12 + 4 + 8 <= kKeyBytesMax);

}  // namespace

LedgerKey& LedgerKey::bytes(std::string_view raw) noexcept {
    SLUICE_ASSERT(raw.size() <= bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, raw.data(), raw.size());
    size_ += raw.size();
    return *this;
}

LedgerKey& LedgerKey::u8(std::uint8_t value) noexcept {
    SLUICE_ASSERT(size_ < bytes_.size());
    bytes_[size_++] = static_cast<char>(value);
    return *this;
}

LedgerKey& LedgerKey::u32(std::uint32_t value) noexcept {
    const std::uint32_t big = __builtin_bswap32(value);
    return bytes({reinterpret_cast<const char*>(&big), sizeof(big)});
}

LedgerKey& LedgerKey::u64(std::uint64_t value) noexcept {
    const std::uint64_t big = __builtin_bswap64(value);
    return bytes({reinterpret_cast<const char*>(&big), sizeof(big)});
}

LedgerKey& LedgerKey::instant(Timestamp at) noexcept {
    return u64(static_cast<std::uint64_t>(at.seconds) ^ kSignBit).u32(at.nanos);
}

LedgerKey& LedgerKey::digest(const Digest256& digest) noexcept {
    return bytes({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

LedgerKey& LedgerKey::code2(std::string_view code) noexcept {
    SLUICE_ASSERT(code.empty() || code.size() == kCodeBytes);
    return code.empty() ? u8(0).u8(0) : bytes(code);
}

LedgerKey& LedgerKey::id(std::string_view id, std::size_t whole_max) noexcept {
    if (!id_is_cut(id, whole_max)) {
        return bytes(id);
    }
    bytes(id.substr(0, whole_max)).u8(kCutMark);
    uncut_ = uncut_ == 0 ? size_ : uncut_;
    return digest(sha256(id));
}

std::string_view LedgerKeyParser::bytes(std::size_t count) noexcept {
    if (!ok_ || count > rest_.size()) {
        ok_ = false;
        return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
}

std::uint8_t LedgerKeyParser::u8() noexcept {
    const std::string_view taken = bytes(1);
    return taken.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(taken.front());
}

std::uint32_t LedgerKeyParser::u32() noexcept {
    const std::string_view taken = bytes(sizeof(std::uint32_t));
    std::uint32_t big = 0;
    std::memcpy(&big, taken.data(), taken.size());
    return __builtin_bswap32(big);
}

std::uint64_t LedgerKeyParser::u64() noexcept {
    const std::string_view taken = bytes(sizeof(std::uint64_t));
    std::uint64_t big = 0;
    std::memcpy(&big, taken.data(), taken.size());
    return __builtin_bswap64(big);
}

Timestamp LedgerKeyParser::instant() noexcept {
    const std::uint64_t seconds = u64() ^ kSignBit;
    return {static_cast<std::int64_t>(seconds), u32()};
}

Digest256 LedgerKeyParser::digest() noexcept {
    const std::string_view taken = bytes(sizeof(Digest256));
    Digest256 digest{};
    std::memcpy(digest.data(), taken.data(), taken.size());
    return digest;
}

std::string_view LedgerKeyParser::code2() noexcept {
    const std::string_view taken = bytes(kCodeBytes);
    return !taken.empty() && taken.front() == '\0' ? std::string_view{} : taken;
}

std::optional<std::string_view> LedgerKeyParser::id(std::size_t whole_max) noexcept {
    const std::size_t end = rest_.substr(0, whole_max + 1).find('\0');
    if (end != std::string_view::npos) {
        const std::string_view whole = bytes(end);
        (void)bytes(1);
        return whole;
    }
    if (rest_.size() <= whole_max) {
        return bytes(rest_.size());
    }
    (void)bytes(cut_id(whole_max));
    if (ok_ && !rest_.empty()) {
        (void)bytes(1);
    }
    return std::nullopt;
}

std::string_view LedgerKeyParser::text() noexcept {
    const std::size_t end = rest_.substr(0, kAdminIdAndEnd).find('\0');
    if (end == std::string_view::npos) {
        ok_ = false;
        return {};
    }
    const std::string_view whole = bytes(end);
    (void)bytes(1);
    return whole;
}

LedgerKey account_prefix(AccountNumber account) noexcept {
    LedgerKey key;
    key.u32(account.value);
    return key;
}

LedgerKey shop_prefix(AccountNumber account, ShopNumber shop) noexcept {
    return account_prefix(account).u32(shop.value);
}

LedgerKey shop_id_key(const ShopRow& shop) noexcept {
    LedgerKey key;
    key.bytes(shop.shop_id.view()).end().u32(shop.shop.value);
    return key;
}

LedgerKey order_key(const OrderKey& order) noexcept {
    return shop_prefix(order.account, order.shop).id(order.order_id.view(), kIdBytesWhole);
}

LedgerKey event_key(const OrderKey& order, const EventTrace& event) noexcept {
    return order_key(order).end().u64(event.seq.value).u32(event.node);
}

bool parse_event_key(std::string_view stored, OrderKey& order, std::uint64_t& seq,
                     std::uint32_t& node) {
    LedgerKeyParser parser(stored);
    order.account = {parser.u32()};
    order.shop = {parser.u32()};
    order.order_id.assign(parser.id(kIdBytesWhole).value_or(std::string_view{}));
    seq = parser.u64();
    node = parser.u32();
    return parser.complete();
}

LedgerKey event_digest_key(const OrderKey& order, Topic topic, const EventDigest& digest) noexcept {
    return order_key(order)
        .end()
        .u8(static_cast<std::uint8_t>(topic))
        .bytes({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

LedgerKey balance_prefix(const BalanceKey& balance) noexcept {
    return account_prefix(balance.account)
        .bytes(balance.program.view())
        .end()
        .bytes(balance.creator.view())
        .end()
        .bytes(balance.currency.code());
}

LedgerKey product_prefix(AccountNumber account, ShopNumber shop,
                         const ProductId& product) noexcept {
    return shop_prefix(account, shop).id(product.view(), kIdBytesWhole).end();
}

LedgerKey catalog_key(const CatalogKey& key) noexcept {
    return product_prefix(key.account, key.shop, key.product_id)
        .code2(key.language)
        .code2(key.country);
}

bool parse_catalog_key(std::string_view stored, CatalogKey& key) {
    LedgerKeyParser parser(stored);
    key.account = {parser.u32()};
    key.shop = {parser.u32()};
    key.product_id.assign(parser.id(kIdBytesWhole).value_or(std::string_view{}));
    key.language = parser.code2();
    key.country = parser.code2();
    return parser.complete();
}

LedgerKey variant_prefix(AccountNumber account, ShopNumber shop,
                         std::string_view variant_sku) noexcept {
    return shop_prefix(account, shop).id(variant_sku, kIdBytesWholeVariant).end();
}

LedgerKey variant_key(const CatalogKey& key, std::string_view variant_sku) noexcept {
    return variant_prefix(key.account, key.shop, variant_sku)
        .code2(key.language)
        .code2(key.country)
        .id(key.product_id.view(), kIdBytesWholeVariant);
}

LedgerKey journal_key(std::uint32_t node, std::uint64_t entry) noexcept {
    LedgerKey key;
    key.u32(node).u64(entry);
    return key;
}

LedgerKey creator_prefix(AccountNumber account, const CreatorId& creator) noexcept {
    return account_prefix(account).bytes(creator.view()).end();
}

LedgerKey dated_key(const JournalGroup& group, std::uint32_t node) noexcept {
    return creator_prefix(group.account, group.creator)
        .instant(group.accounting_date)
        .u32(node)
        .u64(group.first_entry);
}

}  // namespace sluice::store
