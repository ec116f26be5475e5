// Columns of a described table (table.hpp): where a value lies in its row, and of which type it is.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/protocol/signature.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// How a column is stored in its row; with_value() has the types.
enum class ColumnKind : std::uint8_t {
    kNumber32,
    kNumber64,
    kBool,
    kEnum,  ///< One byte; Column::is_valid knows the values of the type.
    kId,
    kText,
    kBytes,  ///< A std::string of any bytes.
    kCurrency,
    kDecimal,
    kInstant,
    kDigest,
};

/// Operations on a std::optional whose type is unknown.
struct OptionalOps {
    void* (*find)(void* optional);  ///< Returns the value, or nullptr if it is absent.
    void* (*make)(void* optional);  ///< Returns the value, which is made if it is absent.
    void (*reset)(void* optional);
};

struct Column {
    const char* name;
    ColumnKind kind;
    std::uint32_t offset = 0;  ///< In the row.
    bool (*is_valid)(std::uint8_t value) = nullptr;
    const OptionalOps* optional = nullptr;  ///< nullptr if the column is never absent.

    /// Returns the column's value, or nullptr if it is absent.
    [[nodiscard]] void* find(void* row) const {
        void* const at = static_cast<char*>(row) + offset;
        return optional == nullptr ? at : optional->find(at);
    }
    [[nodiscard]] const void* find(const void* row) const { return find(const_cast<void*>(row)); }
    /// Returns the column's value, which is made if it is absent.
    [[nodiscard]] void* make(void* row) const {
        void* const at = static_cast<char*>(row) + offset;
        return optional == nullptr ? at : optional->make(at);
    }
    /// Requires: the column may be absent.
    void reset(void* row) const { optional->reset(static_cast<char*>(row) + offset); }
};

/// Calls `use` with a column's value as its type, as const as the pointer. An enum comes as its
/// byte.
template <class Pointed, class Use>
void with_value(ColumnKind kind, Pointed* value, Use&& use) {
    const auto as = [value]<class Value>(const Value* /*type*/) -> auto& {
        using Same = std::conditional_t<std::is_const_v<Pointed>, const Value, Value>;
        return *static_cast<Same*>(value);
    };
    switch (kind) {
        case ColumnKind::kNumber32:
            return use(as(static_cast<std::uint32_t*>(nullptr)));
        case ColumnKind::kNumber64:
            return use(as(static_cast<std::uint64_t*>(nullptr)));
        case ColumnKind::kBool:
            return use(as(static_cast<bool*>(nullptr)));
        case ColumnKind::kEnum:
            return use(as(static_cast<std::uint8_t*>(nullptr)));
        case ColumnKind::kId:
            return use(as(static_cast<AnyTextId*>(nullptr)));
        case ColumnKind::kText:
        case ColumnKind::kBytes:
            return use(as(static_cast<std::string*>(nullptr)));
        case ColumnKind::kCurrency:
            return use(as(static_cast<Currency*>(nullptr)));
        case ColumnKind::kDecimal:
            return use(as(static_cast<Decimal*>(nullptr)));
        case ColumnKind::kInstant:
            return use(as(static_cast<Timestamp*>(nullptr)));
        case ColumnKind::kDigest:
            return use(as(static_cast<Digest256*>(nullptr)));
    }
}

}  // namespace sluice
