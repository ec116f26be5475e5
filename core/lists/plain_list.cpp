#include "core/lists/plain_list.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "core/protocol/signature.hpp"
#include "core/values/assert.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

using TableColumn = sluice::Column;

constexpr std::string_view kAccount = "account";
constexpr std::string_view kCreator = "creator";

/// Returns the column, or null if the table has none of the name.
const TableColumn* find_column(const DescribedTable& table, std::string_view name) {
    for (const auto* const columns : {&table.key, &table.rest}) {
        const auto found = std::ranges::find(*columns, name, &TableColumn::name);
        if (found != columns->end()) {
            return &*found;
        }
    }
    return nullptr;
}

struct ColumnText {
    std::string operator()(bool flag) const { return flag ? "1" : "0"; }
    std::string operator()(std::uint8_t byte) const { return std::to_string(byte); }
    std::string operator()(std::uint32_t number) const { return std::to_string(number); }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(const AnyTextId& id) const { return id.str(); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(Currency currency) const { return std::string(currency.code()); }
    std::string operator()(const Decimal& amount) const { return amount.to_string(); }
    std::string operator()(Timestamp at) const { return at.to_string(); }
    std::string operator()(const Digest256& digest) const { return to_hex(digest); }
};

/// Returns an empty text if the value is absent.
std::string text_of(const TableColumn& column, RowView row) {
    const void* const value = column.find(row.get());
    std::string text;
    if (value != nullptr) {
        with_value(column.kind, value, [&text](const auto& of) { text = ColumnText()(of); });
    }
    return text;
}

/// Sets a value from its text. Returns false if the type has no such value.
class ValueOfText {
public:
    explicit ValueOfText(std::string_view text) : text_(text) {}

    bool operator()(AnyTextId& id) const { return id.assign(text_), true; }
    bool operator()(std::string& text) const { return text = text_, true; }
    bool operator()(Currency& currency) const { return set(currency, Currency::parse(text_)); }
    bool operator()(Decimal& amount) const { return set(amount, Decimal::parse_signed(text_)); }
    bool operator()(Timestamp& at) const { return set(at, Timestamp::parse(text_)); }
    bool operator()(Digest256& digest) const {
        return read_hex(text_, digest, HexCase::kLowerOnly);
    }
    bool operator()(bool& flag) const { return flag = text_ == "1", flag || text_ == "0"; }
    template <std::unsigned_integral Number>
    bool operator()(Number& number) const {
        const char* const end = text_.data() + text_.size();
        const auto [stop, error] = std::from_chars(text_.data(), end, number);
        return error == std::errc() && stop == end;
    }

private:
    template <class Value>
    static bool set(Value& value, const Parsed<Value>& parsed) {
        return parsed && (value = *parsed, true);
    }

    std::string_view text_;
};

bool set_text(const TableColumn& column, RowRef row, std::string_view text) {
    bool is_set = false;
    with_value(column.kind, column.make(row.get()), [&](auto& value) {
        is_set = ValueOfText(text)(value);
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::uint8_t>) {
            is_set = is_set && column.is_valid(value);
        }
    });
    return is_set;
}

/// Reads a listing: the range of its rows in the table, and what they are compared with.
class PlainScan {
public:
    PlainScan(const PlainList& list, const PlainListing& listing)
        : table_(*list.table), first_(table_), apart_(list.key_columns()) {
        const std::vector<std::string_view> within = words_of(list.within);
        auto with = listing.with;
        if (within.front() == kAccount) {
            with.emplace_back(kAccount, std::to_string(listing.account.value));
        }
        for (auto& [name, text] : with) {
            const TableColumn* const column = find_column(table_, name);
            SLUICE_ASSERT(column != nullptr && set_text(*column, first_.ref(), text));
            with_.emplace_back(column, std::move(text));
        }
        const auto is_same = [this](const TableColumn& column) {
            return std::ranges::any_of(with_,
                                       [&](const auto& one) { return one.first == &column; });
        };
        const auto same = std::ranges::find_if_not(table_.key, is_same) - table_.key.begin();
        range_ = {static_cast<unsigned>(same), static_cast<unsigned>(same)};
        SLUICE_ASSERT(within.size() <= range_.same);
        if (listing.after) {
            begin_at(*listing.after);
        }
    }

    /// False if `after` is no place of the table.
    [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
    [[nodiscard]] RowView first() const noexcept { return first_.view(); }
    [[nodiscard]] KeyRange range() const noexcept { return range_; }
    [[nodiscard]] bool covers(RowView row) const {
        return std::ranges::all_of(
            with_, [row](const auto& one) { return text_of(*one.first, row) == one.second; });
    }
    [[nodiscard]] std::vector<std::string> key_of(RowView row) const {
        std::vector<std::string> texts;
        for (std::size_t i = table_.key.size() - apart_; i < table_.key.size(); ++i) {
            texts.push_back(text_of(table_.key[i], row));
        }
        return texts;
    }

private:
    void begin_at(const std::vector<std::string>& after) {
        is_valid_ = after.size() == apart_;
        for (std::size_t i = 0; is_valid_ && i < apart_; ++i) {
            is_valid_ =
                set_text(table_.key[table_.key.size() - apart_ + i], first_.ref(), after[i]);
        }
        range_.from = static_cast<unsigned>(table_.key.size());
    }

    const DescribedTable& table_;
    AnyRow first_;
    std::size_t apart_;
    KeyRange range_;
    bool is_valid_ = true;
    std::vector<std::pair<const TableColumn*, std::string>> with_;
};

}  // namespace

std::size_t PlainList::key_columns() const {
    return table->key.size() - words_of(within).size();
}

/// The rows are collected before their cells are made, because cells may read the ledger, which a
/// scan forbids.
std::optional<std::vector<Row>> plain_rows(LedgerReader& ledger, const PlainList& list,
                                           PlainListing& listing, std::size_t rows_max,
                                           std::size_t read_max) {
    const PlainScan scan(list, listing);
    if (!scan.is_valid()) {
        return std::nullopt;
    }
    std::vector<AnyRow> found;
    std::size_t rows_read = 0;
    std::vector<std::string> last;
    bool more = false;
    ledger.scan_rows(scan.first(), scan.range(), [&](RowView row) {
        std::vector<std::string> key = scan.key_of(row);
        if (key == listing.after) {
            return true;
        }
        more = found.size() >= rows_max || rows_read >= read_max;
        if (more) {
            return false;
        }
        ++rows_read;
        last = std::move(key);
        if (scan.covers(row)) {
            found.emplace_back(row);
        }
        return true;
    });
    listing.after = more ? std::optional(std::move(last)) : std::nullopt;
    std::optional<CreatorNames> names;
    if (find_column(*list.table, kCreator) != nullptr) {
        names.emplace(ledger, listing.account);
    }
    return mapped(found, [&](const AnyRow& row) {
        return list.cells.row(
            {row.view(), listing.account_id.view(), names ? &*names : nullptr, ledger});
    });
}

void write_plain(LedgerReader& ledger, const PlainList& list, PlainListing listing,
                 RowOutput& out) {
    constexpr std::size_t kAtOnce = 10'000;
    do {
        const auto rows = plain_rows(ledger, list, listing, kAtOnce, kAtOnce);
        for (const Row& row : rows.value()) {
            out.add(row);
        }
    } while (listing.after);
}

AccountNumber account_of(RowView row) {
    const TableColumn& column = row.table().key.front();
    return column.name == kAccount ? *static_cast<const AccountNumber*>(column.find(row.get()))
                                   : AccountNumber();
}

}  // namespace sluice::lists
