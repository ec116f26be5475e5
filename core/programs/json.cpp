#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/programs/policy.hpp"
#include "core/programs/program.hpp"

namespace sluice {
namespace {

using namespace json_reader;  // NOLINT(google-build-using-namespace)

void write_instant(JsonWriter& writer, std::string_view name, const std::optional<Timestamp>& at) {
    if (at) {
        writer.field(name, at->to_string());
    }
}

void write_text(JsonWriter& writer, std::string_view name, const std::string& text) {
    if (!text.empty()) {
        writer.field(name, text);
    }
}

void write_amounts(JsonWriter& writer, std::string_view name, const std::vector<Money>& list) {
    writer.key(name).begin_array();
    for (const Money& money : list) {
        writer.value(to_string(money));
    }
    writer.end_array();
}

void write_tiers(JsonWriter& writer, std::string_view name, const std::vector<Tier>& tiers) {
    if (tiers.empty()) {
        return;
    }
    writer.key(name).begin_array();
    for (const Tier& tier : tiers) {
        writer.begin_object().field("from", to_string(tier.from));
        writer.field("rate", to_string(tier.rate)).end_object();
    }
    writer.end_array();
}

void write_rule(JsonWriter& writer, const Rule& rule) {
    writer.begin_object();
    if (rule.match != RuleMatch::kNoItem) {
        writer.field("match", to_string(rule.match)).field("value", rule.value);
    }
    write_text(writer, "creator", rule.creator);
    write_text(writer, "group", rule.group);
    if (rule.customer != CustomerKind::kUnknown) {
        writer.field("customer", to_string(rule.customer));
    }
    write_instant(writer, "from", rule.from);
    write_instant(writer, "until", rule.until);
    if (rule.min_order_amount) {
        writer.field("min_order_amount", to_string(*rule.min_order_amount));
    }
    writer.field("rate", to_string(rule.rate));
    write_tiers(writer, "tiers", rule.tiers);
    writer.end_object();
}

template <class Decode>
auto parsed(std::string_view json, Decode decode) -> std::optional<decltype(decode(element()))> {
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    try {
        return decode(root);
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

std::vector<Tier> tiers_of(const element& object, std::string_view name) {
    if (!optional_field(object, name)) {
        return {};
    }
    return list_of(object, name, [](const element& tier) {
        return Tier{money_of(field(tier, "from")),
                    require(parse_rate(text_of(field(tier, "rate"))))};
    });
}

Rule rule_of(const element& value) {
    Rule rule;
    if (const auto match = optional_text(value, "match")) {
        rule.match = require(parse_rule_match(*match));
        rule.value = text_of(field(value, "value"));
    }
    rule.creator = optional_text(value, "creator").value_or("");
    rule.group = optional_text(value, "group").value_or("");
    if (const auto customer = optional_text(value, "customer")) {
        rule.customer = require(parse_customer_kind(*customer));
    }
    rule.from = optional_instant(value, "from");
    rule.until = optional_instant(value, "until");
    if (const auto amount = optional_text(value, "min_order_amount")) {
        rule.min_order_amount = require(parse_money(*amount));
    }
    rule.rate = require(parse_rate(text_of(field(value, "rate"))));
    rule.tiers = tiers_of(value, "tiers");
    return rule;
}

void read_dates(const element& value, Program& program) {
    program.starts_at = optional_instant(value, "starts_at");
    program.ends_at = optional_instant(value, "ends_at");
    program.late_days = number32_of(field(value, "late_days"));
    program.default_tiers = tiers_of(value, "default_tiers");
    if (optional_field(value, "max_per_order")) {
        program.max_per_order = list_of(value, "max_per_order", money_of);
    }
}

Decimal percent_of(const element& value) {
    return require(Decimal::parse(text_of(value)));
}

}  // namespace

void write_program(JsonWriter& writer, const Program& program) {
    writer.begin_object().field("id", program.id.view());
    writer.field("account", program.account_id.view());
    writer.field("account_number", program.account.value).key("shops").begin_array();
    for (const std::string& shop : program.shops) {
        writer.value(shop);
    }
    writer.end_array().field("window_days", program.window_days);
    writer.field("base", to_string(program.base)).key("precedence").begin_array();
    for (const AttributionType type : program.precedence) {
        writer.value(to_string(type));
    }
    writer.end_array().field("clearing_days", program.clearing_days);
    write_instant(writer, "starts_at", program.starts_at);
    write_instant(writer, "ends_at", program.ends_at);
    writer.field("late_days", program.late_days);
    writer.field("default_rate", to_string(program.default_rate));
    write_tiers(writer, "default_tiers", program.default_tiers);
    if (!program.max_per_order.empty()) {
        write_amounts(writer, "max_per_order", program.max_per_order);
    }
    writer.key("rules").begin_array();
    for (const Rule& rule : program.rules) {
        write_rule(writer, rule);
    }
    writer.end_array().end_object();
}

std::string encode_program(const Program& program) {
    std::string json;
    JsonWriter writer(json);
    write_program(writer, program);
    return json;
}

std::optional<Program> decode_program(std::string_view json) {
    return parsed(json, [](const element& value) {
        Program program;
        program.id = ProgramId(text_of(field(value, "id")));
        program.account_id = AccountId(text_of(field(value, "account")));
        program.account.value = number32_of(field(value, "account_number"));
        program.shops =
            list_of(value, "shops", [](const element& shop) { return std::string(text_of(shop)); });
        program.window_days = number32_of(field(value, "window_days"));
        program.base = require(parse_base_kind(text_of(field(value, "base"))));
        program.precedence = list_of(value, "precedence", [](const element& type) {
            return require(parse_attribution_type(text_of(type)));
        });
        program.clearing_days = number32_of(field(value, "clearing_days"));
        read_dates(value, program);
        program.default_rate = require(parse_rate(text_of(field(value, "default_rate"))));
        program.rules = list_of(value, "rules", rule_of);
        if (program.account.value == 0) {
            throw Malformed{};
        }
        return program;
    });
}

void write_policy(JsonWriter& writer, const Policy& policy) {
    writer.begin_object().field("account", policy.account_id.view());
    writer.field("account_number", policy.account.value);
    write_amounts(writer, "min_payout", policy.min_payout);
    for (const auto& [name, above] :
         {std::pair("approve_payout_above", &policy.approve_payout_above),
          std::pair("approve_adjust_above", &policy.approve_adjust_above),
          std::pair("approve_attribution_above", &policy.approve_attribution_above),
          std::pair("approve_run_above", &policy.approve_run_above)}) {
        if (*above) {
            write_amounts(writer, name, **above);
        }
    }
    writer.key("approvers").begin_array();
    for (const std::string& actor : policy.approvers) {
        writer.value(actor);
    }
    writer.end_array().field("require_payee", policy.require_payee);
    for (const auto& [name, is_set] :
         {std::pair("approve_payee_change", policy.approve_payee_change),
          std::pair("approve_rates", policy.approve_rates),
          std::pair("approve_period_close", policy.approve_period_close)}) {
        if (is_set) {
            writer.field(name, true);
        }
    }
    if (policy.payee_cooling_days != 0) {
        writer.field("payee_cooling_days", policy.payee_cooling_days);
    }
    writer.field("max_rate", policy.max_rate.to_string());
    writer.field("lines_over", policy.lines_over.to_string());
    writer.field("max_share", policy.max_share.to_string());
    write_amounts(writer, "amount_limit", policy.amount_limit);
    if (policy.blocking) {
        writer.key("blocking").begin_array();
        for (const std::string& kind : *policy.blocking) {
            writer.value(kind);
        }
        writer.end_array();
    }
    writer.end_object();
}

std::string encode_policy(const Policy& policy) {
    std::string json;
    JsonWriter writer(json);
    write_policy(writer, policy);
    return json;
}

std::optional<Policy> decode_policy(std::string_view json) {
    return parsed(json, [](const element& value) {
        const auto text = [](const element& item) { return std::string(text_of(item)); };
        Policy policy;
        policy.account_id = AccountId(text_of(field(value, "account")));
        policy.account.value = number32_of(field(value, "account_number"));
        policy.min_payout = list_of(value, "min_payout", money_of);
        for (const auto& [name, above] :
             {std::pair("approve_payout_above", &policy.approve_payout_above),
              std::pair("approve_adjust_above", &policy.approve_adjust_above),
              std::pair("approve_attribution_above", &policy.approve_attribution_above),
              std::pair("approve_run_above", &policy.approve_run_above)}) {
            if (optional_field(value, name)) {
                *above = list_of(value, name, money_of);
            }
        }
        policy.approvers = list_of(value, "approvers", text);
        policy.require_payee = flag_of(value, "require_payee");
        for (const auto& [name, flag] :
             {std::pair("approve_payee_change", &policy.approve_payee_change),
              std::pair("approve_rates", &policy.approve_rates),
              std::pair("approve_period_close", &policy.approve_period_close)}) {
            *flag = optional_field(value, name) && flag_of(value, name);
        }
        if (const auto days = optional_field(value, "payee_cooling_days")) {
            policy.payee_cooling_days = number32_of(*days);
        }
        policy.max_rate = percent_of(field(value, "max_rate"));
        policy.lines_over = percent_of(field(value, "lines_over"));
        policy.max_share = percent_of(field(value, "max_share"));
        policy.amount_limit = list_of(value, "amount_limit", money_of);
        if (optional_field(value, "blocking")) {
            policy.blocking = list_of(value, "blocking", text);
        }
        if (!validate(policy) || policy.account.value == 0) {
            throw Malformed{};
        }
        return policy;
    });
}

}  // namespace sluice
