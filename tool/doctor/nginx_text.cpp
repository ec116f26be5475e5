// Texts of nginx: its configuration as a tree, from `nginx -T`, and the configure flags in which it
// and a module were built differently, which is why it refuses the module.
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include "core/values/lookup.hpp"
#include "os/files/file_io.hpp"
#include "tool/doctor/doctor.hpp"

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
                include_file(directive.arguments.front(), found);
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

    /// Adds the directives of the files that the name or pattern has.
    void include_file(const std::string& name, std::vector<NginxDirective>& found) {
        const std::string pattern = (folder_ / name).string();
        for (const PrintedFile& printed : files_) {
            if (depth_ < kDepthMax && ::fnmatch(pattern.c_str(), printed.path.c_str(), 0) == 0) {
                ++depth_;
                std::ranges::move(file(printed), std::back_inserter(found));
                --depth_;
            }
        }
    }

    const std::vector<PrintedFile>& files_;
    std::filesystem::path folder_;
    int depth_ = 0;
};

constexpr std::size_t kBinaryBytesMax = std::size_t{1} << 28;
/// Sizes of a pointer, an atomic word and a time, each with a comma.
constexpr std::size_t kSizesLength = 6;
constexpr std::size_t kBitsMin = 30;  // nginx 1.9.11, the first that loads modules, has 34

/// A place of the signature (NGX_MODULE_SIGNATURE_n in nginx's src/core/ngx_module.h).
struct Place {
    std::size_t number;
    std::string_view flag;  ///< Puts a 1 there.
};
constexpr std::array kPlaces = {
    Place{3, "--with-compat or --with-file-aio"},
    Place{4, "--with-compat"},
    Place{22, "--with-compat or --with-threads"},
    Place{23, "PCRE, without --without-pcre or --without-http_rewrite_module"},
    Place{24, "--with-compat or --with-http_ssl_module"},
    Place{26, "gzip, without --without-http_gzip_module"},
    Place{28, "--with-http_realip_module or the proxy module"},
    Place{29, "--with-http_realip_module"},
    Place{31, "--with-http_dav_module"},
    Place{32, "the cache, without --without-http-cache"},
    Place{33, "upstream zones, without --without-http_upstream_zone_module"},
    Place{34, "--with-compat"},
};

std::string flag_of(std::size_t number) {
    const Place* const place = find_item(kPlaces, number, &Place::number);
    return place != nullptr ? std::string(place->flag)
                            : "a feature of the system (NGX_MODULE_SIGNATURE_" +
                                  std::to_string(number) + " in nginx's ngx_module.h)";
}

/// 1028003 as "1.28.3".
std::string version_of(std::string_view digits) {
    std::uint32_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return std::to_string(number / 1'000'000) + "." + std::to_string(number / 1'000 % 1'000) + "." +
           std::to_string(number % 1'000);
}

/// Returns the rest of the text behind these words, or an empty text.
std::string_view text_after(std::string_view text, std::string_view words) {
    const std::size_t at = text.find(words);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + words.size());
}

std::string_view number_after(std::string_view text, std::string_view words) {
    const std::string_view rest = text_after(text, words);
    return rest.substr(0, rest.find_first_not_of("0123456789"));
}

/// Returns the signature that a program or a module contains ("8,4,8,0011..."), or an empty text.
std::string find_signature(std::string_view binary) {
    const auto is_size = [&](std::size_t at) {
        return binary[at] >= '1' && binary[at] <= '9' && binary[at + 1] == ',';
    };
    for (std::size_t at = 0; at + kSizesLength + kBitsMin < binary.size(); ++at) {
        if (!is_size(at) || !is_size(at + 2) || !is_size(at + 4)) {
            continue;
        }
        const std::size_t end =
            std::min(binary.find_first_not_of("01", at + kSizesLength), binary.size());
        const bool ends = end < binary.size() && binary[end] == '\0';
        if (ends && end - at - kSizesLength >= kBitsMin) {
            return std::string(binary.substr(at, end - at));
        }
    }
    return {};
}

/// Describes how the signatures of nginx and of a module differ, with the flags of configure that
/// decide it, such as "--with-compat (only nginx has it)". nginx compares these texts when it loads
/// a module. Empty if they are equal.
std::string signature_difference(std::string_view nginx, std::string_view module) {
    if (nginx.size() != module.size() ||
        nginx.substr(0, kSizesLength) != module.substr(0, kSizesLength)) {
        return nginx == module ? "" : "the processor or the version of nginx";
    }
    std::string text;
    for (std::size_t at = kSizesLength; at < nginx.size(); ++at) {
        if (nginx[at] != module[at]) {
            text += (text.empty() ? "" : "; ") + flag_of(at - kSizesLength + 1) +
                    (nginx[at] == '1' ? " (only nginx has it)" : " (only the module has it)");
        }
    }
    return text;
}

std::string signature_of(const std::filesystem::path& file) {
    const auto binary = read_file(file, kBinaryBytesMax);
    return binary.ok() ? find_signature(*binary) : std::string();
}

}  // namespace

std::vector<NginxDirective> parse_nginx(std::string_view printed) {
    const std::vector<PrintedFile> files = files_in(printed);
    return files.empty() ? std::vector<NginxDirective>() : Parser(files).file(files.front());
}

std::string module_remedy(const std::string& program, std::string_view complaint) {
    const std::string_view built_for = number_after(complaint, " version ");
    const std::string_view runs = number_after(complaint, " instead of ");
    if (!built_for.empty() && !runs.empty()) {
        return "the module was built for nginx " + version_of(built_for) + ", and this is nginx " +
               version_of(runs) + ": install the package that fits, or build the module for " +
               version_of(runs);
    }
    const std::string nginx = signature_of(program);
    const std::string_view quoted = text_after(complaint, "module \"");
    const std::string module = signature_of(quoted.substr(0, quoted.find('"')));
    const std::string difference =
        nginx.empty() || module.empty() ? std::string() : signature_difference(nginx, module);
    return "build the module with the flags that `nginx -V` prints; " +
           (difference.empty()
                ? "--with-compat, --with-threads and --with-http_realip_module decide most often"
                : "they differ in " + difference);
}

}  // namespace sluice::cli
