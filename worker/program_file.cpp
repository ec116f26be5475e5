#include "worker/program_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <set>

namespace sluice::cli {
namespace {

/// Leaves the parser at the first mistake; caught in parse_program_file().
struct Mistake {
    std::uint32_t line;
    std::string what;
};

std::uint32_t line_of(const toml::node& node) {
    return node.source().begin.line;
}

[[noreturn]] void fail(const toml::node& node, const std::string& what) {
    throw Mistake{line_of(node), what};
}

std::string joined(std::initializer_list<std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) {
        text += (text.empty() ? "" : ", ") + std::string(name);
    }
    return text;
}

/// One table of the file. Every read names its key when something is wrong with it.
class Table {
public:
    Table(const toml::node& node, const std::string& what,
          std::initializer_list<std::string_view> keys)
        : node_(node) {
        if (!node.is_table()) {
            fail(node, "expected a table [[" + what + "]]");
        }
        for (const auto& [key, value] : table()) {
            if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
                throw Mistake{key.source().begin.line, "unknown key '" + std::string(key.str()) +
                                                           "'; expected one of " + joined(keys)};
            }
        }
    }

    [[nodiscard]] const toml::node* find(std::string_view key) const { return table().get(key); }

    [[nodiscard]] const toml::node& require(std::string_view key, std::string_view example) const {
        const toml::node* const value = find(key);
        if (value == nullptr) {
            fail(node_, "expected " + std::string(key) + " = " + std::string(example));
        }
        return *value;
    }

private:
    [[nodiscard]] const toml::table& table() const { return *node_.as_table(); }

    const toml::node& node_;
};

std::string text_of(const toml::node& node, std::string_view key, std::string_view example) {
    const auto text = node.value_exact<std::string>();
    if (!text) {
        fail(node, std::string(key) + ": expected a string such as " + std::string(example));
    }
    return *text;
}

std::string id_of(const toml::node& node, std::string_view key, std::string_view example) {
    std::string id = text_of(node, key, example);
    if (!is_admin_id(id)) {
        fail(node, std::string(key) + ": expected 1 to 128 of A-Z a-z 0-9 . _ - : @ + / =");
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

Rate rate_of(const toml::node& node, std::string_view key) {
    const auto rate = parse_rate(text_of(node, key, R"("10%" or "1.50 USD")"));
    if (!rate.ok()) {
        fail(node, std::string(key) + ": " + rate.error().message);
    }
    return rate.value();
}

BaseKind base_of(const toml::node& node) {
    const auto base = parse_base_kind(text_of(node, "base", R"("net")"));
    if (!base) {
        fail(node, R"(base: expected "net" or "gross")");
    }
    return *base;
}

std::vector<AttributionType> precedence_of(const toml::node& node) {
    std::vector<AttributionType> types;
    for (const toml::node& item : list_of(node, "precedence", R"(["AFFILIATE_CODE", "LANDED"])")) {
        const auto type = parse_attribution_type(text_of(item, "precedence", R"("LANDED")"));
        if (!type) {
            fail(item, R"(precedence: expected "AFFILIATE_CODE" or "LANDED")");
        }
        if (std::find(types.begin(), types.end(), *type) != types.end()) {
            fail(item, "precedence: expected each type once");
        }
        types.push_back(*type);
    }
    return types;
}

Rule rule_of(const toml::node& node) {
    const Table table(node, "program.rule", {"match", "value", "rate"});
    Rule rule;
    const toml::node& match_node = table.require("match", R"("collection")");
    const auto match = parse_rule_match(text_of(match_node, "match", R"("collection")"));
    if (!match || *match == RuleMatch::kDefault) {
        fail(match_node,
             "match: expected variant_sku, sku, product, collection, brand or tag in quotes");
    }
    rule.match = *match;
    const toml::node& value_node = table.require("value", R"("sale")");
    rule.value = text_of(value_node, "value", R"("sale")");
    if (rule.value.empty()) {
        fail(value_node, "value: expected a string that is not empty");
    }
    rule.rate = rate_of(table.require("rate", R"("5%")"), "rate");
    return rule;
}

void read_shops(const toml::node& node, FiledProgram& filed) {
    for (const toml::node& item : list_of(node, "shops", R"(["shop-1"])")) {
        filed.program.shops.push_back(id_of(item, "shops", R"("shop-1")"));
        filed.shop_lines.push_back(line_of(item));
    }
}

void read_settings(const Table& table, Program& program) {
    if (const toml::node* const node = table.find("window_days")) {
        program.window_days = days_of(*node, "window_days");
    }
    if (const toml::node* const node = table.find("hold_days")) {
        program.hold_days = days_of(*node, "hold_days");
    }
    if (const toml::node* const node = table.find("base")) {
        program.base = base_of(*node);
    }
    if (const toml::node* const node = table.find("precedence")) {
        program.precedence = precedence_of(*node);
    }
    program.default_rate = rate_of(table.require("default_rate", R"("10%")"), "default_rate");
    if (const toml::node* const node = table.find("rule")) {
        for (const toml::node& rule : list_of(*node, "rule", "[[program.rule]]")) {
            program.rules.push_back(rule_of(rule));
        }
    }
}

FiledProgram program_of(const toml::node& node) {
    const Table table(node, "program",
                      {"id", "account", "shops", "window_days", "base", "precedence", "hold_days",
                       "default_rate", "rule"});
    FiledProgram filed;
    filed.line = line_of(node);
    filed.program.id = ProgramId(id_of(table.require("id", R"("spring")"), "id", R"("spring")"));
    const toml::node& account = table.require("account", R"("acme")");
    filed.program.account_id = AccountId(id_of(account, "account", R"("acme")"));
    filed.account_line = line_of(account);
    if (const toml::node* const shops = table.find("shops")) {
        read_shops(*shops, filed);
    }
    read_settings(table, filed.program);
    if (const Status checked = validate(filed.program); !checked.ok()) {
        fail(node, checked.error().message);
    }
    return filed;
}

std::vector<FiledProgram> programs_of(const toml::table& file) {
    const Table root(file, "program", {"program"});
    const toml::node* const list = root.find("program");
    if (list == nullptr) {
        throw Mistake{1, "expected at least one [[program]]"};
    }
    std::vector<FiledProgram> programs;
    std::set<ProgramId> seen;
    for (const toml::node& node : list_of(*list, "program", "[[program]]")) {
        programs.push_back(program_of(node));
        if (!seen.insert(programs.back().program.id).second) {
            fail(node, "program " + programs.back().program.id.str() + " is in this file twice");
        }
    }
    if (programs.empty()) {
        fail(*list, "expected at least one [[program]]");
    }
    return programs;
}

Error error_at(const std::string& name, std::uint32_t line, const std::string& what) {
    return {ErrorCode::kInvalid, name + ":" + std::to_string(line) + ": " + what};
}

}  // namespace

Result<std::vector<FiledProgram>> parse_program_file(const std::string& name,
                                                     std::string_view text) {
    try {
        return programs_of(toml::parse(text));
    } catch (const toml::parse_error& error) {
        return error_at(name, error.source().begin.line, std::string(error.description()));
    } catch (const Mistake& mistake) {
        return error_at(name, mistake.line, mistake.what);
    }
}

}  // namespace sluice::cli
