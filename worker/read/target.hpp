// Target: the path and the parameters of a request's target, decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::serve {

struct Target {
    std::string path;  ///< Not decoded, because no path of the server needs it.
    std::vector<std::pair<std::string, std::string>> parameters;  ///< As they were sent.
};

/// Returns nothing unless the target is a path with an optional query (RFC 9112 origin form).
[[nodiscard]] std::optional<Target> parse_target(std::string_view text);
/// Encodes a value of a parameter.
[[nodiscard]] std::string encoded(std::string_view text);

}  // namespace sluice::serve
