#include "worker/doctor/nginx_text.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

namespace sluice::cli {
namespace {

constexpr std::string_view kFileMark = "# configuration file ";
constexpr int kDepthMax = 32;

/// A file as `nginx -T` prints it.
struct PrintedFile {
    std::string path;
    std::string_view text;
};

std::vector<PrintedFile> files_in(std::string_view printed) {
    std::vector<PrintedFile> files;
    std::size_t at = printed.find(kFileMark);
    while (at != std::string_view::npos) {
        const std::size_t name = at + kFileMark.size();
        const std::size_t end = printed.find(":\n", name);
        if (end == std::string_view::npos) {
            break;
        }
        const std::size_t next = printed.find("\n" + std::string(kFileMark), end);
        const std::size_t text = end + 2;
        files.push_back(
            {std::string(printed.substr(name, end - name)),
             printed.substr(text, next == std::string_view::npos ? next : next - text)});
        at = next == std::string_view::npos ? next : next + 1;
    }
    return files;
}

class Parser {
public:
    explicit Parser(const std::vector<PrintedFile>& files)
        : files_(files), folder_(std::filesystem::path(files.front().path).parent_path()) {}

    std::vector<NginxDirective> file(const PrintedFile& file) {
        std::string_view rest = file.text;
        return directives(rest);
    }

private:
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

    static void skip_space(std::string_view& rest) {
        while (!rest.empty()) {
            if (is_space(rest.front())) {
                rest.remove_prefix(1);
            } else if (rest.front() == '#') {
                rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
            } else {
                return;
            }
        }
    }

    /// Takes a word, without its quotes. Requires: `rest` begins with one.
    static std::string word(std::string_view& rest) {
        std::string text;
        const char quote = rest.front() == '"' || rest.front() == '\'' ? rest.front() : '\0';
        std::size_t at = quote != '\0' ? 1 : 0;
        for (; at < rest.size(); ++at) {
            const char c = rest[at];
            if (c == '\\' && at + 1 < rest.size()) {
                text += rest[++at];
            } else if (quote != '\0' ? c == quote : is_space(c) || c == ';' || c == '{') {
                break;
            } else {
                text += c;
            }
        }
        rest.remove_prefix(std::min(rest.size(), at + (quote != '\0' ? 1 : 0)));
        return text;
    }

    std::vector<NginxDirective> directives(std::string_view& rest) {
        std::vector<NginxDirective> found;
        for (skip_space(rest); !rest.empty() && rest.front() != '}'; skip_space(rest)) {
            NginxDirective directive;
            if (!one(rest, directive)) {
                rest = {};
                break;
            }
            if (directive.name == "include" && directive.arguments.size() == 1) {
                include(directive.arguments.front(), found);
            } else {
                found.push_back(std::move(directive));
            }
        }
        return found;
    }

    /// Returns false if the text is no directive.
    bool one(std::string_view& rest, NginxDirective& directive) {
        if (depth_ == kDepthMax) {
            return false;
        }
        directive.name = word(rest);
        for (skip_space(rest); !rest.empty(); skip_space(rest)) {
            if (rest.front() == ';') {
                rest.remove_prefix(1);
                return true;
            }
            if (rest.front() == '{') {
                rest.remove_prefix(1);
                ++depth_;
                directive.block = directives(rest);
                --depth_;
                const bool closed = !rest.empty();
                rest.remove_prefix(closed ? 1 : 0);
                return closed;
            }
            directive.arguments.push_back(word(rest));
        }
        return false;
    }

    void include(const std::string& name, std::vector<NginxDirective>& into) {
        const std::string pattern = (folder_ / name).string();
        for (const PrintedFile& printed : files_) {
            if (depth_ < kDepthMax && ::fnmatch(pattern.c_str(), printed.path.c_str(), 0) == 0) {
                ++depth_;
                std::vector<NginxDirective> included = file(printed);
                --depth_;
                into.insert(into.end(), std::make_move_iterator(included.begin()),
                            std::make_move_iterator(included.end()));
            }
        }
    }

    const std::vector<PrintedFile>& files_;
    std::filesystem::path folder_;
    int depth_ = 0;
};

}  // namespace

std::vector<NginxDirective> parse_nginx(std::string_view printed) {
    const std::vector<PrintedFile> files = files_in(printed);
    return files.empty() ? std::vector<NginxDirective>() : Parser(files).file(files.front());
}

}  // namespace sluice::cli
