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
#include <type_traits>

#include "core/ledger/ledger.hpp"
#include "core/ledger/sort_key.hpp"
#include "core/ledger/valid.hpp"
#include "lmdb_store/ledger/field_reader.hpp"
#include "lmdb_store/ledger/key_plan.hpp"

namespace sluice::store {

/// Longest id that stays whole in the key of a table that is not described: as the only id;
/// beside another one.
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
    /// Two bytes; none is 0x00 0x00.
    LedgerKey& code2(std::string_view code) noexcept;
    /// Without the 0x00 behind it.
    LedgerKey& id(std::string_view id, std::size_t whole_max) noexcept;
    LedgerKey& end() noexcept { return u8(0); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }
    /// The key up to the first id that was cut, without that id's digest: what all keys that were
    /// cut there share.
    [[nodiscard]] std::string_view uncut() const noexcept {
        return {bytes_.data(), uncut_ == 0 ? size_ : uncut_};
    }

private:
    std::array<char, kKeyBytesMax> bytes_;
    std::size_t size_ = 0;
    std::size_t uncut_ = 0;  ///< 0: no id was cut.
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
    /// The id if the key holds it whole; nothing if the value does. Takes the 0x00, if any.
    [[nodiscard]] std::optional<std::string_view> id(std::size_t whole_max) noexcept;
    /// A text of at most 128 bytes and the 0x00 behind it.
    [[nodiscard]] std::string_view text() noexcept;

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    /// Everything was taken and all of it parsed.
    [[nodiscard]] bool complete() const noexcept { return ok_ && rest_.empty(); }
    /// Bytes so far.
    [[nodiscard]] std::size_t taken() const noexcept { return size_ - rest_.size(); }

private:
    std::string_view rest_;
    std::size_t size_;
    bool ok_ = true;
};

/// Was the id cut, so that the value must hold it?
[[nodiscard]] constexpr bool id_is_cut(std::string_view id, std::size_t whole_max) noexcept {
    return id.size() > whole_max;
}

/// Texts of a described key that the key had to cut: they stand in the value, in their order.
struct CutTexts {
    std::array<std::string_view, kKeyTextsMax> texts;
    std::uint32_t which = 0;  ///< Bit n: the key's text n.

    [[nodiscard]] bool has(std::size_t text) const noexcept { return (which >> text & 1) != 0; }
};

/// Takes what sort_key.hpp writes; texts are cut where what is behind them might not fit.
struct KeySink {
    LedgerKey& key;
    const KeyPlan& plan;
    CutTexts& cut;
    std::size_t text = 0;  ///< How many came before.

    void bytes(std::string_view raw) { key.bytes(raw); }
    void id(std::string_view id) {
        const std::size_t whole_max = plan.end_max[text] - key.size();
        if (id_is_cut(id, whole_max)) {
            cut.texts[text] = id;
            cut.which |= 1U << text;
        }
        key.id(id, whole_max);
        ++text;
    }
};

/// The key of a row that core/ledger/tables.hpp describes, or the first columns of it.
/// @param node  The ledger's number of the queue, for rows that belong to one.
template <class Row>
[[nodiscard]] LedgerKey row_key(const Row& row, CutTexts& cut, std::uint32_t node = 0,
                                unsigned columns = ~0U) {
    LedgerKey key;
    if constexpr (TableOf<Row>::kPerNode) {
        key.u32(node);
    }
    KeySink sink{key, key_plan<Row>(), cut};
    TableOf<Row>::key(row, KeyColumns<KeySink>(sink, columns));
    return key;
}
template <class Row>
[[nodiscard]] LedgerKey row_key(const Row& row, std::uint32_t node = 0, unsigned columns = ~0U) {
    CutTexts cut;
    return row_key(row, cut, node, columns);
}

/// Columns of a described key, taken off its front. A text that was cut is left empty.
struct KeyFields {
    LedgerKeyParser& parser;
    const KeyPlan& plan;
    CutTexts cut{};
    std::size_t text = 0;
    bool sound = true;  ///< Every value is one that its type has.

    void operator()(const char*, AccountNumber& value) { value = {parser.u32()}; }
    void operator()(const char*, ShopNumber& value) { value = {parser.u32()}; }
    void operator()(const char*, SequenceNumber& value) { value = {parser.u64()}; }
    void operator()(const char*, std::uint32_t& value) { value = parser.u32(); }
    void operator()(const char*, std::uint64_t& value) { value = parser.u64(); }
    void operator()(const char*, bool& value) {
        const std::uint8_t stored = parser.u8();
        sound = sound && stored <= 1;
        value = stored != 0;
    }
    void operator()(const char*, Timestamp& value) {
        value = parser.instant();
        sound = sound && is_valid(value);
    }
    void operator()(const char*, Digest256& value) { value = parser.digest(); }
    void operator()(const char*, Currency& value) {
        const std::string_view code = parser.bytes(value.code().size());
        if (code != value.code()) {
            const auto currency = Currency::parse(code);
            sound = sound && (currency || code == Currency().code());
            value = currency.value_or(Currency());
        }
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(const char*, Enum& value) {
        const auto stored = static_cast<Enum>(parser.u8());
        sound = sound && is_valid(stored);
        value = sound ? stored : value;
    }
    template <class Tag>
    void operator()(const char*, TextId<Tag>& value) {
        value.assign(take_text());
    }
    void operator()(const char*, std::string& value) { value.assign(take_text()); }

private:
    std::string_view take_text() {
        const auto whole = parser.id(plan.end_max[text] - parser.taken());
        cut.which |= whole ? 0U : 1U << text;
        ++text;
        return whole.value_or(std::string_view{});
    }
};

/// Writes the texts of a key that were cut, and takes them back. A row that has one already must
/// have the same: else the value is another row's.
struct CutTextColumns {
    const CutTexts& cut;
    FieldReader& from;
    std::size_t text = 0;

    void operator()(const char*, const auto& /*value*/) {}
    template <class Tag>
    void operator()(const char*, TextId<Tag>& value) {
        if (cut.has(text++)) {
            const std::string_view whole = taken(value.view());
            value.assign(whole);
        }
    }
    void operator()(const char*, std::string& value) {
        if (cut.has(text++)) {
            const std::string_view whole = taken(value);
            value.assign(whole);
        }
    }

private:
    std::string_view taken(std::string_view known) {
        const std::string_view whole = from.text();
        if (whole.empty() || (!known.empty() && known != whole)) {
            from.fail();
        }
        return whole;
    }
};

[[nodiscard]] LedgerKey shop_prefix(AccountNumber account, ShopNumber shop) noexcept;
[[nodiscard]] LedgerKey order_key(const OrderKey& order) noexcept;
[[nodiscard]] LedgerKey event_key(const OrderKey& order, SequenceNumber seq) noexcept;
[[nodiscard]] LedgerKey event_digest_key(const OrderKey& order, Topic topic,
                                         const EventDigest& digest) noexcept;
/// Of the parts of a balance; that of one node has its number behind it.
[[nodiscard]] LedgerKey balance_prefix(const BalanceKey& balance) noexcept;
[[nodiscard]] LedgerKey account_prefix(AccountNumber account) noexcept;
[[nodiscard]] LedgerKey journal_key(std::uint32_t node, std::uint64_t entry) noexcept;
[[nodiscard]] LedgerKey creator_prefix(AccountNumber account, const CreatorId& creator) noexcept;
/// Of a group that names a creator.
[[nodiscard]] LedgerKey dated_key(const JournalGroup& group, std::uint32_t node) noexcept;
[[nodiscard]] LedgerKey touch_program_prefix(AccountNumber account, const Digest256& anon,
                                             const ProgramId& program) noexcept;
[[nodiscard]] LedgerKey product_prefix(AccountNumber account, ShopNumber shop,
                                       const ProductId& product) noexcept;
[[nodiscard]] LedgerKey catalog_key(const CatalogKey& key) noexcept;
[[nodiscard]] LedgerKey variant_prefix(AccountNumber account, ShopNumber shop,
                                       std::string_view variant_sku) noexcept;
[[nodiscard]] LedgerKey variant_key(const CatalogKey& key, std::string_view variant_sku) noexcept;

}  // namespace sluice::store
