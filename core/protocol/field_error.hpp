// FieldError: one error of a request, as both endpoints report it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

enum class FieldErrorCode : std::uint8_t {
    kRequired,       ///< Missing, or null where null is not allowed and the field is required.
    kInvalidFormat,  ///< Present and wrong.
};

[[nodiscard]] constexpr std::string_view to_string(FieldErrorCode code) noexcept {
    return code == FieldErrorCode::kRequired ? "REQUIRED" : "INVALID_FORMAT";
}

struct FieldError {
    std::string field;  ///< `line_items[0].sku`, a header's name, or empty for the whole body.
    FieldErrorCode code = FieldErrorCode::kInvalidFormat;
    std::string message;      ///< For the shop's developer. Never repeats the value that was sent.
    std::uint32_t index = 0;  ///< Catalog: position in `products`. Events: unused.
};

}  // namespace sluice
