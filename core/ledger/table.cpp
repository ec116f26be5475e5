#include "core/ledger/table.hpp"

#include <algorithm>
#include <cstring>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/failure.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/values/hour_sums.hpp"

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

/// Writes the columns of a key one after the other. The sink gets the bytes between two texts
/// together.
class KeyColumns {
public:
    explicit KeyColumns(KeySink& sink) : sink_(sink) {}

    /// Ends the last column, if that was a text.
    void begin_column() {
        if (text_is_open_) {
            (*this)(std::uint8_t{0});
            text_is_open_ = false;
        }
    }
    template <class Integer>
    requires std::is_integral_v<Integer>
    void operator()(Integer value) {
        char* const big = room(sizeof(Integer));
        for (std::size_t i = 0; i < sizeof(Integer); ++i) {
            big[i] = static_cast<char>(value >> (8 * (sizeof(Integer) - 1 - i)));
        }
    }
    void operator()(bool value) { (*this)(static_cast<std::uint8_t>(value)); }
    void operator()(const Currency& currency) {
        const std::string_view code = currency.code();
        std::memcpy(room(code.size()), code.data(), code.size());
    }
    void operator()(const Decimal& /*value*/) { SLUICE_ASSERT(false); }  // in no key
    void operator()(const Timestamp& at) {
        constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
        (*this)(static_cast<std::uint64_t>(at.seconds) ^ kSignBit);
        (*this)(at.nanos);
    }
    void operator()(const Digest256& digest) {
        std::memcpy(room(digest.size()), digest.data(), digest.size());
    }
    void operator()(const AnyTextId& id) { open_text(id.view()); }
    void operator()(const std::string& text) { open_text(text); }

    void flush() {
        if (size_ != 0) {
            sink_.bytes({bytes_.data(), size_});
            size_ = 0;
        }
    }

private:
    void open_text(std::string_view text) {
        flush();
        sink_.id(text);
        text_is_open_ = true;
    }
    char* room(std::size_t wanted) {
        if (bytes_.size() - size_ < wanted) {
            flush();
        }
        size_ += wanted;
        return bytes_.data() + size_ - wanted;
    }

    KeySink& sink_;
    bool text_is_open_ = false;
    std::size_t size_ = 0;  ///< Bytes that the sink has not got yet.
    std::array<char, 64> bytes_;
};

/// Collects a key without cutting any text.
struct WholeKey final : KeySink {
    explicit WholeKey(std::string& to) : text(to) {}
    void bytes(std::string_view raw) override { text.append(raw); }
    void id(std::string_view id) override { text.append(id); }
    std::string& text;
};

}  // namespace

void write_key(RowView row, unsigned columns, KeySink& sink) {
    KeyColumns key(sink);
    for (const Column& column : row.table().key) {
        key.begin_column();
        if (columns == 0) {
            break;
        }
        --columns;
        with_value(column.kind, column.find(row.get()), key);
    }
    key.flush();
}

std::string sort_key(RowView row, unsigned columns) {
    std::string key;
    append_sort_key(row, key, columns);
    return key;
}

void append_sort_key(RowView row, std::string& to, unsigned columns) {
    WholeKey key(to);
    write_key(row, columns, key);
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

namespace {

void keep_latest(RowRef row, RowView change) {
    const std::vector<Column>& columns = row.table().rest;
    const auto day = [&columns](const void* of) {
        return *static_cast<const std::uint32_t*>(columns.front().find(of));
    };
    if (day(row.get()) != day(change.get())) {
        if (day(row.get()) < day(change.get())) {
            row.assign(change);
        }
        return;
    }
    std::for_each(columns.begin() + 1, columns.end(), [&](const Column& column) {
        auto& value = *static_cast<std::uint64_t*>(column.find(row.get()));
        const auto added = *static_cast<const std::uint64_t*>(column.find(change.get()));
        value = row.table().joins_bits ? value | added : value + added;
    });
}

}  // namespace

void add_columns(RowRef row, RowView change) {
    if (row.table().keeps_latest) {
        keep_latest(row, change);
        return;
    }
    if (row.table().adds_hours) {
        const Column& hours = row.table().rest.front();
        if (!add_hours(*static_cast<std::string*>(hours.find(row.get())),
                       *static_cast<const std::string*>(hours.find(change.get())))) {
            throw DamagedRow(row_name(row), "hours: not as sluice writes them", std::nullopt);
        }
        return;
    }
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
    return row.table().adds_hours &&
           static_cast<const std::string*>(row.table().rest.front().find(row.get()))->empty();
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
    if (row.is<TierOrder>()) {
        const auto& listed = row.as<TierOrder>();
        return OrderKey{listed.account, listed.shop, listed.order_id};
    }
    if (row.is<WaitingOrder>()) {
        const auto& waiting = row.as<WaitingOrder>();
        return OrderKey{waiting.key.account, waiting.shop, waiting.order_id};
    }
    return std::nullopt;
}

}  // namespace sluice
