#include "core/protocol/field_error.hpp"

namespace sluice {

std::string_view to_string(FieldErrorCode code) noexcept {
    return code == FieldErrorCode::kRequired ? "REQUIRED" : "INVALID_FORMAT";
}

}  // namespace sluice
