#include "program/toml/toml_table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kInstantExample = "2026-03-01T00:00:00Z";
constexpr int kMinutesPerHour = 60;

/// Returns the instant as RFC 3339, as Timestamp::parse() reads it.
std::string rfc3339(const toml::date_time& at) {
    const int offset = at.offset->minutes;
    const int minutes = offset < 0 ? -offset : offset;
    const auto unsigned_of = [](auto number) { return static_cast<unsigned>(number); };
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04u-%02u-%02uT%02u:%02u:%02u.%09u%c%02d:%02d",
                  unsigned_of(at.date.year), unsigned_of(at.date.month), unsigned_of(at.date.day),
                  unsigned_of(at.time.hour), unsigned_of(at.time.minute),
                  unsigned_of(at.time.second), unsigned_of(at.time.nanosecond),
                  offset < 0 ? '-' : '+', minutes / kMinutesPerHour, minutes % kMinutesPerHour);
    return text.data();
}

}  // namespace

std::uint32_t line_of(const toml::node& node) {
    return node.source().begin.line;
}

void fail(const toml::node& node, const std::string& what) {
    throw TomlMistake{line_of(node), what};
}

TomlTable::TomlTable(const toml::node& node, const std::string& what,
                     std::initializer_list<std::string_view> keys)
    : node_(node) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
        fail(node, "expected a table [[" + what + "]]");
    }
    for (const auto& [key, value] : *table) {
        if (std::ranges::find(keys, key.str()) == keys.end()) {
            throw TomlMistake{key.source().begin.line, "unknown key '" + std::string(key.str()) +
                                                           "'; expected one of " +
                                                           joined(keys, ", ")};
        }
    }
}

const toml::node* TomlTable::find(std::string_view key) const {
    return node_.as_table()->get(key);
}

const toml::node& TomlTable::require(std::string_view key, std::string_view example) const {
    const toml::node* const value = find(key);
    if (value == nullptr) {
        fail(node_, "expected " + std::string(key) + " = " + std::string(example));
    }
    return *value;
}

std::string text_of(const toml::node& node, std::string_view key, std::string_view example) {
    const auto text = node.value_exact<std::string>();
    if (!text) {
        fail(node, std::string(key) + ": expected a string such as " + std::string(example));
    }
    // A rule's value is compared with the shop's exactly (M1), and shops have values with spaces.
    if ((key != "value" && trim_text(*text) != *text) || text->find('\0') != std::string::npos) {
        fail(node, std::string(key) +
                       ": expected no space and no invisible character at the ends, and no U+0000");
    }
    return *text;
}

std::string word_of(const toml::node& node, std::string_view key, std::string_view example) {
    std::string text = text_of(node, key, example);
    if (text.empty()) {
        fail(node, std::string(key) + ": expected a string that is not empty");
    }
    return text;
}

std::string id_of(const toml::node& node, std::string_view key, std::string_view example) {
    std::string id = text_of(node, key, example);
    if (!is_admin_id(id)) {
        fail(node, std::string(key) + ": expected " + std::string(kAdminIdForm));
    }
    return id;
}

const toml::array& list_of(const toml::node& node, std::string_view key, std::string_view example) {
    const toml::array* const list = node.as_array();
    if (list == nullptr) {
        fail(node, std::string(key) + ": expected a list such as " + std::string(example));
    }
    return *list;
}

std::uint32_t days_of(const toml::node& node, std::string_view key) {
    const auto days = node.value_exact<std::int64_t>();
    if (!days || *days < 0 || *days > kProgramDaysMax) {
        fail(node, std::string(key) + ": expected a number of days from 0 to " +
                       std::to_string(kProgramDaysMax));
    }
    return static_cast<std::uint32_t>(*days);
}

bool flag_of(const toml::node& node, std::string_view key) {
    const auto flag = node.value_exact<bool>();
    if (!flag) {
        fail(node, std::string(key) + ": expected true or false");
    }
    return *flag;
}

Rate rate_of(const toml::node& node, std::string_view key) {
    const auto rate =
        parse_rate(text_of(node, key, R"("10%", "1.50 USD", "5.00 USD per order" or "x2")"));
    if (!rate.ok()) {
        fail(node, std::string(key) + ": " + rate.error().message);
    }
    return rate.value();
}

Timestamp instant_of(const toml::node& node, std::string_view key) {
    const auto at = node.value_exact<toml::date_time>();
    const auto instant = at && at->offset ? Timestamp::parse(rfc3339(*at)) : std::nullopt;
    if (!instant) {
        fail(node, std::string(key) + ": expected an instant with its offset, without quotes: " +
                       std::string(kInstantExample));
    }
    return *instant;
}

Money money_of(const toml::node& node, std::string_view key) {
    const auto money = parse_money(text_of(node, key, R"("25.00 EUR")"));
    if (!money || money->amount.is_negative()) {
        fail(node, std::string(key) +
                       ": expected an amount of 0 or more with its currency (\"25.00 EUR\")");
    }
    return *money;
}

std::vector<Money> amounts_of(const toml::node& node, std::string_view key) {
    std::vector<Money> amounts;
    std::set<Currency> seen;
    for (const toml::node& item : list_of(node, key, R"(["25.00 EUR"])")) {
        amounts.push_back(money_of(item, key));
        const Currency currency = amounts.back().currency;
        if (!in_minor_units(amounts.back().amount, currency)) {
            fail(item, std::string(key) + ": expected at most " +
                           std::to_string(currency.minor_units()) + " digits after the point for " +
                           std::string(currency.code()));
        }
        if (!seen.insert(currency).second) {
            fail(item, std::string(key) + ": expected one amount of " +
                           std::string(currency.code()) + ", found two");
        }
    }
    return amounts;
}

Decimal percent_of(const toml::node& node, std::string_view key) {
    const std::string text = text_of(node, key, R"("40%")");
    const auto percent = text.ends_with('%')
                             ? Decimal::parse(std::string_view(text).substr(0, text.size() - 1))
                             : std::nullopt;
    if (!percent) {
        fail(node, std::string(key) + ": expected a percentage (\"40%\")");
    }
    return *percent;
}

std::optional<Error> find_other_encoding(const std::string& name, std::string_view text) {
    for (std::uint32_t line = 1; !text.empty(); ++line) {
        const std::string_view first = text.substr(0, text.find('\n'));
        if (!is_utf8(first)) {
            return error_at(name, line, not_utf8(name, first));
        }
        text.remove_prefix(std::min(first.size() + 1, text.size()));
    }
    return std::nullopt;
}

}  // namespace sluice::cli
