// Texts of nginx: its configuration as a tree, from `nginx -T`, and the configure flags in which it
// and a module were built differently, which is why it refuses the module.
#pragma once

#include <filesystem>
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

/// Describes how the signatures of nginx and of a module differ, with the flags of configure that
/// decide it, such as "--with-compat (only nginx has it)". nginx compares these texts when it loads
/// a module. Empty if they are equal.
[[nodiscard]] std::string signature_difference(std::string_view nginx, std::string_view module);

/// Returns the signature that a program or a module contains ("8,4,8,0011..."), or an empty text.
[[nodiscard]] std::string find_signature(std::string_view binary);

/// Returns the remedy for a complaint of nginx that it cannot load a module.
/// @param program    nginx.
/// @param complaint  `... module "FILE" is not binary compatible ...`, or
/// `... module "FILE" version 1028000 instead of 1022001 ...`.
[[nodiscard]] std::string module_remedy(const std::filesystem::path& program,
                                        std::string_view complaint);

}  // namespace sluice::cli
