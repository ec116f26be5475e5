#include "lmdb_store/rows/row_keys.hpp"

#include "core/values/assert.hpp"

namespace sluice::store {
namespace {

/// Bytes that replace the end of a cut text: a mark and a SHA-256.
constexpr std::size_t kCutBytes = 1 + 32;
constexpr std::size_t kNodeBytes = 4;
/// Bytes of a text that are whole in every key.
constexpr std::size_t kWholeSure = 48;
constexpr std::size_t kTextBytesSure = kWholeSure + kCutBytes + 1;

/// For each text, the offset in the key up to which it stays whole.
using KeyPlan = std::array<std::size_t, kKeyTextsMax>;

bool is_text(const Column& column) noexcept {
    return column.kind == ColumnKind::kId || column.kind == ColumnKind::kText;
}

/// Returns how many bytes a column that is no text has in a key.
std::size_t fixed_bytes(ColumnKind kind) {
    switch (kind) {
        case ColumnKind::kNumber32:
            return sizeof(std::uint32_t);
        case ColumnKind::kNumber64:
            return sizeof(std::uint64_t);
        case ColumnKind::kCurrency:
            return Currency().code().size();
        case ColumnKind::kInstant:
            return sizeof(std::uint64_t) + sizeof(std::uint32_t);
        case ColumnKind::kDigest:
            return sizeof(Digest256);
        default:
            return 1;
    }
}

KeyPlan plan_key(const std::vector<Column>& key) {
    std::size_t fixed = 0;
    std::size_t texts = 0;
    for (const Column& column : key) {
        fixed += is_text(column) ? 0U : fixed_bytes(column.kind);
        texts += is_text(column) ? 1U : 0U;
    }
    SLUICE_ASSERT(texts <= kKeyTextsMax);
    KeyPlan plan{};
    std::size_t fixed_before = 0;
    std::size_t text = 0;
    for (const Column& column : key) {
        if (!is_text(column)) {
            fixed_before += fixed_bytes(column.kind);
            continue;
        }
        const std::size_t end = &column == &key.back() ? 0 : 1;  // 0x00
        const std::size_t behind = end + fixed - fixed_before + (texts - 1 - text) * kTextBytesSure;
        plan[text] = kKeyBytesMax - kCutBytes - behind;
        // The columns before it take no more than this, so each text has its sure bytes.
        SLUICE_ASSERT(kNodeBytes + fixed_before + text * kTextBytesSure + kWholeSure <= plan[text]);
        ++text;
    }
    return plan;
}

const KeyPlan& key_plan(const DescribedTable& table) {
    static const auto plans = [] {
        std::array<KeyPlan, kDescribedTables> all;
        for (const DescribedTable& described : described_tables()) {
            all[described.number] = plan_key(described.key);
        }
        return all;
    }();
    return plans[table.number];
}

/// Cuts a text if the columns after it might not fit the key.
class CuttingSink final : public KeySink {
public:
    CuttingSink(LedgerKey& key, const KeyPlan& plan, CutTexts& cut)
        : key_(key), plan_(plan), cut_(cut) {}

    void bytes(std::string_view raw) override { key_.bytes(raw); }
    void id(std::string_view id) override {
        const std::size_t whole_max = plan_[text_] - key_.size();
        if (id_is_cut(id, whole_max)) {
            cut_.texts[text_] = id;
            cut_.which |= 1U << text_;
        }
        key_.id(id, whole_max);
        ++text_;
    }

private:
    LedgerKey& key_;
    const KeyPlan& plan_;
    CutTexts& cut_;
    std::size_t text_ = 0;
};

/// Takes columns off the front of a key.
class KeyReader {
public:
    KeyReader(std::string_view key, const DescribedTable& table, CutTexts& cut)
        : parser_(key), plan_(key_plan(table)), cut_(cut) {
        if (table.per_node) {
            (void)parser_.u32();
        }
    }

    [[nodiscard]] bool complete() const { return sound_ && parser_.complete(); }
    void read(const Column& column, void* row) {
        with_value(column.kind, column.find(row), [&](auto& value) { take(value, column); });
    }

private:
    void take(std::uint32_t& value, const Column& /*column*/) { value = parser_.u32(); }
    void take(std::uint64_t& value, const Column& /*column*/) { value = parser_.u64(); }
    void take(bool& value, const Column& /*column*/) {
        const std::uint8_t stored = parser_.u8();
        sound_ = sound_ && stored <= 1;
        value = stored != 0;
    }
    void take(std::uint8_t& value, const Column& column) {
        const std::uint8_t stored = parser_.u8();
        sound_ = sound_ && column.is_valid(stored);
        value = sound_ ? stored : value;
    }
    void take(Timestamp& value, const Column& /*column*/) {
        value = parser_.instant();
        sound_ = sound_ && is_valid(value);
    }
    void take(Digest256& value, const Column& /*column*/) { value = parser_.digest(); }
    void take(Currency& value, const Column& /*column*/) {
        const std::string_view code = parser_.bytes(value.code().size());
        if (code != value.code()) {
            const auto currency = Currency::parse(code);
            sound_ = sound_ && (currency || code == Currency().code());
            value = currency.value_or(Currency());
        }
    }
    void take(Decimal& /*value*/, const Column& /*column*/) { SLUICE_ASSERT(false); }  // in no key
    void take(AnyTextId& value, const Column& /*column*/) { value.assign(take_text()); }
    void take(std::string& value, const Column& /*column*/) { value.assign(take_text()); }
    std::string_view take_text() {
        const auto whole = parser_.id(plan_[text_] - parser_.taken());
        cut_.which |= whole ? 0U : 1U << text_;
        ++text_;
        return whole.value_or(std::string_view{});
    }

    LedgerKeyParser parser_;
    const KeyPlan& plan_;
    CutTexts& cut_;
    std::size_t text_ = 0;
    bool sound_ = true;  ///< All values read so far are values of their types.
};

}  // namespace

LedgerKey row_key(RowView row, CutTexts& cut, std::uint32_t node, unsigned columns) {
    LedgerKey key;
    if (row.table().per_node) {
        key.u32(node);
    }
    CuttingSink sink(key, key_plan(row.table()), cut);
    write_key(row, columns, sink);
    return key;
}

LedgerKey row_key(RowView row, std::uint32_t node, unsigned columns) {
    CutTexts cut;
    return row_key(row, cut, node, columns);
}

bool read_row_key(std::string_view key, RowRef row, CutTexts& cut) {
    KeyReader reader(key, row.table(), cut);
    for (const Column& column : row.table().key) {
        reader.read(column, row.get());
    }
    return reader.complete();
}

void read_cut_texts(const CutTexts& cut, FieldReader& from, RowRef row) {
    const auto take = [&from](auto& value, std::string_view known) {
        const std::string_view whole = from.text();
        if (whole.empty() || (!known.empty() && known != whole)) {
            from.fail();
        }
        value.assign(whole);
    };
    std::size_t text = 0;
    for (const Column& column : row.table().key) {
        if (!is_text(column) || !cut.has(text++)) {
            continue;
        }
        void* const at = column.find(row.get());
        if (column.kind == ColumnKind::kId) {
            auto& id = *static_cast<AnyTextId*>(at);
            take(id, id.view());
        } else {
            auto& value = *static_cast<std::string*>(at);
            take(value, value);
        }
    }
}

}  // namespace sluice::store
