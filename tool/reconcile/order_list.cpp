#include "tool/reconcile/order_list.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/json/document.hpp"
#include "core/values/ids.hpp"
#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/cli/output.hpp"
#include "program/system/file.hpp"
#include "tool/reconcile/list_form.hpp"
#include "tool/reconcile/listed_id.hpp"

namespace sluice::cli {
namespace {

/// Texts of the fields of one row; no value for a field that the row lacks.
using Texts = std::array<std::optional<std::string_view>, kListFields>;

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
    /// Returns the text of a field without space around it, or nothing if it is absent or empty.
    [[nodiscard]] std::optional<std::string_view> text(ListField field) const {
        auto found = texts_[index_of(field)];
        if (found && field != ListField::kId) {
            found = without_space(*found);
        }
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
        order_.plain_id.clear();
        if (id.empty() || plain_id(id).empty() || id.size() > kWireIdBytesMax) {
            refuse(ListField::kId, id, "expected an id of 1 to 1024 bytes");
        } else if (!is_storable(id)) {
            refuse(ListField::kId, id, "expected UTF-8 without U+0000");
        } else {
            order_.order_id = id;
            order_.plain_id = plain_id(id) == id ? std::string_view() : plain_id(id);
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
    order.refunds.clear();
    order.problem.clear();
    order.bad_field = {};
    order.bad_value.clear();
}

// ---- NDJSON -------------------------------------------------------------------------------------

/// Reads the fields of a payload.
class PayloadReader {
public:
    explicit PayloadReader(const ListMap& map) : map_(map) {}

    [[nodiscard]] JsonDocument& json() noexcept { return json_; }

    /// If the order has a problem already, none of its fields are read.
    void read(std::string_view payload, ListedOrder& order) {
        Texts texts;
        simdjson::dom::object object;
        if (!order.problem.empty()) {
            // Nothing can be read.
        } else if (!json_.parse(payload)) {
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

private:
    /// Finds the member of a name, or of a path such as `total.amount`. Returns false if there is
    /// none; null above the last member is null.
    static bool find(const simdjson::dom::object& object, std::string_view path,
                     simdjson::dom::element& value) {
        if (object[path].get(value) == simdjson::SUCCESS) {
            return true;
        }
        const std::size_t point = path.find('.');
        if (point == std::string_view::npos ||
            object[path.substr(0, point)].get(value) != simdjson::SUCCESS) {
            return false;
        }
        simdjson::dom::object inner;
        return value.is_null() || (value.get(inner) == simdjson::SUCCESS &&
                                   find(inner, path.substr(point + 1), value));
    }

    void find_texts(const simdjson::dom::object& object, Texts& texts, ListedOrder& order) {
        const auto refuse = [&order](std::size_t i, std::string what) {
            if (order.problem.empty()) {
                order.problem = std::move(what);
                order.bad_field = name_of(field_at(i));
            }
        };
        for (std::size_t i = 0; i < kListFields; ++i) {
            simdjson::dom::element value;
            if (!find(object, map_[i].empty() ? name_of(field_at(i)) : map_[i], value)) {
                if (!map_[i].empty()) {
                    refuse(i, "no member '" + map_[i] + "', which --map names");
                }
                continue;
            }
            std::string_view text;
            if (i == index_of(ListField::kId) && (value.is_int64() || value.is_uint64())) {
                number_text_ = simdjson::minify(value);
                text = number_text_;
            } else if (!value.is_null() && value.get(text) != simdjson::SUCCESS) {
                refuse(i, "expected a string");
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

    ListMap map_;
    JsonDocument json_;
    std::string number_text_;
};

class NdjsonOrders final : public OrderList {
public:
    NdjsonOrders(UniqueFile file, std::string path, const ListMap& map)
        : file_(std::move(file)), path_(std::move(path)), reader_(map) {}

    Result<bool> next(ListedOrder& order) override {
        do {
            const auto got = read_line();
            if (!got.ok() || !*got) {
                return got;
            }
        } while (!too_long_ &&
                 (line_.find_first_not_of(" \t\r") == std::string::npos || is_part()));
        begin_order(order, number_);
        order.payload = line_;
        if (too_long_) {
            order.problem = "the row is longer than 1 MB";
        }
        reader_.read(line_, order);
        note_values(order);
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

    /// Returns true for a row that is a part of another one, such as a line item of a bulk export.
    bool is_part() {
        simdjson::dom::element parent;
        JsonDocument& json = reader_.json();
        return line_.find("__parentId") != std::string::npos && json.parse(line_) &&
               json.root()["__parentId"].get(parent) == simdjson::SUCCESS && !parent.is_null();
    }

    UniqueFile file_;
    std::string path_;
    PayloadReader reader_;
    std::string line_;
    std::uint64_t number_ = 0;
    bool too_long_ = false;
};

// ---- A platform's orders ------------------------------------------------------------------------

class PlatformList final : public OrderList {
public:
    PlatformList(TranslatedOrders orders, Platform platform, LeftOut& left_out)
        : orders_(std::move(orders)), platform_(platform), left_out_(left_out) {}

    Result<bool> next(ListedOrder& order) override {
        Translation found;
        do {
            if (!orders_.next(found)) {
                return false;
            }
        } while (left_out_.add(found));
        begin_order(order, orders_.number());
        order.payload = found.body;
        order.is_ranked = platform_ == Platform::kShopify;
        if (found.kind == TranslationKind::kUnreadable ||
            found.kind == TranslationKind::kOtherShop) {
            order.problem = problem_of(found);
        }
        reader_.read(found.body, order);
        if (found.kind == TranslationKind::kOrder) {
            order.refunds = refunds_of(found.body);
        }
        if (found.kind == TranslationKind::kFaults) {
            order.problem = problem_of(found);
            order.bad_field = {};
            order.bad_value.clear();
        }
        note_values(order);
        return true;
    }
    bool has_payloads() const noexcept override { return true; }

private:
    TranslatedOrders orders_;
    Platform platform_;
    LeftOut& left_out_;
    PayloadReader reader_{ListMap{}};
};

// ---- CSV ----------------------------------------------------------------------------------------

class CsvOrders final : public OrderList {
public:
    static Result<std::unique_ptr<OrderList>> open(UniqueFile file, const std::string& path,
                                                   const ListMap& map,
                                                   std::optional<char> separator) {
        std::unique_ptr<CsvOrders> list(
            new CsvOrders(std::move(file), path, separator.value_or(',')));
        CsvRow header;
        auto got = list->reader_.next(header);
        if (got.ok() && separator && is_separator_line(header.fields)) {
            got = list->reader_.next(header);
        }
        if (!got.ok()) {
            return got.error();
        }
        list->columns_ = header.fields.size();
        if (Status found = list->find_columns(header.fields, map); !found.ok()) {
            return list->reader_.error_at(std::max<std::uint64_t>(header.line, 1),
                                          found.error().message + "; " +
                                              header_words(header.fields, separator.value_or(',')));
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
        note_values(order);
        if (!order.order_id.empty()) {
            last_id_ = order.order_id;
        }
        return true;
    }
    bool has_payloads() const noexcept override { return false; }

private:
    CsvOrders(UniqueFile file, const std::string& path, char separator)
        : file_(std::move(file)), reader_(file_.get(), path, kRowBytesMax, separator) {}

    Status find_columns(const std::vector<std::string>& header, const ListMap& map) {
        const auto find = [&header](std::string_view name) -> std::optional<std::size_t> {
            const auto found = std::ranges::find(header, name);
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
            places_[i] = find(name_of(field_at(i)));
            places_[i] = places_[i] ? places_[i] : find(report_column_of(field_at(i)));
        }
        for (const auto& place : places_) {
            if (place && std::ranges::count(header, header[*place]) > 1) {
                return invalid("two columns '" + printable(header[*place]) + "'");
            }
        }
        has_mapped_id_ = !map[index_of(ListField::kId)].empty();
        return places_[index_of(ListField::kId)]
                   ? Status::success()
                   : invalid(
                         "no column platform_order_id: name the column of the order's "
                         "id with --map platform_order_id=COLUMN");
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
        const bool has_other_cell = std::ranges::any_of(
            row_.fields, [&](const std::string& cell) { return !cell.empty() && cell != id; });
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

void OrderList::note_values(const ListedOrder& order) noexcept {
    has_rows_ = true;
    const std::array<bool, kListFields> has{
        !order.order_id.empty(),     order.ordered_at.has_value(), order.version.has_value(),
        order.cancelled.has_value(), order.amount.has_value(),     order.tax.has_value(),
        order.shipping.has_value(),  order.currency.has_value()};
    for (std::size_t i = 0; i < kListFields; ++i) {
        has_value_[i] = has_value_[i] || has[i];
    }
}

std::vector<std::string> OrderList::columns_without_values(const ListMap& map) const {
    std::vector<std::string> columns;
    for (std::size_t i = index_of(ListField::kVersion); i < kListFields && has_rows_; ++i) {
        if (!map[i].empty() && !has_value_[i]) {
            columns.push_back(map[i]);
        }
    }
    return columns;
}

Result<std::unique_ptr<OrderList>> open_order_list(const std::string& path, const ListMap& map,
                                                   std::optional<char> separator) {
    auto file = open_for_reading(path);
    if (Status known = file.ok() ? check_form(path, peek_head(file->get())) : file.error();
        !known.ok()) {
        return known.error();
    }
    skip_byte_order_mark(file->get());
    if (path.ends_with(".ndjson") || path.ends_with(".jsonl") || begins_with_object(file->get())) {
        return std::unique_ptr<OrderList>(new NdjsonOrders(std::move(file).value(), path, map));
    }
    return CsvOrders::open(std::move(file).value(), path, map, separator);
}

Result<std::unique_ptr<OrderList>> open_platform_list(const std::string& path,
                                                      const OrderSource& source,
                                                      std::string anon_field, LeftOut& left_out) {
    return TranslatedOrders::open(path, source, std::move(anon_field))
        .and_then([&](TranslatedOrders orders) {
            return Result(
                std::make_unique<PlatformList>(std::move(orders), source.platform, left_out));
        });
}

}  // namespace sluice::cli
