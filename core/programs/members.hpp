// Members of programs and policies as JSON (member_writer.hpp): in commands, and in the ledger.
#pragma once

#include "core/json/member_reader.hpp"
#include "core/json/member_writer.hpp"
#include "core/programs/policy.hpp"
#include "core/programs/program.hpp"

namespace sluice {

void each_member(auto& members, Is<Tier> auto& tier) {
    members("from", tier.from);
    members("rate", tier.rate, parse_rate);
}

void each_member(auto& members, Is<Rule> auto& rule) {
    if (members.wants("match", rule.match != RuleMatch::kNoItem)) {
        members("match", rule.match, parse_rule_match);
        members("value", rule.value);
    }
    members.unless_default("creator", rule.creator);
    members.unless_default("group", rule.group);
    members.unless_default("customer", rule.customer, parse_name<CustomerKind>);
    members("from", rule.from);
    members("until", rule.until);
    members("min_order_amount", rule.min_order_amount);
    members("rate", rule.rate, parse_rate);
    members.unless_default("tiers", rule.tiers);
}

template <class Members>
void each_member(Members& members, Is<Program> auto& program) {
    members("id", program.id);
    members("account", program.account_id);
    members("account_number", program.account.value);
    members("shops", program.shops);
    members("window_days", program.window_days);
    members("base", program.base, parse_name<BaseKind>);
    members("precedence", program.precedence, parse_name<AttributionType>);
    members("clearing_days", program.clearing_days);
    members("starts_at", program.starts_at);
    members("ends_at", program.ends_at);
    members("late_days", program.late_days);
    members("default_rate", program.default_rate, parse_rate);
    members.unless_default("default_tiers", program.default_tiers);
    members.unless_default("tiers_apply", program.tiers_apply, parse_name<TiersApply>);
    members.unless_default("max_per_order", program.max_per_order);
    members("rules", program.rules);
    if (Members::kReads && program.account.value == 0) {
        throw Malformed{};
    }
}

template <class Members>
void each_member(Members& members, Is<Policy> auto& policy) {
    members("account", policy.account_id);
    members("account_number", policy.account.value);
    members("min_payout", policy.min_payout);
    members("approve_payout_above", policy.approve_payout_above);
    members("approve_adjust_above", policy.approve_adjust_above);
    members("approve_attribution_above", policy.approve_attribution_above);
    members("approve_run_above", policy.approve_run_above);
    members("approvers", policy.approvers);
    members("require_payee", policy.require_payee);
    members.unless_default("approve_payee_change", policy.approve_payee_change);
    members.unless_default("approve_rates", policy.approve_rates);
    members.unless_default("approve_period_close", policy.approve_period_close);
    members.unless_default("approve_payees_file", policy.approve_payees_file);
    members.unless_default("payee_cooling_days", policy.payee_cooling_days);
    members.unless_default("payout_day", policy.payout_day);
    members("max_rate", policy.max_rate, Decimal::parse);
    members("lines_over", policy.lines_over, Decimal::parse);
    members("max_share", policy.max_share, Decimal::parse);
    members("amount_limit", policy.amount_limit);
    members("blocking", policy.blocking);
    if constexpr (Members::kReads) {
        if (!validate(policy) || policy.account.value == 0) {
            throw Malformed{};
        }
    }
}

}  // namespace sluice
