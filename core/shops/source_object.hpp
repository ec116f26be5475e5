// Source object: reads the named fields of one JSON object of a platform as typed values.
//
// Every value that is read is copied to `seen`, unless the caller asks for it to stay hidden. So
// `seen` has what a translation was made from, and nothing else of the body. Only numbers, flags
// and strings are copied, never an object that a platform put in the place of one.
//
// An absent field, null included, has no value; a present one that cannot be read is a fault.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/tree.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/field_error.hpp"
#include "core/protocol/field_reader.hpp"
#include "core/shops/amounts.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

enum class Seen : std::uint8_t { kCopied, kHidden };

/// Which money of a Shopify amount is read.
enum class ShopMoney : std::uint8_t { kShop, kPresentment };

/// Uninitialized memory for a value, because an object has few of the fields of its table.
struct SourceSlot {
    SourceSlot() noexcept {}
    union {
        JsonValue value;
    };
};

/// Shared by the objects of one translation.
struct SourceReading {
    static constexpr std::size_t kFaultsMax = 100;

    /// @param body_has_nuls  Some string of the body contains U+0000.
    SourceReading(std::string& seen_text, std::vector<FieldError>& found, bool body_has_nuls)
        : seen(seen_text), faults(found), has_nuls(body_has_nuls) {}

    JsonWriter seen;
    std::vector<FieldError>& faults;
    bool has_nuls;
    bool has_wide_numbers = false;  ///< Some number of the body is larger than a machine number.
    ShopMoney money = ShopMoney::kShop;
};

class SourceObject {
public:
    /// Requires: `object` is an object, and `place` outlives this.
    SourceObject(const FieldNames& fields, const JsonValue& object, const FieldPlace& place,
                 SourceReading& reading);

    /// Returns a string, or nothing if it is absent or empty.
    [[nodiscard]] std::string_view text(std::size_t field, Need need = Need::kOptional,
                                        Seen seen = Seen::kCopied);
    /// Returns an id, a whole number or a string; empty if absent.
    [[nodiscard]] std::string_view id(std::size_t field, Need need = Need::kOptional,
                                      Seen seen = Seen::kCopied);
    [[nodiscard]] std::optional<Timestamp> time(std::size_t field, Need need = Need::kOptional);
    [[nodiscard]] std::optional<Currency> currency(std::size_t field, Need need);
    [[nodiscard]] std::optional<bool> flag(std::size_t field, Need need = Need::kOptional);
    /// Returns an amount with kAmountDigits, which may be negative; 0 if it is absent.
    [[nodiscard]] Decimal amount(std::size_t field, Need need = Need::kOptional,
                                 Seen seen = Seen::kCopied);
    /// Returns a whole number of 0 or more below `end`; 0 if it is absent.
    [[nodiscard]] std::uint32_t whole(std::size_t field, Need need, std::uint32_t end);
    /// Returns the ids of an array that are usable; the others are no fault. They stay hidden.
    [[nodiscard]] std::vector<std::string_view> ids(std::size_t field) const;
    /// Returns a string, and nothing for any other value, which is no fault. It stays hidden.
    [[nodiscard]] std::string_view loose_text(std::size_t field) const;
    /// Returns an amount of Shopify: the money of field + 1, which is named `x_set`; without it,
    /// field `x`.
    [[nodiscard]] Decimal money(std::size_t field, Need need = Need::kOptional);
    /// Returns whether the object has the field, null included.
    [[nodiscard]] bool has(std::size_t field) const noexcept {
        return (present_ & 1U << field) != 0;
    }

    /// Calls read(SourceObject&) for each object of an array.
    template <class Read>
    void each(std::size_t field, const FieldNames& fields, Need need, Seen seen, Read read) {
        const JsonValue* list = array(field, need);
        if (list == nullptr) {
            return;
        }
        if (seen == Seen::kCopied) {
            reading_.seen.key(fields_.name(field)).begin_array();
        }
        std::size_t index = 0;
        for (JsonChildren children(*list); !children.at_end(); children.step()) {
            const FieldPlace place{&place_, fields_.name(field), index++};
            if (!children.value().is_object()) {
                add_fault(place, {}, FieldErrorCode::kInvalidFormat, "must be an object");
                continue;
            }
            SourceObject object(fields, children.value(), place, reading_);
            if (seen == Seen::kCopied) {
                reading_.seen.begin_object();
                read(object);
                reading_.seen.end_object();
            } else {
                read(object);
            }
        }
        if (seen == Seen::kCopied) {
            reading_.seen.end_array();
        }
    }
    /// Calls read(SourceObject&) if the field is an object. `seen` shows nothing of it.
    template <class Read>
    void hidden_object(std::size_t field, const FieldNames& fields, Read read) {
        const JsonValue* value = find(field, Need::kOptional);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            invalid(field, "must be an object");
            return;
        }
        const FieldPlace place{&place_, fields_.name(field)};
        SourceObject object(fields, *value, place, reading_);
        read(object);
    }

    void invalid(std::size_t field, std::string_view message);
    /// Reports the first field other than the id: such a body is no deletion.
    void refuse_all_but(std::size_t id, std::string_view message);

private:
    /// Returns the value of a field, or nullptr if it is absent or repeated, which are reported.
    [[nodiscard]] const JsonValue* find(std::size_t field, Need need);
    /// Returns the value of a field, or nullptr if it is absent, repeated or null. Reports nothing.
    [[nodiscard]] const JsonValue* peek(std::size_t field) const noexcept;
    /// Returns the array in a field, or nullptr if it is absent or no array, which are reported.
    [[nodiscard]] const JsonValue* array(std::size_t field, Need need);
    /// Returns the text of a string or the digits of a number, or nullopt after a fault.
    [[nodiscard]] std::optional<std::string_view> scalar(std::size_t field, const JsonValue& value,
                                                         Seen seen, std::string_view message);
    [[nodiscard]] std::optional<std::string_view> string(std::size_t field, Need need, Seen seen);
    [[nodiscard]] std::optional<Decimal> amount_of(std::size_t field, const JsonValue& value,
                                                   Seen seen);
    void copy(std::size_t field, const JsonValue& value);
    void add_fault(const FieldPlace& place, std::string_view name, FieldErrorCode code,
                   std::string_view message);

    const FieldNames& fields_;
    const FieldPlace& place_;
    SourceReading& reading_;
    std::uint32_t present_ = 0;
    std::uint32_t repeated_ = 0;
    std::array<SourceSlot, FieldNames::kMax> values_;
};

}  // namespace sluice
