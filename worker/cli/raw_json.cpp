#include "worker/cli/raw_json.hpp"

#include <cstddef>

#include "core/values/assert.hpp"

namespace sluice::cli {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Walks over JSON text token by token.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) { skip_space(); }

    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
    [[nodiscard]] char peek() const {
        SLUICE_ASSERT(!at_end());
        return text_[at_];
    }
    void skip(char expected) {
        SLUICE_ASSERT(peek() == expected);
        ++at_;
        skip_space();
    }
    /// A string, number or word.
    std::string_view scalar() {
        const std::size_t begin = at_;
        at_ = peek() == '"' ? end_of_string() : end_of_word();
        const std::string_view token = text_.substr(begin, at_ - begin);
        skip_space();
        return token;
    }

private:
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }
    [[nodiscard]] std::size_t end_of_string() const {
        std::size_t at = at_ + 1;
        while (at < text_.size() && text_[at] != '"') {
            at += text_[at] == '\\' ? 2u : 1u;
        }
        SLUICE_ASSERT(at < text_.size());
        return at + 1;
    }
    [[nodiscard]] std::size_t end_of_word() const {
        const std::size_t end = text_.find_first_of(",:{}[]\" \t\r\n", at_);
        return end == std::string_view::npos ? text_.size() : end;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void break_line(std::string& out, unsigned level) {
    out += '\n';
    out.append(std::size_t{2} * level, ' ');
}

}  // namespace

std::string indented(std::string_view json, unsigned level) {
    std::string out;
    Scanner scanner(json);
    while (!scanner.at_end()) {
        const char c = scanner.peek();
        if (c == '{' || c == '[') {
            const char closing = c == '{' ? '}' : ']';
            scanner.skip(c);
            out += c;
            if (scanner.peek() == closing) {
                scanner.skip(closing);
                out += closing;
                continue;
            }
            break_line(out, ++level);
        } else if (c == '}' || c == ']') {
            scanner.skip(c);
            break_line(out, --level);
            out += c;
        } else if (c == ',') {
            scanner.skip(c);
            out += c;
            break_line(out, level);
        } else if (c == ':') {
            scanner.skip(c);
            out += ": ";
        } else {
            out += scanner.scalar();
        }
    }
    return out;
}

}  // namespace sluice::cli
