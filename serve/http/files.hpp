// Static files of the pages, from serve/ui/ and serve/creators/ui/, which the build embeds in the
// program.
#pragma once

#include <string_view>
#include <vector>

#include "serve/read/http.hpp"

namespace sluice::serve {

struct StaticFile {
    std::string_view path;  ///< Below its folder.
    std::string_view bytes;
};

/// Returns the files of the page for people, sorted by path.
[[nodiscard]] const std::vector<StaticFile>& embedded_files();
/// Returns the files of the creators' page, sorted by path.
[[nodiscard]] const std::vector<StaticFile>& creator_files();
/// Returns the type of a file's content, which follows from its ending.
[[nodiscard]] std::string_view type_of_file(std::string_view path);
/// Returns the policy of a page's files.
/// @param ancestors  Who may show the page in a frame: origins, or 'none'.
[[nodiscard]] std::string page_policy(std::string_view ancestors);
/// Returns the file of a request's path, or nullptr: /ui/ is ui/index.html.
[[nodiscard]] const StaticFile* find_file(std::string_view path);
[[nodiscard]] Answer text_file(std::string_view name, std::string text);
[[nodiscard]] Answer file_answer(const StaticFile& file, const std::string& if_none_match);

}  // namespace sluice::serve
