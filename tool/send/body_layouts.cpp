#include "tool/send/body_layouts.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/json/document.hpp"
#include "core/json/slices.hpp"
#include "program/cli/output.hpp"
#include "program/system/encoding.hpp"

namespace sluice::cli {
namespace {

/// `{ } [ ]`, a key or a string (decoded), or any other scalar as it is written.
struct Token {
    enum class Kind : std::uint8_t { kOpen, kClose, kKey, kString, kPlain };
    Kind kind;
    std::string text;
};
using Tokens = std::vector<Token>;

/// Requires: `json` is valid. Numbers keep their digits.
Tokens tokens_of(std::string_view json) {
    Tokens tokens;
    for (std::size_t at = 0; at < json.size();) {
        const char c = json[at];
        if (c == '"') {
            std::size_t end = at + 1;
            while (json[end] != '"') {
                end += json[end] == '\\' ? 2U : 1U;
            }
            ++end;
            const std::string text = json_string(json.substr(at, end - at));
            const std::size_t next = json.find_first_not_of(" \t\r\n", end);
            const bool key = next != std::string_view::npos && json[next] == ':';
            tokens.push_back({key ? Token::Kind::kKey : Token::Kind::kString, text});
            at = end;
        } else if (c == '{' || c == '[') {
            tokens.push_back({Token::Kind::kOpen, std::string(1, c)});
            ++at;
        } else if (c == '}' || c == ']') {
            tokens.push_back({Token::Kind::kClose, std::string(1, c)});
            ++at;
        } else if (std::string_view(" \t\r\n,:").find(c) != std::string_view::npos) {
            ++at;
        } else {
            const std::size_t end = std::min(json.find_first_of(" \t\r\n,]}", at), json.size());
            tokens.push_back({Token::Kind::kPlain, std::string(json.substr(at, end - at))});
            at = end;
        }
    }
    return tokens;
}

/// An object or array that is being read: its members, each with all its tokens.
struct Container {
    std::string open;
    std::vector<Tokens> members;

    void add(const Tokens& value) {
        const bool behind_key = !members.empty() && members.back().size() == 1 &&
                                members.back().front().kind == Token::Kind::kKey;
        if (!behind_key) {
            members.emplace_back();
        }
        members.back().insert(members.back().end(), value.begin(), value.end());
    }
    [[nodiscard]] Tokens closed(const Token& close) {
        if (open == "{") {
            std::ranges::stable_sort(members, [](const Tokens& a, const Tokens& b) {
                return a.front().text < b.front().text;
            });
        }
        Tokens all{{Token::Kind::kOpen, open}};
        for (const Tokens& member : members) {
            all.insert(all.end(), member.begin(), member.end());
        }
        all.push_back(close);
        return all;
    }
};

/// Returns the tokens with the keys of every object in the order of their bytes.
Tokens sorted(const Tokens& tokens) {
    std::vector<Container> open(1);
    for (const Token& token : tokens) {
        if (token.kind == Token::Kind::kOpen) {
            open.push_back({token.text, {}});
        } else if (token.kind == Token::Kind::kClose) {
            const Tokens done = open.back().closed(token);
            open.pop_back();
            open.back().add(done);
        } else {
            open.back().add({token});
        }
    }
    return open.front().members.empty() ? Tokens() : open.front().members.front();
}

struct Spacing {
    std::string_view comma, colon;
    unsigned indent;  ///< Spaces of each level; 0 means one line.
    std::string_view words;
};
constexpr std::array<Spacing, 5> kSpacings{{
    {",", ":", 0, "without spaces"},
    {", ", ": ", 0, "with a space behind each comma and colon (Python's json.dumps)"},
    {",", ": ", 0, "with a space behind each colon"},
    {",", ": ", 2, "indented by 2"},
    {",", ": ", 4, "indented by 4"},
}};

struct Escaping {
    bool ascii, slash, html;
    std::string_view words;
};
constexpr std::array<Escaping, 5> kEscapings{{
    {false, false, false, "plain UTF-8"},
    {true, false, false, "other than ASCII as \\u escapes"},
    {true, true, false, "other than ASCII as \\u escapes, / as \\/ (PHP's json_encode)"},
    {false, true, false, "/ as \\/"},
    {false, false, true, "<, > and & as \\u escapes (Go's json.Marshal)"},
}};

std::string written(const std::string& text, const Escaping& escaping) {
    const std::string plain =
        json_quoted(text, escaping.ascii ? JsonEscapes::kNonAscii : JsonEscapes::kNeeded);
    std::string out;
    for (const char c : plain) {
        if (c == '/' && escaping.slash) {
            out += "\\/";
        } else if ((c == '<' || c == '>' || c == '&') && escaping.html) {
            out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
        } else {
            out += c;
        }
    }
    return out;
}

std::string laid_out(const Tokens& tokens, const Spacing& spacing, const Escaping& escaping) {
    std::string out;
    std::size_t level = 0;
    bool first = true;  // of its container
    bool behind_key = false;
    const auto new_line = [&] {
        if (spacing.indent > 0) {
            out += '\n' + std::string(spacing.indent * level, ' ');
        }
    };
    for (const Token& token : tokens) {
        if (token.kind == Token::Kind::kClose) {
            --level;
            if (!first) {
                new_line();
            }
            out += token.text;
            first = false;
            behind_key = false;
            continue;
        }
        if (!behind_key && level > 0) {
            out += first ? "" : spacing.comma;
            new_line();
        }
        const bool text = token.kind == Token::Kind::kKey || token.kind == Token::Kind::kString;
        out += text ? written(token.text, escaping) : token.text;
        behind_key = token.kind == Token::Kind::kKey;
        out += behind_key ? spacing.colon : std::string_view();
        first = token.kind == Token::Kind::kOpen;
        level += first ? 1U : 0U;
    }
    return out;
}

using Encoded = std::pair<std::string, std::string_view>;

std::vector<Encoded> encodings(std::string_view body, bool is_json) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    std::vector<Encoded> forms;
    if (body.starts_with(kMark)) {
        forms.emplace_back(body.substr(kMark.size()), "without the byte order mark");
    } else {
        forms.emplace_back(std::string(kMark) + std::string(body), "with a byte order mark");
    }
    const auto add = [&](const char* from, const char* to, std::string_view words) {
        if (auto form = recoded(body, from, to)) {
            forms.emplace_back(*std::move(form), words);
        }
    };
    add("ISO-8859-1", "UTF-8", "as UTF-8, and sent as Latin-1");
    add("UTF-8", "ISO-8859-1", "as Latin-1, and sent as UTF-8");
    if (is_json) {
        add("UTF-8", "UTF-16LE", "as UTF-16, and sent as UTF-8");
    }
    return forms;
}

}  // namespace

std::string find_signed_layout(std::string_view body,
                               const std::function<bool(const std::string&)>& try_body) {
    JsonDocument document;
    const bool is_json = document.parse(body);
    for (const auto& [form, words] : encodings(body, is_json)) {
        if (form != body && try_body(form)) {
            return std::string(words);
        }
    }
    if (!is_json) {
        return {};
    }
    const Tokens as_sent = tokens_of(body);
    const std::array<std::pair<Tokens, const char*>, 2> orders{
        {{as_sent, ""}, {sorted(as_sent), ", keys sorted"}}};
    for (const auto& [tokens, order] : orders) {
        for (const Spacing& spacing : kSpacings) {
            for (const Escaping& escaping : kEscapings) {
                const std::string form = laid_out(tokens, spacing, escaping);
                if (form != body && try_body(form)) {
                    return std::string(spacing.words) + ", " + std::string(escaping.words) + order;
                }
            }
        }
    }
    return {};
}

}  // namespace sluice::cli
