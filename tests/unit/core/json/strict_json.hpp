// A second, independent reader of JSON, to hold sluice's acceptance against: nlohmann's grammar,
// and on top of it, event by event, the limits that the protocol sets.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sluice::test {

/// Sees every token; what breaks a limit stops the parse.
class StrictJson : public nlohmann::json_sax<nlohmann::json> {
public:
    static constexpr std::size_t kLevelsMax = 64;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t& text) override {
        return text.find_first_of(".eE") != string_t::npos;  // Else an integer beyond 64 bits.
    }
    bool string(string_t& text) override { return text.find('\0') == string_t::npos; }
    bool binary(binary_t&) override { return false; }
    bool key(string_t& text) override { return string(text); }
    bool start_object(std::size_t) override { return ++level_ <= kLevelsMax; }
    bool end_object() override { return level_-- > 0; }
    bool start_array(std::size_t) override { return ++level_ <= kLevelsMax; }
    bool end_array() override { return level_-- > 0; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    std::size_t level_ = 0;
};

/// Whether the protocol takes the text for JSON at all. (nlohmann's reader skips a BOM, and takes a
/// NUL byte for the end.)
inline bool is_strict_json(std::string_view text) {
    StrictJson reader;
    return !text.starts_with("\xef\xbb\xbf") && text.find('\0') == std::string_view::npos &&
           nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
}

}  // namespace sluice::test
