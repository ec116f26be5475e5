#include "core/ledger/table.hpp"

#include "core/ledger/overview_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"

namespace sluice {
namespace {

struct ValueName {
    std::string& text;

    void operator()(std::uint8_t value) { text += std::to_string(value); }
    void operator()(std::uint32_t value) { text += std::to_string(value); }
    void operator()(std::uint64_t value) { text += std::to_string(value); }
    void operator()(bool value) { text += value ? "true" : "false"; }
    void operator()(const AnyTextId& id) { text += id.view(); }
    void operator()(const std::string& value) { text += value; }
    void operator()(const Currency& currency) { text += currency.code(); }
    void operator()(const Decimal& value) { text += value.to_string(); }
    void operator()(const Timestamp& at) { text += at.to_string(); }
    void operator()(const Digest256& digest) { text += to_hex(digest); }
};

/// Writes the columns of a key one after the other.
class KeyColumns {
public:
    explicit KeyColumns(KeySink& sink) : sink_(sink) {}

    /// Ends the last column, if that was a text.
    void begin_column() {
        if (text_is_open_) {
            sink_.bytes(std::string_view("\0", 1));
            text_is_open_ = false;
        }
    }
    template <class Integer>
    requires std::is_integral_v<Integer>
    void operator()(Integer value) {
        std::array<char, sizeof(Integer)> big{};
        for (std::size_t i = 0; i < big.size(); ++i) {
            big[i] = static_cast<char>(value >> (8 * (big.size() - 1 - i)));
        }
        sink_.bytes({big.data(), big.size()});
    }
    void operator()(bool value) { (*this)(static_cast<std::uint8_t>(value)); }
    void operator()(const Currency& currency) { sink_.bytes(currency.code()); }
    void operator()(const Decimal& /*value*/) { SLUICE_ASSERT(false); }  // in no key
    void operator()(const Timestamp& at) {
        constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
        (*this)(static_cast<std::uint64_t>(at.seconds) ^ kSignBit);
        (*this)(at.nanos);
    }
    void operator()(const Digest256& digest) {
        sink_.bytes({reinterpret_cast<const char*>(digest.data()), digest.size()});
    }
    void operator()(const AnyTextId& id) { open_text(id.view()); }
    void operator()(const std::string& text) { open_text(text); }

private:
    void open_text(std::string_view text) {
        sink_.id(text);
        text_is_open_ = true;
    }

    KeySink& sink_;
    bool text_is_open_ = false;
};

/// Collects a key without cutting any text.
class WholeKey final : public KeySink {
public:
    void bytes(std::string_view raw) override { text.append(raw); }
    void id(std::string_view id) override { text.append(id); }
    std::string text;
};

}  // namespace

void write_key(RowView row, unsigned columns, KeySink& sink) {
    KeyColumns key(sink);
    for (const Column& column : row.table().key) {
        key.begin_column();
        if (columns == 0) {
            return;
        }
        --columns;
        with_value(column.kind, column.find(row.get()), key);
    }
}

std::string sort_key(RowView row, unsigned columns) {
    WholeKey key;
    write_key(row, columns, key);
    return std::move(key.text);
}

std::string row_name(RowView row) {
    std::string name = std::string("table ") + row.table().name;
    for (const Column& column : row.table().key) {
        name += std::string(", ") + column.name + " ";
        with_value(column.kind, column.find(row.get()), ValueName{name});
    }
    return name;
}

std::string row_name(const char* table, const OrderKey& order) {
    return std::string("table ") + table + ", account " + std::to_string(order.account.value) +
           ", shop " + std::to_string(order.shop.value) + ", order " + order.order_id.str();
}

void add_columns(RowRef row, RowView change) {
    for (const Column& column : row.table().rest) {
        const void* const added = column.find(change.get());
        with_value(column.kind, column.make(row.get()), [&](auto& value) {
            using Value = std::remove_reference_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::uint64_t> || std::is_same_v<Value, Decimal>) {
                value += *static_cast<const Value*>(added);
            } else {
                SLUICE_ASSERT(false);
            }
        });
    }
}

bool is_dropped(RowView row) {
    const std::vector<Column>& columns = row.table().rest;
    return row.table().drops_zero &&
           std::all_of(columns.begin(), columns.end(), [&](const Column& column) {
               bool is_zero = false;
               with_value(column.kind, column.find(row.get()), [&](const auto& value) {
                   using Value = std::remove_cvref_t<decltype(value)>;
                   if constexpr (std::is_same_v<Value, std::uint64_t>) {
                       is_zero = value == 0;
                   } else if constexpr (std::is_same_v<Value, Decimal>) {
                       is_zero = value.is_zero();
                   } else {
                       SLUICE_ASSERT(false);
                   }
               });
               return is_zero;
           });
}

std::optional<OrderKey> order_of(RowView row) {
    if (row.is<Anomaly>()) {
        return row.as<Anomaly>().order;
    }
    if (row.is<RefundOwner>()) {
        const auto& owner = row.as<RefundOwner>();
        return OrderKey{owner.account, owner.shop, owner.order_id};
    }
    if (row.is<OpenAmount>()) {
        const auto& open = row.as<OpenAmount>();
        return OrderKey{open.account, open.shop, open.order_id};
    }
    if (row.is<Attention>()) {
        const auto& attention = row.as<Attention>();
        return OrderKey{attention.account, attention.shop, attention.order_id};
    }
    if (row.is<WaitingOrder>()) {
        const auto& waiting = row.as<WaitingOrder>();
        return OrderKey{waiting.key.account, waiting.shop, waiting.order_id};
    }
    return std::nullopt;
}

}  // namespace sluice
