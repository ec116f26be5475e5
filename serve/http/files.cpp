#include "serve/http/files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/values/lookup.hpp"
#include "serve/read/build.hpp"

namespace sluice::serve {
namespace {

constexpr std::string_view kFolder = "/ui/";
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

}  // namespace

std::string_view type_of_file(std::string_view path) {
    const auto found =
        std::ranges::find_if(kTypes, [path](const auto& one) { return path.ends_with(one.first); });
    return found == kTypes.end() ? "application/octet-stream" : found->second;
}

std::string page_policy(std::string_view ancestors) {
    return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
           std::string(ancestors);
}

const StaticFile* find_file(std::string_view path) {
    if (!path.starts_with(kFolder)) {
        return nullptr;
    }
    const std::string_view wanted = path == kFolder ? "index.html" : path.substr(kFolder.size());
    return find_item(embedded_files(), wanted, &StaticFile::path);
}

Answer text_file(std::string_view name, std::string text) {
    return {.type = std::string(type_of_file(name)), .body = std::move(text)};
}

Answer file_answer(const StaticFile& file, const std::string& if_none_match) {
    Answer answer = text_file(file.path, std::string(file.bytes));
    tag_answer(answer, if_none_match);
    answer.with("Content-Security-Policy", page_policy("'none'"));
    answer.with("Cross-Origin-Resource-Policy", "same-origin").with("Cache-Control", "no-cache");
    return answer;
}

}  // namespace sluice::serve
