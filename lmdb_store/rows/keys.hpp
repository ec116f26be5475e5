// Keys of the embedded ledger. Pure: values in, bytes out.
//
// Numbers are big endian, so that bytes sort as values do. A text component ends in 0x00, which no
// id contains, unless it is the last one. LMDB's keys end at 511 bytes and ids may have 1024: an id
// beyond the component's limit is cut there, marked by 0x01 and followed by its SHA-256. So keys
// sort by id, and only ids that share that long a beginning sort by their digests; the full id is
// then in the value, and is compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/ledger/ledger.hpp"

namespace sluice::store {

inline constexpr std::size_t kKeyBytesMax = 511;  ///< LMDB takes no longer key.
/// Longest id that stays whole in the key of a table that is not described, as the only id or
/// together with another one.
inline constexpr std::size_t kIdBytesWhole = 390;
inline constexpr std::size_t kIdBytesWholeVariant = 150;

class LedgerKey {
public:
    LedgerKey() noexcept {}  // bytes_ is written before it is read
    LedgerKey(const LedgerKey& other) noexcept : size_(other.size_), uncut_(other.uncut_) {
        std::memcpy(bytes_.data(), other.bytes_.data(), size_);
    }
    LedgerKey& operator=(const LedgerKey&) = delete;
    ~LedgerKey() = default;

    LedgerKey& u8(std::uint8_t value) noexcept;
    LedgerKey& u32(std::uint32_t value) noexcept;
    LedgerKey& u64(std::uint64_t value) noexcept;
    LedgerKey& instant(Timestamp at) noexcept;
    LedgerKey& bytes(std::string_view raw) noexcept;
    LedgerKey& digest(const Digest256& digest) noexcept;
    /// Adds a code of two bytes. An empty code is 0x00 0x00.
    LedgerKey& code2(std::string_view code) noexcept;
    /// Does not write the 0x00 that ends the id.
    LedgerKey& id(std::string_view id, std::size_t whole_max) noexcept;
    LedgerKey& end() noexcept { return u8(0); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }
    /// Returns the key up to the first id that was cut, without that id's digest: the part that all
    /// keys cut at this place have in common.
    [[nodiscard]] std::string_view uncut() const noexcept {
        return {bytes_.data(), uncut_ == 0 ? size_ : uncut_};
    }

private:
    std::array<char, kKeyBytesMax> bytes_;
    std::size_t size_ = 0;
    std::size_t uncut_ = 0;  ///< 0 if no id was cut.
};

/// Takes components off the front of a stored key. After a failed take, ok() is false and values
/// are empty: a key that does not parse is damage.
class LedgerKeyParser {
public:
    explicit LedgerKeyParser(std::string_view key) noexcept : rest_(key), size_(key.size()) {}

    [[nodiscard]] std::uint8_t u8() noexcept;
    [[nodiscard]] std::uint32_t u32() noexcept;
    [[nodiscard]] std::uint64_t u64() noexcept;
    [[nodiscard]] Timestamp instant() noexcept;
    [[nodiscard]] Digest256 digest() noexcept;
    [[nodiscard]] std::string_view bytes(std::size_t count) noexcept;
    [[nodiscard]] std::string_view code2() noexcept;
    /// Returns the id if the key holds it whole, or no value if the value does. Takes the 0x00, if
    /// any.
    [[nodiscard]] std::optional<std::string_view> id(std::size_t whole_max) noexcept;
    /// Takes a text of at most 128 bytes, and the 0x00 that ends it.
    [[nodiscard]] std::string_view text() noexcept;

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    /// Returns whether the whole key was taken, and all of it parsed.
    [[nodiscard]] bool complete() const noexcept { return ok_ && rest_.empty(); }
    /// Returns the number of bytes taken so far.
    [[nodiscard]] std::size_t taken() const noexcept { return size_ - rest_.size(); }

private:
    std::string_view rest_;
    std::size_t size_;
    bool ok_ = true;
};

/// Returns whether the key cuts the id, so that the value must hold it.
[[nodiscard]] constexpr bool id_is_cut(std::string_view id, std::size_t whole_max) noexcept {
    return id.size() > whole_max;
}

[[nodiscard]] LedgerKey shop_prefix(AccountNumber account, ShopNumber shop) noexcept;
[[nodiscard]] LedgerKey shop_id_key(const ShopRow& shop) noexcept;
[[nodiscard]] LedgerKey order_key(const OrderKey& order) noexcept;
[[nodiscard]] LedgerKey event_key(const OrderKey& order, const EventTrace& event) noexcept;
[[nodiscard]] LedgerKey event_digest_key(const OrderKey& order, Topic topic,
                                         const EventDigest& digest) noexcept;
/// Reads what event_key() returned; a cut order id stays empty, since the value holds it.
[[nodiscard]] bool parse_event_key(std::string_view stored, OrderKey& order, std::uint64_t& seq,
                                   std::uint32_t& node);
/// Returns the prefix of the parts of a balance. A node's part has the node's number after it.
[[nodiscard]] LedgerKey balance_prefix(const BalanceKey& balance) noexcept;
[[nodiscard]] LedgerKey account_prefix(AccountNumber account) noexcept;
[[nodiscard]] LedgerKey journal_key(std::uint32_t node, std::uint64_t entry) noexcept;
[[nodiscard]] LedgerKey creator_prefix(AccountNumber account, const CreatorId& creator) noexcept;
/// Returns the key of a group that names a creator, in the index by accounting date.
[[nodiscard]] LedgerKey dated_key(const JournalGroup& group, std::uint32_t node) noexcept;
[[nodiscard]] LedgerKey product_prefix(AccountNumber account, ShopNumber shop,
                                       const ProductId& product) noexcept;
[[nodiscard]] LedgerKey catalog_key(const CatalogKey& key) noexcept;
/// Reads what catalog_key() returned; a cut product id stays empty, since the value holds it.
[[nodiscard]] bool parse_catalog_key(std::string_view stored, CatalogKey& key);
[[nodiscard]] LedgerKey variant_prefix(AccountNumber account, ShopNumber shop,
                                       std::string_view variant_sku) noexcept;
[[nodiscard]] LedgerKey variant_key(const CatalogKey& key, std::string_view variant_sku) noexcept;

}  // namespace sluice::store
