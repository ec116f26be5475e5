#include "core/lists/programs.hpp"

#include <utility>

namespace sluice::lists {
namespace {

Json amounts_of(const std::vector<Money>& amounts) {
    return Json::list(amounts, [](const Money& money) { return to_string(money); });
}

Json tiers_of(const std::vector<Tier>& tiers) {
    return Json::list(tiers, [](const Tier& tier) {
        return Json{{"from", to_string(tier.from)}, {"rate", to_string(tier.rate)}};
    });
}

Json precedence_of(const Program& program) {
    return Json::list(program.precedence, [](AttributionType type) { return to_string(type); });
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

using enum ColumnType;
using enum Scope;
using enum Shown;

/// Every caller who sees a program sees all of it.
const List<ProgramRow>& program_list() {
    using Of = const ProgramRow&;
    static const std::vector<Column> tiers{{"from", kText, kEveryone}, {"rate", kRate, kEveryone}};
    static const List<ProgramRow> list{
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.program.id; }},
        {"account_id", kText, kEveryone, [](Of of) -> Value { return of.program.account_id; }},
        {"shops", kTexts, kEveryone, [](Of of) -> Value { return Json(of.program.shops); }},
        {"starts_at", kTime, kEveryone, [](Of of) -> Value { return of.program.starts_at; },
         kInFilesOnly},
        {"ends_at", kTime, kEveryone, [](Of of) -> Value { return of.program.ends_at; },
         kInFilesOnly},
        {"late_days", kInteger, kEveryone, [](Of of) -> Value { return of.program.late_days; },
         kInFilesOnly},
        {"window_days", kInteger, kEveryone, [](Of of) -> Value { return of.program.window_days; }},
        {"base", kText, kEveryone, [](Of of) -> Value { return to_string(of.program.base); }},
        {"precedence", kTexts, kEveryone, [](Of of) -> Value { return precedence_of(of.program); }},
        {"clearing_days", kInteger, kEveryone,
         [](Of of) -> Value { return of.program.clearing_days; }},
        {"default_rate", kRate, kEveryone,
         [](Of of) -> Value { return to_string(of.program.default_rate); }},
        {"default_tiers", kObjects, kEveryone, tiers,
         [](Of of) -> Value { return tiers_of(of.program.default_tiers); }, kInFilesOnly},
        {"tiers_apply", kText, kEveryone,
         [](Of of) -> Value { return to_string(of.program.tiers_apply); }},
        {"max_per_order", kTexts, kEveryone,
         [](Of of) -> Value { return amounts_of(of.program.max_per_order); }, kInFilesOnly},
        {"rules",
         kObjects,
         kEveryone,
         {{"match", kText, kEveryone},
          {"value", kText, kEveryone},
          {"creator", kText, kEveryone},
          {"group", kText, kEveryone},
          {"customer", kText, kEveryone},
          {"from", kTime, kEveryone},
          {"until", kTime, kEveryone},
          {"min_order_amount", kText, kEveryone},
          {"rate", kRate, kEveryone},
          {"tiers", kObjects, kEveryone, tiers}},
         [](Of of) -> Value { return Json::list(of.program.rules, rule_of); },
         kInFilesOnly},
        {"version", kInteger, kEveryone, [](Of of) -> Value { return of.version; }},
        {"applied_at", kTime, kEveryone, [](Of of) -> Value { return of.applied_at; }}};
    return list;
}

const std::vector<Column>& policy_members() {
    static const std::vector<Column> members{{"min_payout", kTexts, kEveryone},
                                             {"approve_payout_above", kTexts, kEveryone},
                                             {"approve_adjust_above", kTexts, kEveryone},
                                             {"approve_attribution_above", kTexts, kEveryone},
                                             {"approve_run_above", kTexts, kEveryone},
                                             {"approve_rates", kFlag, kEveryone},
                                             {"approve_period_close", kFlag, kEveryone},
                                             {"approve_payees_file", kFlag, kEveryone},
                                             {"approvers", kTexts, kLedger},
                                             {"require_payee", kFlag, kEveryone},
                                             {"approve_payee_change", kFlag, kEveryone},
                                             {"payee_cooling_days", kInteger, kEveryone},
                                             {"payout_day", kInteger, kEveryone},
                                             {"max_rate", kRate, kEveryone},
                                             {"lines_over", kRate, kEveryone},
                                             {"max_share", kRate, kEveryone},
                                             {"amount_limit", kTexts, kEveryone},
                                             {"blocking", kTexts, kEveryone}};
    return members;
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
    const Json object = program_list().object(row);
    Json stated = Json::object();
    for (std::size_t i = 0; i < object.names().size(); ++i) {
        const std::string& name = object.names()[i];
        if (name != "version" && name != "applied_at") {
            stated[name] = object.items()[i];
        }
    }
    return stated;
}

}  // namespace sluice::lists
