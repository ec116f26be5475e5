#include "tool/setup/program_file.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/approvals/signed_approval.hpp"
#include "core/journal/journal.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/toml/toml_table.hpp"

namespace sluice::cli {

namespace {

/// Returns what `read` returns of each item of a list, or fails if two are the same.
/// @param noun  An item, for the message.
template <class Read>
auto distinct_of(const toml::node& node, const std::string& key, const char* example,
                 const char* noun, Read read) {
    std::vector<std::invoke_result_t<Read, const toml::node&>> values;
    for (const toml::node& item : list_of(node, key, example)) {
        values.push_back(read(item));
        if (std::ranges::count(values, values.back()) > 1) {
            fail(item, key + ": expected each " + noun + " once");
        }
    }
    return values;
}

/// Returns the value that a word names, or fails with the words that are expected.
template <class Value>
Value named_of(const toml::node& node, std::string_view key, std::string_view example,
               const char* expected) {
    const auto value = parse_name<Value>(text_of(node, key, example));
    if (!value) {
        fail(node, std::string(key) + ": expected " + expected);
    }
    return *value;
}

std::string approver_of(const toml::node& item) {
    std::string name = word_of(item, "approvers", R"("frank")");
    if (const auto approver = parse_approver(name); !approver.ok()) {
        fail(item, approver.error().message);
    }
    return name;
}

std::uint32_t payout_day_of(const toml::node& node, std::string_view key) {
    const auto day = node.value_exact<std::int64_t>();
    if (!day || *day < 1 || *day > kPayoutDayMax) {
        fail(node, std::string(key) + ": expected a day of the month from 1 to " +
                       std::to_string(kPayoutDayMax) + ", such as 5");
    }
    return static_cast<std::uint32_t>(*day);
}

std::string anomaly_kind_of(const toml::node& item) {
    std::string kind = word_of(item, "blocking", R"("CANCEL_NOT_LATER")");
    if (!parse_name<AnomalyKind>(kind)) {
        fail(item, "blocking: expected kinds of anomalies, such as \"CANCEL_NOT_LATER\"");
    }
    return kind;
}

FiledPolicy policy_of(const toml::node& node) {
    const TomlTable table(
        node, "policy",
        {"account", "min_payout", "approve_payout_above", "approve_adjust_above",
         "approve_attribution_above", "approve_run_above", "approve_rates", "approve_period_close",
         "approve_payees_file", "approvers", "require_payee", "approve_payee_change",
         "payee_cooling_days", "payout_day", "max_rate", "lines_over", "max_share", "amount_limit",
         "blocking"});
    FiledPolicy filed;
    const toml::node& account = table.require("account", R"("acme")");
    filed.policy.account_id = AccountId(id_of(account, "account", R"("acme")"));
    filed.account_line = line_of(account);
    table.read_if("min_payout", filed.policy.min_payout, amounts_of);
    table.read_if("approve_payout_above", filed.policy.approve_payout_above, amounts_of);
    table.read_if("approve_adjust_above", filed.policy.approve_adjust_above, amounts_of);
    table.read_if("approve_attribution_above", filed.policy.approve_attribution_above, amounts_of);
    table.read_if("approve_run_above", filed.policy.approve_run_above, amounts_of);
    if (const toml::node* const approvers = table.find("approvers")) {
        filed.policy.approvers =
            distinct_of(*approvers, "approvers", R"(["frank", "gina"])", "name", approver_of);
    }
    table.read_if("require_payee", filed.policy.require_payee, flag_of);
    table.read_if("approve_payee_change", filed.policy.approve_payee_change, flag_of);
    table.read_if("approve_rates", filed.policy.approve_rates, flag_of);
    table.read_if("approve_period_close", filed.policy.approve_period_close, flag_of);
    table.read_if("approve_payees_file", filed.policy.approve_payees_file, flag_of);
    table.read_if("payee_cooling_days", filed.policy.payee_cooling_days, days_of);
    table.read_if("payout_day", filed.policy.payout_day, payout_day_of);
    table.read_if("max_rate", filed.policy.max_rate, percent_of);
    table.read_if("lines_over", filed.policy.lines_over, percent_of);
    table.read_if("max_share", filed.policy.max_share, percent_of);
    table.read_if("amount_limit", filed.policy.amount_limit, amounts_of);
    if (const toml::node* const blocking = table.find("blocking")) {
        filed.policy.blocking =
            distinct_of(*blocking, "blocking", R"(["CANCEL_NOT_LATER"])", "kind", anomaly_kind_of);
    }
    if (const Status checked = validate(filed.policy); !checked.ok()) {
        fail(node, checked.error().message);
    }
    return filed;
}

AttributionType attribution_type_of(const toml::node& item) {
    constexpr const char* kExpected = R"("AFFILIATE_CODE" or "LANDED")";
    const auto type = named_of<AttributionType>(item, "precedence", R"("LANDED")", kExpected);
    if (type == AttributionType::kManual) {
        fail(item, std::string("precedence: expected ") + kExpected);
    }
    return type;
}

std::vector<AttributionType> precedence_of(const toml::node& node, std::string_view key) {
    std::vector<AttributionType> types = distinct_of(
        node, std::string(key), R"(["AFFILIATE_CODE", "LANDED"])", "type", attribution_type_of);
    if (types.empty()) {
        fail(node, R"(precedence: expected "AFFILIATE_CODE", "LANDED" or both)");
    }
    return types;
}

/// The program that is being read: its rates are noted as they are found.
class ProgramReader {
public:
    explicit ProgramReader(const toml::node& node)
        : table_(node, "program",
                 {"id", "account", "shops", "starts_at", "ends_at", "late_days", "window_days",
                  "base", "precedence", "clearing_days", "default_rate", "default_tiers",
                  "tiers_apply", "max_per_order", "rule"}) {}

    FiledProgram read() {
        read_names();
        read_dates();
        read_settings();
        read_rates();
        if (const toml::node* const node = table_.find("rule")) {
            for (const toml::node& rule : list_of(*node, "rule", "[[program.rule]]")) {
                program_.rules.push_back(rule_of(rule));
            }
        }
        if (const Status checked = validate(program_); !checked.ok()) {
            fail(table_.node(), checked.error().message);
        }
        return std::move(filed_);
    }

private:
    void read_names() {
        program_.id = ProgramId(id_of(table_.require("id", R"("spring")"), "id", R"("spring")"));
        const toml::node& account = table_.require("account", R"("acme")");
        program_.account_id = AccountId(id_of(account, "account", R"("acme")"));
        filed_.account_line = line_of(account);
        if (const toml::node* const shops = table_.find("shops")) {
            program_.shops = distinct_of(*shops, "shops", R"(["shop-1"])", "shop",
                                         [this](const toml::node& item) {
                                             filed_.shop_lines.push_back(line_of(item));
                                             return id_of(item, "shops", R"("shop-1")");
                                         });
        }
    }

    void read_dates() {
        table_.read_if("starts_at", program_.starts_at, instant_of);
        if (const toml::node* const node = table_.find("ends_at")) {
            program_.ends_at = instant_of(*node, "ends_at");
            if (program_.starts_at && *program_.ends_at <= *program_.starts_at) {
                fail(*node, "ends_at: expected an instant after starts_at, " +
                                program_.starts_at->to_string());
            }
        }
        table_.read_if("late_days", program_.late_days, days_of);
    }

    void read_settings() {
        table_.read_if("window_days", program_.window_days, days_of);
        table_.read_if("clearing_days", program_.clearing_days, days_of);
        table_.read_if("base", program_.base, named_of<BaseKind>, R"("net")",
                       R"("net" or "gross")");
        table_.read_if("precedence", program_.precedence, precedence_of);
        table_.read_if("max_per_order", program_.max_per_order, amounts_of);
    }

    void read_rates() {
        program_.default_rate =
            noted_rate(table_.require("default_rate", R"("10%")"), "default_rate", "default_rate");
        read_tiers(table_, "default_tiers", program_.default_tiers);
        table_.read_if("tiers_apply", program_.tiers_apply, named_of<TiersApply>, R"("month")",
                       R"("order" or "month")");
    }

    Rate noted_rate(const toml::node& node, std::string_view key, const std::string& field) {
        Rate rate = rate_of(node, key);
        filed_.rates.push_back({line_of(node), field, rate});
        return rate;
    }

    void read_tiers(const TomlTable& table, const char* key, std::vector<Tier>& tiers) {
        table.read_if(key, tiers, [this](const toml::node& node, std::string_view name) {
            return tiers_of(node, std::string(name));
        });
    }

    std::vector<Tier> tiers_of(const toml::node& node, const std::string& key) {
        std::vector<Tier> tiers;
        std::map<Currency, Decimal> highest;
        const auto& list = list_of(node, key, R"([{ from = "1000.00 EUR", rate = "12%" }])");
        for (const toml::node& item : list) {
            const TomlTable table(item, key, {"from", "rate"});
            const toml::node& from = table.require("from", R"("1000.00 EUR")");
            Tier tier{money_of(from, "from"), {}};
            const auto [last, first] = highest.try_emplace(tier.from.currency, tier.from.amount);
            if (!first && tier.from.amount <= last->second) {
                fail(from, key + ": expected tiers of " + std::string(tier.from.currency.code()) +
                               " that rise; " + to_string(tier.from) + " follows " +
                               last->second.to_string());
            }
            last->second = tier.from.amount;
            tier.rate = noted_rate(table.require("rate", R"("12%")"), "rate", key + ": rate");
            tiers.push_back(tier);
        }
        if (tiers.size() > kTiersMax) {
            fail(node, key + ": expected at most " + std::to_string(kTiersMax) + " tiers");
        }
        return tiers;
    }

    static void read_item(const TomlTable& table, Rule& rule) {
        const toml::node* const match_node = table.find("match");
        if (match_node == nullptr) {
            if (const toml::node* const value = table.find("value")) {
                fail(*value, "value: expected match = \"collection\" or another kind beside it");
            }
            return;
        }
        const auto match = parse_rule_match(text_of(*match_node, "match", R"("collection")"));
        if (!match) {
            fail(*match_node,
                 "match: expected variant_sku, sku, sku_pattern, product, collection, brand or tag "
                 "in quotes");
        }
        rule.match = *match;
        rule.value = word_of(table.require("value", R"("sale")"), "value", R"("sale")");
    }

    static void read_qualifiers(const TomlTable& table, Rule& rule) {
        table.read_if("creator", rule.creator, id_of, R"("ann")");
        table.read_if("group", rule.group, id_of, R"("gold")");
        table.read_if("customer", rule.customer, named_of<CustomerKind>, R"("new")",
                      R"("new" or "returning")");
        table.read_if("from", rule.from, instant_of);
        if (const toml::node* const node = table.find("until")) {
            rule.until = instant_of(*node, "until");
            if (rule.from && *rule.until <= *rule.from) {
                fail(*node, "until: expected an instant after from, " + rule.from->to_string());
            }
        }
        table.read_if("min_order_amount", rule.min_order_amount, money_of);
    }

    Rule rule_of(const toml::node& node) {
        const TomlTable table(node, "program.rule",
                              {"match", "value", "creator", "group", "customer", "from", "until",
                               "min_order_amount", "rate", "tiers"});
        Rule rule;
        read_item(table, rule);
        read_qualifiers(table, rule);
        if (rule.match == RuleMatch::kNoItem && rule.qualifiers() == 0) {
            fail(node,
                 "rule: expected an item (match and value), a qualifier (creator, group, customer, "
                 "from, until, min_order_amount), or both");
        }
        rule.rate = noted_rate(table.require("rate", R"("5%")"), "rate", "rate");
        read_tiers(table, "tiers", rule.tiers);
        return rule;
    }

    static constexpr std::size_t kTiersMax = 255;  ///< A frozen rate numbers them by one byte.

    const TomlTable table_;
    FiledProgram filed_;
    Program& program_ = filed_.program;
};

void read_programs(const toml::node& list, ProgramFile& file) {
    std::set<ProgramId> seen;
    for (const toml::node& node : list_of(list, "program", "[[program]]")) {
        file.programs.push_back(ProgramReader(node).read());
        if (!seen.insert(file.programs.back().program.id).second) {
            fail(node,
                 "program " + file.programs.back().program.id.str() + " is in this file twice");
        }
    }
}

void read_policies(const toml::node& list, ProgramFile& file) {
    std::set<AccountId> seen;
    for (const toml::node& node : list_of(list, "policy", "[[policy]]")) {
        file.policies.push_back(policy_of(node));
        if (!seen.insert(file.policies.back().policy.account_id).second) {
            fail(node, "account " + file.policies.back().policy.account_id.str() +
                           " has two policies in this file");
        }
    }
}

ProgramFile read_file(const toml::table& table) {
    const TomlTable root(table, "program", {"policy", "program"});
    ProgramFile file;
    if (const toml::node* const policies = root.find("policy")) {
        read_policies(*policies, file);
    }
    if (const toml::node* const programs = root.find("program")) {
        read_programs(*programs, file);
    }
    if (file.programs.empty() && file.policies.empty()) {
        throw TomlMistake{1, "expected at least one [[program]] or [[policy]]"};
    }
    return file;
}

}  // namespace

Result<ProgramFile> parse_program_file(const std::string& name, std::string_view text) {
    return parse_toml(name, text, read_file);
}

Status check_rates(const std::string& name, const FiledProgram& filed, const Decimal& max_rate) {
    for (const FiledRate& factor : filed.rates) {
        for (const FiledRate& rate : filed.rates) {
            const Rate product = factor.rate.kind == RateKind::kMultiplier
                                     ? multiplied(rate.rate, factor.rate)
                                     : Rate{};
            if (product.kind == RateKind::kPercent && product.value > max_rate) {
                return error_at(name, factor.line,
                                factor.field + ": " + to_string(factor.rate) + " of " +
                                    to_string(rate.rate) + " in line " + std::to_string(rate.line) +
                                    " is above the account's max_rate; expected at most " +
                                    max_rate.to_string() + "%");
            }
        }
    }
    for (const FiledRate& rate : filed.rates) {
        if (rate.rate.kind == RateKind::kPercent && rate.rate.value > max_rate) {
            return error_at(name, rate.line,
                            rate.field + ": " + to_string(rate.rate) +
                                " is above the account's max_rate; expected at most " +
                                max_rate.to_string() + "%");
        }
    }
    return {};
}

}  // namespace sluice::cli
