// Field reader: collects the named fields of one JSON object in one pass, then reads them as typed
// values and reports their errors. Used by the order event.
//
// Fields are numbered by their place in a FieldNames table; errors come in the order of the calls.
#pragma once

#include <simdjson.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/document.hpp"
#include "core/protocol/field_error.hpp"
#include "core/values/decimal.hpp"
#include "core/values/money.hpp"
#include "core/values/name_index.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The names of the fields of one kind of object. `kFields["tax"]` is the number of a field, its
/// place among the names; another name does not compile.
class FieldNames {
public:
    static constexpr std::size_t kMax = NameIndex::kNamesMax;

    explicit consteval FieldNames(std::convertible_to<std::string_view> auto... names)
        : names_{names...},
          size_(sizeof...(names)),
          index_(NameIndex::make(std::span(names_).first(sizeof...(names)), std::identity())) {}

    [[nodiscard]] consteval std::size_t operator[](std::string_view name) const {
        for (std::size_t i = 0; i < size_; ++i) {
            if (names_[i] == name) {
                return i;
            }
        }
        throw "the object has no such field";
    }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::string_view name(std::size_t field) const noexcept { return names_[field]; }
    /// Returns the only field whose name can equal `key`, or a number that is not below size().
    [[nodiscard]] std::size_t candidate(std::string_view key) const noexcept {
        return index_.candidate(key);
    }

private:
    std::array<std::string_view, kMax> names_;
    std::size_t size_;
    NameIndex index_;
};

/// The place of a value, from the inside out, on the stack of a walk over a body.
struct FieldPlace {
    static constexpr std::size_t kNoIndex = ~std::size_t{0};

    const FieldPlace* parent = nullptr;
    std::string_view name{};
    std::size_t index = kNoIndex;

    /// Returns `refunds[0].refund_line_items[2]`.
    [[nodiscard]] std::string text() const {
        std::string text = parent == nullptr ? std::string() : parent->text();
        text += text.empty() || name.empty() ? "" : ".";
        text += name;
        return index == kNoIndex ? text : text + '[' + std::to_string(index) + ']';
    }
};

/// The place of an object: the root, or `list[index]`.
struct ObjectPlace {
    std::string_view list;  ///< Empty for the root.
    std::size_t index = 0;
};

/// The first `errors_max` errors of a body.
class FieldErrors {
public:
    explicit FieldErrors(std::size_t errors_max) : errors_max_(errors_max) {}

    /// @param has_nuls  Whether any string of the body contains U+0000; if not, none is searched.
    void begin(bool has_nuls) noexcept;
    [[nodiscard]] bool full() const noexcept { return errors_.size() >= errors_max_; }
    [[nodiscard]] const std::vector<FieldError>& errors() const noexcept { return errors_; }
    /// Returns how many U+0000 has_nul() found.
    [[nodiscard]] std::size_t nuls_found() const noexcept { return nuls_found_; }
    /// Returns whether the text contains U+0000, and counts the text if so.
    [[nodiscard]] bool has_nul(std::string_view text) noexcept;

    /// Adds an error of a field, of an element of a list (no name), or of the body (neither).
    void add(ObjectPlace place, std::string_view name, FieldErrorCode code,
             std::string_view message);

private:
    std::size_t errors_max_;
    std::vector<FieldError> errors_;
    std::size_t nuls_found_ = 0;
    bool has_nuls_ = false;
};

enum class Need : std::uint8_t { kOptional, kRequired };

class FieldReader {
public:
    static constexpr std::size_t kFieldsMax = 20;

    /// @param extra_name  A name that only the configuration knows; its number is size().
    FieldReader(const FieldNames& fields, ObjectPlace place, FieldErrors& findings,
                std::string_view extra_name = {}) noexcept
        : fields_(fields), extra_name_(extra_name), place_(place), findings_(findings) {}

    void collect(const simdjson::dom::object& object) noexcept;

    /// Returns the value of a field, or nullptr if it is absent, null or repeated, which are
    /// reported as `need` requires.
    [[nodiscard]] const simdjson::dom::element* find(std::size_t field, Need need) {
        const simdjson::dom::element* const value = peek(field);
        if (value == nullptr) [[unlikely]] {
            report_unreadable(field, need);
        }
        return value;
    }

    /// Returns the same as find(), and reports nothing.
    [[nodiscard]] const simdjson::dom::element* peek(std::size_t field) const noexcept {
        const bool is_there = (present_ & ~repeated_ & 1U << field) != 0;
        return is_there && !values_[field].value.is_null() ? &values_[field].value : nullptr;
    }

    static constexpr std::size_t kQuantityDigits = 9;

    // Each returns true if `out` was set, because the field is present and valid.
    bool id(std::size_t field, Need need, std::string_view& out);
    /// Reads the id of an account, program or creator: see is_admin_id().
    bool admin_id(std::size_t field, Need need, std::string_view& out);
    bool link_id(std::size_t field, Need need, std::string_view& out);
    bool text(std::size_t field, Need need, std::string_view& out);
    bool non_empty_text(std::size_t field, Need need, std::string_view& out);
    bool timestamp(std::size_t field, Need need, Timestamp& out);
    bool decimal(std::size_t field, Need need, SentDecimal& out);
    /// Reads a whole number of 1 to kQuantityDigits digits.
    bool quantity(std::size_t field, std::uint32_t lowest, std::uint32_t& out);
    bool currency(std::size_t field, Currency& out);
    bool array(std::size_t field, Need need, simdjson::dom::array& out);
    /// Reads one of `words`; `out` is its position.
    bool word(std::size_t field, std::span<const std::string_view> words, std::size_t& out);

    void invalid(std::size_t field, std::string_view message);

private:
    [[nodiscard]] std::string_view name(std::size_t field) const noexcept;
    /// Reports why find() returns nothing.
    void report_unreadable(std::size_t field, Need need);
    /// Reads a string without U+0000, or reports `message`.
    bool string_value(std::size_t field, Need need, std::string_view message,
                      std::string_view& out);
    /// Sets `out` to what `parse` returns for a string, or reports `message` if that is nothing.
    template <class Value, class Parse>
    bool parsed(std::size_t field, Need need, std::string_view message, Value& out, Parse parse);

    const FieldNames& fields_;
    std::string_view extra_name_;
    ObjectPlace place_;
    FieldErrors& findings_;
    std::uint32_t present_ = 0;
    std::uint32_t repeated_ = 0;
    std::array<JsonSlot, kFieldsMax> values_;
};

}  // namespace sluice
