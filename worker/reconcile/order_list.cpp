#include "worker/reconcile/order_list.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/json/document.hpp"
#include "core/values/ids.hpp"
#include "core/values/unicode.hpp"
#include "worker/cli/csv_reader.hpp"
#include "worker/cli/output.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

/// A field's name in the payload, and its column in `report orders`.
struct FieldName {
    std::string_view payload;
    std::string_view report;
};
constexpr std::array<FieldName, kListFields> kNames{{{"platform_order_id", "order_id"},
                                                     {"platform_ordered_at", "ordered_at"},
                                                     {"platform_updated_at", "last_updated_at"},
                                                     {"platform_cancelled_at", "cancelled_at"},
                                                     {"amount", "amount"},
                                                     {"tax", "tax"},
                                                     {"shipping", "shipping"},
                                                     {"currency_code", "currency"}}};

/// Texts of the fields of one row; no value for a field that the row lacks.
using Texts = std::array<std::optional<std::string_view>, kListFields>;

std::size_t index_of(ListField field) {
    return static_cast<std::size_t>(field);
}

Error invalid(std::string message) {
    return {ErrorCode::kInvalid, std::move(message)};
}

/// Returns whether an event may have had this id. PostgreSQL refuses to look for another one.
bool is_storable(std::string_view id) {
    while (!id.empty()) {
        const std::size_t bytes = utf8_bytes(id);
        if (bytes == 0 || id.front() == '\0') {
            return false;
        }
        id.remove_prefix(bytes);
    }
    return true;
}

// ---- Values -------------------------------------------------------------------------------------

/// Sets the fields of an order, and notes the first value that is wrong.
class Setter {
public:
    Setter(const Texts& texts, ListedOrder& order) : texts_(texts), order_(order) {}

    void set_all() {
        set_id();
        set(ListField::kOrderedAt, order_.ordered_at, parse_list_time,
            "expected a time such as 2026-03-01T12:00:00Z or 2026-03-01 12:00:00 +0100");
        set(ListField::kVersion, order_.version, parse_list_time,
            "expected a time such as 2026-03-01T12:00:00Z or 2026-03-01 12:00:00 +0100");
        set_cancelled();
        const auto decimal = [](std::string_view text) { return Decimal::parse(text); };
        const char* expected = "expected an amount such as 12.50";
        set(ListField::kAmount, order_.amount, decimal, expected);
        set(ListField::kTax, order_.tax, decimal, expected);
        set(ListField::kShipping, order_.shipping, decimal, expected);
        set(
            ListField::kCurrency, order_.currency,
            [](std::string_view text) { return Currency::parse(text); },
            "expected an ISO 4217 code such as EUR");
    }

private:
    /// Returns the text of a field, or nothing if it is absent or empty.
    [[nodiscard]] std::optional<std::string_view> text(ListField field) const {
        const auto found = texts_[index_of(field)];
        return found && !found->empty() ? found : std::nullopt;
    }

    void refuse(ListField field, std::string_view value, const char* expected) {
        if (order_.problem.empty()) {
            order_.problem = expected;
            order_.bad_field = name_of(field);
            order_.bad_value = value;
        }
    }

    template <class Value, class Parse>
    void set(ListField field, std::optional<Value>& target, Parse parse, const char* expected) {
        const auto given = text(field);
        target = given ? parse(*given) : std::nullopt;
        if (given && !target) {
            refuse(field, *given, expected);
        }
    }

    void set_id() {
        const std::string_view id = text(ListField::kId).value_or("");
        order_.order_id.clear();
        if (id.empty() || id.size() > kWireIdBytesMax) {
            refuse(ListField::kId, id, "expected an id of 1 to 1024 bytes");
        } else if (!is_storable(id)) {
            refuse(ListField::kId, id, "expected UTF-8 without U+0000");
        } else {
            order_.order_id = id;
        }
    }

    /// An empty cell, or null, states that the order is not cancelled.
    void set_cancelled() {
        std::optional<Timestamp> at;
        set(ListField::kCancelledAt, at, parse_list_time,
            "expected the time of the cancellation, or nothing");
        order_.cancelled = texts_[index_of(ListField::kCancelledAt)] ? std::optional(at.has_value())
                                                                     : std::nullopt;
    }

    const Texts& texts_;
    ListedOrder& order_;
};

void begin_order(ListedOrder& order, std::uint64_t line) {
    order.line = line;
    order.payload.clear();
    order.problem.clear();
    order.bad_field = {};
    order.bad_value.clear();
}

// ---- NDJSON -------------------------------------------------------------------------------------

class NdjsonOrders final : public OrderList {
public:
    NdjsonOrders(UniqueFile file, std::string path, const ListMap& map)
        : file_(std::move(file)), path_(std::move(path)), map_(map) {}

    Result<bool> next(ListedOrder& order) override {
        do {
            const auto got = read_line();
            if (!got.ok() || !*got) {
                return got;
            }
        } while (line_.find_first_not_of(" \t\r") == std::string::npos && !too_long_);
        begin_order(order, number_);
        order.payload = line_;
        read_fields(order);
        return true;
    }
    bool has_payloads() const noexcept override { return true; }

private:
    /// Reads a line without its end. Of a line above the limit only the length is kept.
    Result<bool> read_line() {
        line_.clear();
        too_long_ = false;
        int c = ::getc_unlocked(file_.get());
        if (c == EOF) {
            return std::ferror(file_.get()) == 0
                       ? Result<bool>(false)
                       : Error{ErrorCode::kIo, path_ + ": cannot be read"};
        }
        for (; c != '\n' && c != EOF; c = ::getc_unlocked(file_.get())) {
            too_long_ = too_long_ || line_.size() >= kRowBytesMax;
            if (!too_long_) {
                line_ += static_cast<char>(c);
            }
        }
        ++number_;
        if (!line_.empty() && line_.back() == '\r') {
            line_.pop_back();
        }
        return true;
    }

    void read_fields(ListedOrder& order) {
        Texts texts;
        simdjson::dom::object object;
        if (too_long_) {
            order.problem = "the row is longer than 1 MB";
        } else if (!json_.parse(line_)) {
            order.problem = std::string("not JSON: ") + std::string(json_.error());
        } else if (json_.root().get(object) != simdjson::SUCCESS) {
            order.problem = "expected a JSON object";
        } else {
            find_texts(object, texts, order);
        }
        Setter(texts, order).set_all();
        if (!order.version) {
            order.version = order.ordered_at;  // as for an ORDER_CREATE without it
        }
    }

    void find_texts(const simdjson::dom::object& object, Texts& texts, ListedOrder& order) const {
        for (std::size_t i = 0; i < kListFields; ++i) {
            const std::string_view name = map_[i].empty() ? kNames[i].payload : map_[i];
            simdjson::dom::element value;
            if (object[name].get(value) != simdjson::SUCCESS) {
                continue;
            }
            std::string_view text;
            if (!value.is_null() && value.get(text) != simdjson::SUCCESS && order.problem.empty()) {
                order.problem = "expected a string";
                order.bad_field = kNames[i].payload;
            }
            texts[i] = text;
        }
        // A whole payload without the field states that the order is not cancelled.
        auto& cancelled = texts[index_of(ListField::kCancelledAt)];
        simdjson::dom::array lines;
        if (!cancelled && object["line_items"].get(lines) == simdjson::SUCCESS) {
            cancelled = "";
        }
    }

    UniqueFile file_;
    std::string path_;
    ListMap map_;
    JsonDocument json_;
    std::string line_;
    std::uint64_t number_ = 0;
    bool too_long_ = false;
};

// ---- CSV ----------------------------------------------------------------------------------------

class CsvOrders final : public OrderList {
public:
    static Result<std::unique_ptr<OrderList>> open(UniqueFile file, const std::string& path,
                                                   const ListMap& map) {
        std::unique_ptr<CsvOrders> list(new CsvOrders(std::move(file), path));
        CsvRow header;
        const auto got = list->reader_.next(header);
        if (!got.ok()) {
            return got.error();
        }
        list->columns_ = header.fields.size();
        if (Status found = list->find_columns(header.fields, map); !found.ok()) {
            return list->reader_.error_at(1, found.error().message);
        }
        return std::unique_ptr<OrderList>(std::move(list));
    }

    Result<bool> next(ListedOrder& order) override {
        Texts texts;
        do {
            const auto got = reader_.next(row_);
            if (!got.ok() || !*got) {
                return got;
            }
            texts = texts_of_row();
        } while (continues_order(texts));
        begin_order(order, row_.line);
        if (row_.fields.size() != columns_) {
            order.problem = "expected " + std::to_string(columns_) + " fields, found " +
                            std::to_string(row_.fields.size());
        }
        Setter(texts, order).set_all();
        if (!order.order_id.empty()) {
            last_id_ = order.order_id;
        }
        return true;
    }
    bool has_payloads() const noexcept override { return false; }

private:
    CsvOrders(UniqueFile file, const std::string& path)
        : file_(std::move(file)), reader_(file_.get(), path, kRowBytesMax) {}

    Status find_columns(const std::vector<std::string>& header, const ListMap& map) {
        const auto find = [&header](std::string_view name) -> std::optional<std::size_t> {
            const auto found = std::find(header.begin(), header.end(), name);
            return found == header.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::size_t>(found - header.begin()));
        };
        for (std::size_t i = 0; i < kListFields; ++i) {
            if (!map[i].empty()) {
                places_[i] = find(map[i]);
                if (!places_[i]) {
                    return invalid("no column '" + printable(map[i]) + "', which --map names");
                }
                continue;
            }
            places_[i] = find(kNames[i].payload);
            places_[i] = places_[i] ? places_[i] : find(kNames[i].report);
        }
        for (const auto& place : places_) {
            if (place && std::count(header.begin(), header.end(), header[*place]) > 1) {
                return invalid("two columns '" + printable(header[*place]) + "'");
            }
        }
        has_mapped_id_ = !map[index_of(ListField::kId)].empty();
        return places_[index_of(ListField::kId)]
                   ? Status::success()
                   : Status(invalid("no column platform_order_id: name the column of the order's "
                                    "id with --map platform_order_id=COLUMN"));
    }

    [[nodiscard]] Texts texts_of_row() const {
        Texts texts;
        for (std::size_t i = 0; i < kListFields; ++i) {
            if (places_[i] && *places_[i] < row_.fields.size()) {
                texts[i] = row_.fields[*places_[i]];
            }
        }
        return texts;
    }

    /// Returns true for a further line item of the order above, as shops' exports write them: no id
    /// or the same one, and none of the order's values.
    [[nodiscard]] bool continues_order(const Texts& texts) const {
        if (!has_mapped_id_ || last_id_.empty() || row_.fields.size() != columns_) {
            return false;
        }
        bool any_column = false;
        for (std::size_t i = index_of(ListField::kVersion); i < kListFields; ++i) {
            any_column = any_column || texts[i];
            if (texts[i] && !texts[i]->empty()) {
                return false;
            }
        }
        const std::string_view id = texts[index_of(ListField::kId)].value_or("");
        const bool has_other_cell =
            std::any_of(row_.fields.begin(), row_.fields.end(),
                        [&](const std::string& cell) { return !cell.empty() && cell != id; });
        return any_column && has_other_cell && (id.empty() || id == last_id_);
    }

    UniqueFile file_;
    CsvReader reader_;
    std::array<std::optional<std::size_t>, kListFields> places_;
    std::size_t columns_ = 0;
    bool has_mapped_id_ = false;
    CsvRow row_;
    std::string last_id_;
};

bool begins_with_object(std::FILE* file) {
    const int c = ::getc_unlocked(file);
    if (c != EOF) {
        std::ungetc(c, file);
    }
    return c == '{';
}

}  // namespace

std::string_view name_of(ListField field) noexcept {
    return kNames[index_of(field)].payload;
}

Result<ListMap> parse_list_map(std::string_view text) {
    ListMap map;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        const std::size_t equals = std::min(part.find('='), part.size());
        const auto* const known =
            std::ranges::find(kNames, part.substr(0, equals), &FieldName::payload);
        if (known == kNames.end() || equals + 1 >= part.size()) {
            std::string names;
            for (const FieldName& name : kNames) {
                names += (names.empty() ? "" : ", ") + std::string(name.payload);
            }
            return invalid("expected FIELD=COLUMN,... with a FIELD of " + names);
        }
        std::string& column = map[static_cast<std::size_t>(known - kNames.begin())];
        if (!column.empty()) {
            return invalid("expected each FIELD once, found " + std::string(known->payload) +
                           " twice");
        }
        column = part.substr(equals + 1);
    }
    return map;
}

Parsed<Timestamp> parse_list_time(std::string_view text) {
    constexpr std::size_t kDateBytes = 10;    // 2026-03-01
    constexpr std::size_t kOffsetDigits = 4;  // +0100
    std::string time(text);
    if (time.size() > kDateBytes && time[kDateBytes] == ' ') {
        time[kDateBytes] = 'T';
    }
    if (time.ends_with(" UTC")) {
        time.replace(time.size() - kOffsetDigits, kOffsetDigits, "Z");
    }
    const std::size_t sign = time.find_first_of("+-", std::min(kDateBytes, time.size()));
    if (sign != std::string::npos) {
        if (time.size() - sign == kOffsetDigits + 1 && time.find(':', sign) == std::string::npos) {
            time.insert(sign + 3, ":");
        }
        if (time[sign - 1] == ' ') {
            time.erase(sign - 1, 1);
        }
    }
    return Timestamp::parse(time);
}

Result<std::unique_ptr<OrderList>> open_order_list(const std::string& path, const ListMap& map) {
    auto file = open_for_reading(path);
    if (!file.ok()) {
        return file.error();
    }
    skip_byte_order_mark(file->get());
    if (path.ends_with(".ndjson") || path.ends_with(".jsonl") || begins_with_object(file->get())) {
        return std::unique_ptr<OrderList>(new NdjsonOrders(std::move(file).value(), path, map));
    }
    return CsvOrders::open(std::move(file).value(), path, map);
}

}  // namespace sluice::cli
