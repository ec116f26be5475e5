#include "core/reports/programs.hpp"

#include <utility>

namespace sluice::reports {
namespace {

Json amounts_of(const std::vector<Money>& amounts) {
    return Json::list(amounts, [](const Money& money) { return to_string(money); });
}

Json tiers_of(const std::vector<Tier>& tiers) {
    return Json::list(tiers, [](const Tier& tier) {
        return Json{{"from", to_string(tier.from)}, {"rate", to_string(tier.rate)}};
    });
}

Json rule_of(const Rule& rule) {
    const bool has_item = rule.match != RuleMatch::kNoItem;
    return {{"match", has_item ? Json(to_string(rule.match)) : Json()},
            {"value", has_item ? Json(rule.value) : Json()},
            {"creator", text_or_null(rule.creator)},
            {"group", text_or_null(rule.group)},
            {"customer",
             rule.customer == CustomerKind::kUnknown ? Json() : Json(to_string(rule.customer))},
            {"from", rule.from},
            {"until", rule.until},
            {"min_order_amount",
             rule.min_order_amount ? Json(to_string(*rule.min_order_amount)) : Json()},
            {"rate", to_string(rule.rate)},
            {"tiers", tiers_of(rule.tiers)}};
}

Json limit_of(const std::optional<std::vector<Money>>& amounts) {
    return amounts ? amounts_of(*amounts) : Json();
}

}  // namespace

std::vector<Column> program_columns() {
    return {{"program_id"},
            {"account_id"},
            {"shops"},
            {"starts_at", Align::kLeft, false},
            {"ends_at", Align::kLeft, false},
            {"late_days", Align::kRight, false},
            {"window_days", Align::kRight},
            {"base"},
            {"precedence"},
            {"clearing_days", Align::kRight},
            {"default_rate", Align::kRight},
            {"default_tiers", Align::kLeft, false},
            {"max_per_order", Align::kLeft, false},
            {"rules", Align::kLeft, false},
            {"version", Align::kRight},
            {"applied_at"}};
}

Row program_row(const ProgramRow& row) {
    const Program& program = row.program;
    return {program.id.str(),
            program.account_id.str(),
            program.shops,
            program.starts_at,
            program.ends_at,
            program.late_days,
            program.window_days,
            to_string(program.base),
            Json::list(program.precedence, [](AttributionType type) { return to_string(type); }),
            program.clearing_days,
            to_string(program.default_rate),
            tiers_of(program.default_tiers),
            amounts_of(program.max_per_order),
            Json::list(program.rules, rule_of),
            row.version,
            row.applied_at.to_string()};
}

Json policy_object(const AccountSettings& settings) {
    const Policy& policy = settings.policy;
    Json blocking = Json::array();
    for (unsigned kind = 1; kind < kAnomalyKinds; ++kind) {
        if ((settings.blocking & bit(static_cast<AnomalyKind>(kind))) != 0) {
            blocking.push_back(to_string(static_cast<AnomalyKind>(kind)));
        }
    }
    return {{"min_payout", amounts_of(policy.min_payout)},
            {"approve_payout_above", limit_of(policy.approve_payout_above)},
            {"approve_adjust_above", limit_of(policy.approve_adjust_above)},
            {"approve_attribution_above", limit_of(policy.approve_attribution_above)},
            {"approve_run_above", limit_of(policy.approve_run_above)},
            {"approve_rates", policy.approve_rates},
            {"approve_period_close", policy.approve_period_close},
            {"approve_payees_file", policy.approve_payees_file},
            {"approvers", policy.approvers},
            {"require_payee", policy.require_payee},
            {"approve_payee_change", policy.approve_payee_change},
            {"payee_cooling_days", policy.payee_cooling_days},
            {"payout_day", policy.payout_day == 0 ? Json() : Json(policy.payout_day)},
            {"max_rate", policy.max_rate.to_string() + "%"},
            {"lines_over", policy.lines_over.to_string() + "%"},
            {"max_share", policy.max_share.to_string() + "%"},
            {"amount_limit", amounts_of(policy.amount_limit)},
            {"blocking", std::move(blocking)}};
}

Json program_object(const Program& program) {
    ProgramRow row;
    row.program = program;
    const Json object = object_of(program_columns(), program_row(row));
    Json stated = Json::object();
    for (std::size_t i = 0; i < object.names().size(); ++i) {
        const std::string& name = object.names()[i];
        if (name != "version" && name != "applied_at") {
            stated[name] = object.items()[i];
        }
    }
    return stated;
}

}  // namespace sluice::reports
