// The OpenAPI document, made of the table that routes requests and checks parameters.
#pragma once

#include <string>

namespace sluice::serve {

/// Returns the document as JSON.
[[nodiscard]] const std::string& openapi_json();

}  // namespace sluice::serve
