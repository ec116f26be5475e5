#include "core/lists/programs.hpp"

namespace sluice::lists {

namespace {

Json amounts_of(const std::vector<Money>& amounts) {
    return Json::list(amounts, [](const Money& money) { return to_string(money); });
}

Json precedence_of(const Program& program) {
    return Json::list(program.precedence, [](AttributionType type) { return to_string(type); });
}

/// Returns what every item is as an object of the list.
template <class Of>
Json objects(const List<Of>& list, const std::vector<Of>& items) {
    return Json::list(items, [&list](const Of& of) { return list.object(of); });
}

const List<Tier>& tier_list() {
    using Of = const Tier&;
    static const List<Tier> list{
        {"from", kText, kEveryone, [](Of of) -> Value { return to_string(of.from); }},
        {"rate", kRate, kEveryone, [](Of of) -> Value { return to_string(of.rate); }}};
    return list;
}

bool has_item(const Rule& rule) {
    return rule.match != RuleMatch::kNoItem;
}

const List<Rule>& rule_list() {
    using Of = const Rule&;
    static const List<Rule> list{
        {"match", kText, kEveryone,
         [](Of of) { return has_item(of) ? Value(to_string(of.match)) : Value(); }},
        {"value", kText, kEveryone, [](Of of) { return has_item(of) ? Value(of.value) : Value(); }},
        {"creator", kText, kEveryone, [](Of of) { return or_null(of.creator); }},
        {"group", kText, kEveryone, [](Of of) { return or_null(of.group); }},
        {"customer", kText, kEveryone,
         [](Of of) {
             return of.customer == CustomerKind::kUnknown ? Value() : Value(to_string(of.customer));
         }},
        {"from", kTime, kEveryone, [](Of of) -> Value { return of.from; }},
        {"until", kTime, kEveryone, [](Of of) -> Value { return of.until; }},
        {"min_order_amount", kText, kEveryone,
         [](Of of) {
             return of.min_order_amount ? Value(to_string(*of.min_order_amount)) : Value();
         }},
        {"rate", kRate, kEveryone, [](Of of) -> Value { return to_string(of.rate); }},
        {"tiers", kObjects, kEveryone, tier_list().columns(),
         [](Of of) -> Value { return objects(tier_list(), of.tiers); }}};
    return list;
}

Json limit_of(const std::optional<std::vector<Money>>& amounts) {
    return amounts ? amounts_of(*amounts) : Json();
}

std::vector<std::string> blocking_kinds_of(const AccountSettings& settings) {
    std::vector<std::string> kinds;
    each_kind(settings.blocking,
              [&kinds](AnomalyKind kind) { kinds.emplace_back(to_string(kind)); });
    return kinds;
}

}  // namespace

/// Every caller who sees a program sees all of it.
const List<ProgramRow>& program_list() {
    using Of = const ProgramRow&;
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
        {"default_tiers", kObjects, kEveryone, tier_list().columns(),
         [](Of of) -> Value { return objects(tier_list(), of.program.default_tiers); },
         kInFilesOnly},
        {"tiers_apply", kText, kEveryone,
         [](Of of) -> Value { return to_string(of.program.tiers_apply); }},
        {"max_per_order", kTexts, kEveryone,
         [](Of of) -> Value { return amounts_of(of.program.max_per_order); }, kInFilesOnly},
        {"rules", kObjects, kEveryone, rule_list().columns(),
         [](Of of) -> Value { return objects(rule_list(), of.program.rules); }, kInFilesOnly},
        {"version", kInteger, kEveryone, [](Of of) -> Value { return of.version; }},
        {"applied_at", kTime, kEveryone, [](Of of) -> Value { return of.applied_at; }}};
    return list;
}

const List<AccountSettings>& policy_list() {
    using Of = const AccountSettings&;
    static const List<AccountSettings> list{
        {"min_payout", kTexts, kEveryone,
         [](Of of) -> Value { return amounts_of(of.policy.min_payout); }},
        {"approve_payout_above", kTexts, kEveryone,
         [](Of of) -> Value { return limit_of(of.policy.approve_payout_above); }},
        {"approve_adjust_above", kTexts, kEveryone,
         [](Of of) -> Value { return limit_of(of.policy.approve_adjust_above); }},
        {"approve_attribution_above", kTexts, kEveryone,
         [](Of of) -> Value { return limit_of(of.policy.approve_attribution_above); }},
        {"approve_run_above", kTexts, kEveryone,
         [](Of of) -> Value { return limit_of(of.policy.approve_run_above); }},
        {"approve_rates", kFlag, kEveryone, [](Of of) -> Value { return of.policy.approve_rates; }},
        {"approve_period_close", kFlag, kEveryone,
         [](Of of) -> Value { return of.policy.approve_period_close; }},
        {"approve_payees_file", kFlag, kEveryone,
         [](Of of) -> Value { return of.policy.approve_payees_file; }},
        {"approvers", kTexts, kLedger, [](Of of) -> Value { return of.policy.approvers; }},
        {"require_payee", kFlag, kEveryone, [](Of of) -> Value { return of.policy.require_payee; }},
        {"approve_payee_change", kFlag, kEveryone,
         [](Of of) -> Value { return of.policy.approve_payee_change; }},
        {"payee_cooling_days", kInteger, kEveryone,
         [](Of of) -> Value { return of.policy.payee_cooling_days; }},
        {"payout_day", kInteger, kEveryone,
         [](Of of) -> Value {
             return of.policy.payout_day == 0 ? Value() : Value(of.policy.payout_day);
         }},
        {"max_rate", kRate, kEveryone,
         [](Of of) -> Value { return of.policy.max_rate.to_string() + "%"; }},
        {"lines_over", kRate, kEveryone,
         [](Of of) -> Value { return of.policy.lines_over.to_string() + "%"; }},
        {"max_share", kRate, kEveryone,
         [](Of of) -> Value { return of.policy.max_share.to_string() + "%"; }},
        {"amount_limit", kTexts, kEveryone,
         [](Of of) -> Value { return amounts_of(of.policy.amount_limit); }},
        {"blocking", kTexts, kEveryone, [](Of of) -> Value { return blocking_kinds_of(of); }}};
    return list;
}

Json policy_object(const AccountSettings& settings) {
    return policy_list().object(settings);
}

Json program_object(const Program& program) {
    ProgramRow row{.program = program};
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
