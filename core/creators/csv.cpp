#include "core/creators/csv.hpp"

#include <string_view>
#include <type_traits>

#include "core/lists/row_output.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

/// Takes the members of one row as each_member() lists them.
class Cells {
public:
    static constexpr bool kReads = false;

    template <class Value>
    void operator()(const char* name, const Value& value) {
        add(name, text_of(value));
    }
    template <class Value>
    void or_null(const char* name, const std::optional<Value>& value) {
        add(name, value ? text_of(*value) : std::string());
    }
    [[nodiscard]] const std::string& names() const noexcept { return names_; }
    [[nodiscard]] const std::string& cells() const noexcept { return cells_; }

private:
    template <class Value>
    static std::string text_of(const Value& value) {
        if constexpr (std::is_convertible_v<Value, std::string_view>) {
            return std::string(std::string_view(value));
        } else if constexpr (std::is_same_v<Value, Decimal>) {
            return value.to_string();
        } else {  // a list of texts
            return joined(value, " ");
        }
    }
    void add(const char* name, const std::string& text) {
        const char* const comma = names_.empty() ? "" : ",";
        names_ += comma + std::string(name);
        cells_ += comma + lists::csv_field(text);
    }

    std::string names_, cells_;
};

template <class Row>
std::string csv_of(const std::vector<Row>& rows) {
    Cells head;
    const Row empty{};
    each_member(head, empty);
    std::string text = head.names() + "\n";
    for (const Row& row : rows) {
        Cells cells;
        each_member(cells, row);
        text += cells.cells() + "\n";
    }
    return text;
}

}  // namespace

std::string creator_csv(const std::vector<CreatorOrder>& orders) {
    return csv_of(orders);
}

std::string creator_csv(const std::vector<CreatorEntry>& entries) {
    return csv_of(entries);
}

}  // namespace sluice
