// nginx's configuration as a tree, from what `nginx -T` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

struct NginxDirective {
    std::string name;
    std::vector<std::string> arguments;
    std::vector<NginxDirective> block;  ///< Empty for a simple directive.
};

/// Parses the files that `nginx -T` prints, and puts included files where they are included. Stops
/// without an error at text that it cannot read, such as a block of another language.
[[nodiscard]] std::vector<NginxDirective> parse_nginx(std::string_view printed);

}  // namespace sluice::cli
