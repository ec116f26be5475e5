// Static files of the page, from serve/ui/, which the build embeds in the program.
#pragma once

#include <string_view>
#include <vector>

#include "serve/read/http.hpp"

namespace sluice::serve {

struct StaticFile {
    std::string_view path;  ///< Below serve/ui/.
    std::string_view bytes;
};

/// Returns all embedded files, sorted by path.
[[nodiscard]] const std::vector<StaticFile>& embedded_files();
/// Returns the file of a request's path, or nullptr: /ui/ is ui/index.html.
[[nodiscard]] const StaticFile* find_file(std::string_view path);
[[nodiscard]] Answer file_answer(const StaticFile& file, const std::string& if_none_match);

}  // namespace sluice::serve
