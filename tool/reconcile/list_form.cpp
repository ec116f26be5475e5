#include "tool/reconcile/list_form.hpp"

#include <algorithm>
#include <array>

#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

struct Magic {
    std::string_view bytes;
    const char* what;
};
constexpr std::array<Magic, 7> kMagics{{
    {{"PK\3\4", 4},
     "it is a ZIP archive, as spreadsheets (.xlsx, .ods) are: save the sheet as CSV in UTF-8"},
    {{"\xD0\xCF\x11\xE0", 4}, "it is a spreadsheet (.xls): save the sheet as CSV in UTF-8"},
    {{"\x1F\x8B", 2}, "it is compressed (gzip): unpack it first"},
    {{"%PDF", 4}, "it is a PDF: expected CSV or NDJSON"},
    {{"<", 1}, "it is XML or HTML: expected CSV or NDJSON"},
    {{"\xFF\xFE", 2}, "it is UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`"},
    {{"\xFE\xFF", 2}, "it is UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`"},
}};

/// Every second byte of text in UTF-16 without a byte order mark is 0.
bool looks_like_utf16(std::string_view head) {
    constexpr std::size_t kLooks = 8;
    if (head.size() < kLooks) {
        return false;
    }
    std::array<std::size_t, 2> zeros{};
    for (std::size_t i = 0; i < kLooks; ++i) {
        zeros[i % 2] += head[i] == '\0' ? 1U : 0U;
    }
    return zeros[0] != zeros[1] && std::max(zeros[0], zeros[1]) == kLooks / 2;
}

std::string separator_name(char separator) {
    return separator == '\t' ? "tabs" : "'" + std::string(1, separator) + "'";
}

/// Returns the separator that the header has more often than the one it was read with, or 0.
char other_separator(const std::vector<std::string>& header, char separator) {
    constexpr std::string_view kSeparators = ",;\t|";
    char most = '\0';
    auto count = static_cast<std::ptrdiff_t>(header.size()) - 1;
    for (const char one : kSeparators) {
        std::ptrdiff_t found = 0;
        for (const std::string& cell : header) {
            found += std::ranges::count(cell, one);
        }
        if (one != separator && found > count) {
            most = one;
            count = found;
        }
    }
    return most;
}

}  // namespace

std::string peek_head(std::FILE* file) {
    constexpr std::size_t kHeadBytes = 1024;
    std::string head;
    for (int c = 0; head.size() < kHeadBytes && (c = ::getc_unlocked(file)) != EOF;) {
        head += static_cast<char>(c);
    }
    for (auto c = head.rbegin(); c != head.rend(); ++c) {
        std::ungetc(static_cast<unsigned char>(*c), file);
    }
    return head;
}

Status check_form(const std::string& path, std::string_view head) {
    const auto refuse = [&path](const std::string& what) { return invalid(path + ": " + what); };
    for (const Magic& magic : kMagics) {
        if (head.starts_with(magic.bytes)) {
            return refuse(magic.what);
        }
    }
    if (looks_like_utf16(head)) {
        return refuse("it is UTF-16: convert it with `iconv -f UTF-16LE -t UTF-8`, or UTF-16BE");
    }
    constexpr std::string_view kMark = "\xEF\xBB\xBF", kSpace = " \t\r\n";
    head.remove_prefix(head.starts_with(kMark) ? kMark.size() : 0);
    head.remove_prefix(std::min(head.find_first_not_of(kSpace), head.size()));
    if (head.starts_with('[')) {
        return refuse(
            "it is a JSON array: expected NDJSON, an order on each line, as `jq -c '.[]'` "
            "writes it");
    }
    const std::size_t end = head.find_first_of("\r\n");
    if (head.starts_with('{') && end != std::string_view::npos &&
        head.substr(1, end - 1).find_first_not_of(kSpace) == std::string_view::npos) {
        return refuse(
            "it is JSON over several lines: expected NDJSON, an order on each line, as "
            "`jq -c .` writes it");
    }
    return Status::success();
}

Result<char> parse_separator(std::string_view text) {
    if (text == "tab" || text == "\\t") {
        return '\t';
    }
    constexpr std::string_view kWrong = "\"\r\n";
    if (text.size() != 1 || kWrong.find(text.front()) != std::string_view::npos ||
        static_cast<unsigned char>(text.front()) >= 0x80U) {
        return invalid("expected one character such as ';', or tab");
    }
    return text.front();
}

bool is_separator_line(const std::vector<std::string>& row) {
    constexpr std::string_view kWord = "sep=";
    return !row.empty() && row.size() <= 2 && row.front().starts_with(kWord) &&
           row.front().size() <= kWord.size() + 1;
}

std::string header_words(const std::vector<std::string>& header, char separator) {
    constexpr std::size_t kColumnsMax = 40;
    if (is_separator_line(header)) {
        const char given =
            header.front().size() > 4 ? header.front().back() : separator;  // sep=; or sep=,
        return "its first line is '" + printable(header.front()) + "': read it with --separator " +
               (given == '\t' ? "tab" : separator_name(given));
    }
    if (const char other = other_separator(header, separator); other != '\0') {
        return "its columns are separated by " + separator_name(other) +
               ": read it with --separator " + (other == '\t' ? "tab" : separator_name(other));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(header.size(), kColumnsMax); ++i) {
        text += (i == 0 ? "its columns are '" : ", '") + printable(header[i]) + "'";
    }
    return text.empty() ? "it is empty"
           : header.size() > kColumnsMax
               ? text + " and " + std::to_string(header.size() - kColumnsMax) + " more"
               : text;
}

}  // namespace sluice::cli
