// Keys of the tables that core/ledger/tables.hpp describes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/ledger/row_tables.hpp"
#include "core/ledger/sort_key.hpp"
#include "core/ledger/valid.hpp"
#include "lmdb_store/rows/field_reader.hpp"
#include "lmdb_store/rows/key_plan.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

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

}  // namespace sluice::store
