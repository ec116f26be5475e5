#include "unit/ledger/example_inputs.hpp"

#include <stdexcept>
#include <utility>

#include "core/protocol/personal_ids.hpp"

namespace sluice::test {
namespace {

using nlohmann::json;

std::optional<Timestamp> instant_at(const json& value, const char* name) {
    return value.contains(name) ? std::optional(instant(value.at(name).get<std::string>()))
                                : std::nullopt;
}

Money money_of(const json& value) {
    return parse_money(value.get<std::string>()).value();
}

std::vector<Money> amounts_of(const json& value) {
    std::vector<Money> amounts;
    for (const json& amount : value) {
        amounts.push_back(money_of(amount));
    }
    return amounts;
}

std::vector<Tier> tiers_of(const json& value) {
    std::vector<Tier> tiers;
    for (const json& tier : value) {
        tiers.push_back({money_of(tier.at("from")), parse_rate(text_at(tier, "rate")).value()});
    }
    return tiers;
}

Rule rule_of(const json& value) {
    if (value.is_array()) {
        return rule(*parse_rule_match(value.at(0).get<std::string>()),
                    value.at(1).get<std::string>(), value.at(2).get<std::string>());
    }
    Rule made;
    if (value.contains("match")) {
        made.match = *parse_rule_match(text_at(value, "match"));
        made.value = text_at(value, "value");
    }
    made.rate = parse_rate(text_at(value, "rate")).value();
    made.tiers = tiers_of(value.value("tiers", json::array()));
    made.creator = text_at(value, "creator");
    made.group = text_at(value, "group");
    if (value.contains("customer")) {
        made.customer = *parse_name<CustomerKind>(text_at(value, "customer"));
    }
    made.from = instant_at(value, "from");
    made.until = instant_at(value, "until");
    if (value.contains("min_order_amount")) {
        made.min_order_amount = money_of(value.at("min_order_amount"));
    }
    return made;
}

Program program_of(const json& value) {
    const Result<Rate> rate = parse_rate(text_at(value, "default_rate"));
    if (!rate) {
        throw RefusedFile("program " + text_at(value, "id") + ": " + rate.error().message);
    }
    Program made = program(text_at(value, "id"), text_at(value, "default_rate"));
    if (text_at(value, "account") == "other") {
        made.account_id = AccountId("other");
        made.account = {2};
    }
    made.window_days = value.value("window_days", made.window_days);
    made.clearing_days = value.value("clearing_days", made.clearing_days);
    made.late_days = value.value("late_days", made.late_days);
    made.starts_at = instant_at(value, "starts_at");
    made.ends_at = instant_at(value, "ends_at");
    made.base = *parse_name<BaseKind>(text_at(value, "base", "net"));
    made.shops = value.value("shops", std::vector<std::string>{});
    made.default_tiers = tiers_of(value.value("default_tiers", json::array()));
    made.tiers_apply = *parse_name<TiersApply>(text_at(value, "tiers_apply", "order"));
    made.max_per_order = amounts_of(value.value("max_per_order", json::array()));
    if (value.contains("precedence")) {
        made.precedence.clear();
        for (const json& type : value.at("precedence")) {
            made.precedence.push_back(*parse_name<AttributionType>(type.get<std::string>()));
        }
    }
    for (const json& row : value.value("rules", json::array())) {
        made.rules.push_back(rule_of(row));
    }
    return made;
}

Decimal percent_at(const json& value, const char* name, Decimal fallback) {
    return value.contains(name) ? parse_rate(text_at(value, name)).value().value : fallback;
}

Policy policy_of(const json& value, const std::string& account) {
    Policy policy;
    policy.account_id = AccountId(account);
    policy.account = {account == "other" ? 2U : 1U};
    policy.min_payout = amounts_of(value.value("min_payout", json::array()));
    for (const auto& [name, above] :
         {std::pair("approve_payout_above", &policy.approve_payout_above),
          std::pair("approve_adjust_above", &policy.approve_adjust_above),
          std::pair("approve_attribution_above", &policy.approve_attribution_above),
          std::pair("approve_run_above", &policy.approve_run_above)}) {
        if (value.contains(name)) {
            *above = amounts_of(value.at(name));
        }
    }
    policy.approve_payee_change = value.value("approve_payee_change", false);
    policy.approve_rates = value.value("approve_rates", false);
    policy.approve_period_close = value.value("approve_period_close", false);
    policy.payee_cooling_days = value.value("payee_cooling_days", 0U);
    policy.payout_day = value.value("payout_day", 0U);
    policy.approvers = value.value("approvers", std::vector<std::string>{});
    policy.require_payee = value.value("require_payee", false);
    policy.max_rate = percent_at(value, "max_rate", policy.max_rate);
    policy.lines_over = percent_at(value, "lines_over", policy.lines_over);
    policy.max_share = percent_at(value, "max_share", policy.max_share);
    policy.amount_limit = amounts_of(value.value("amount_limit", json::array()));
    if (value.contains("blocking")) {
        policy.blocking = value.at("blocking").get<std::vector<std::string>>();
    }
    return policy;
}

ProgramApply apply_of(const json& step) {
    ProgramApply command;
    for (const json& value : step.value("programs", json::array())) {
        command.programs.push_back(program_of(value));
    }
    if (step.contains("policy") && !step.at("policy").is_null()) {
        command.policies.push_back(policy_of(step.at("policy"), text_at(step, "account", "acme")));
    }
    command.effective_from = instant_at(step, "effective_from");
    return command;
}

std::optional<std::string> optional_at(const json& value, const char* name) {
    return value.contains(name) ? std::optional(value.at(name).get<std::string>()) : std::nullopt;
}

CreatorImport import_of(const json& step) {
    CreatorImport command;
    for (const json& value : step.at("creators")) {
        CreatorImport::Row row;
        row.line = static_cast<std::uint32_t>(command.rows.size() + 2);
        const bool list = value.is_array();
        row.creator = CreatorId(list ? value.at(0).get<std::string>() : text_at(value, "creator"));
        row.program = ProgramId(list ? value.at(1).get<std::string>() : text_at(value, "program"));
        row.code = list ? value.at(2).get<std::string>() : text_at(value, "code");
        if (!list) {
            row.group = optional_at(value, "group");
            row.valid_from = instant_at(value, "valid_from");
            row.valid_until = instant_at(value, "valid_until");
            row.name = optional_at(value, "name");
            row.payee = optional_at(value, "payee");
        }
        command.rows.push_back(std::move(row));
    }
    command.effective_from = instant_at(step, "effective_from");
    return command;
}

ClickImport clicks_of(const json& step) {
    ClickImport command;
    for (const json& row : step.at("clicks")) {
        command.rows.push_back(
            {static_cast<std::uint32_t>(command.rows.size() + 2),
             anon_digest(row.at(0).get<std::string>()), CreatorId(row.at(1).get<std::string>()),
             ProgramId(row.at(2).get<std::string>()), instant(row.at(3).get<std::string>())});
    }
    command.effective_from = instant_at(step, "effective_from");
    return command;
}

LinkSet link_of(const json& value) {
    LinkSet::Row row;
    row.link = LinkId(text_at(value, "link"));
    if (value.contains("creator")) {
        row.creator = CreatorId(text_at(value, "creator"));
        row.program = ProgramId(text_at(value, "program"));
    }
    row.destination = optional_at(value, "to");
    const LinkVerb verb = parse_name<LinkVerb>(text_at(value, "verb")).value();
    if (verb == LinkVerb::kCreate || value.contains("deep")) {
        row.deep = value.value("deep", false);
    }
    return {verb, {row}};
}

HoldTarget target_of(const json& value) {
    HoldTarget target;
    if (value.contains("order")) {
        target.order = OrderId(text_at(value, "order"));
    } else {
        target.creator = CreatorId(text_at(value, "creator"));
        target.program = ProgramId(text_at(value, "program"));
    }
    return target;
}

Release release_of(const json& value) {
    const std::string of = text_at(value, "of");
    return {target_of(value), of == "hold"     ? ReleaseOf::kHold
                              : of == "reject" ? ReleaseOf::kReject
                                               : ReleaseOf::kWhatThereIs};
}

Detach detach_of(const json& value, const ExampleNames& names) {
    Detach command;
    if (value.contains("order")) {
        command.order = OrderId(text_at(value, "order"));
    } else {
        command.cause = names.full(text_at(value, "cause"));
    }
    command.retry = value.value("retry", false);
    return command;
}

Credit credit_of(const json& value) {
    Credit command;
    command.creator = CreatorId(text_at(value, "creator"));
    command.program = ProgramId(text_at(value, "program"));
    command.amount = money_of(value.at("amount"));
    if (value.contains("order")) {
        command.order = OrderId(text_at(value, "order"));
    }
    command.sale_at = instant_at(value, "sale_at");
    return command;
}

OpeningImport opening_of(const json& value) {
    OpeningImport command;
    command.at = instant(text_at(value, "at"));
    std::uint32_t line = 1;
    for (const json& row : value.at("rows")) {
        command.rows.push_back({++line, CreatorId(text_at(row, "creator")),
                                ProgramId(text_at(row, "program")), money_of(row.at("amount"))});
    }
    return command;
}

CreatorRemove remove_of(const json& row) {
    CreatorRemove command;
    command.creator = CreatorId(row.at(0).get<std::string>());
    command.program = ProgramId(row.at(1).get<std::string>());
    if (row.size() > 2) {
        command.code = row.at(2).get<std::string>();
    }
    if (row.size() > 3) {
        command.at = instant(row.at(3).get<std::string>());
    }
    return command;
}

CreatorSet set_of(const json& value) {
    CreatorSet command;
    command.creator = CreatorId(text_at(value, "creator"));
    command.name = optional_at(value, "name");
    command.payee = optional_at(value, "payee");
    if (value.contains("program")) {
        command.program = ProgramId(text_at(value, "program"));
    }
    command.group = optional_at(value, "group");
    return command;
}

/// Any secret does: another one for each forget.
Forget forget_of(const json& value) {
    static std::uint32_t drawn = 0;
    const std::string by = value.begin().key();
    return {*parse_name<ForgetBy>(by), text_at(value, by.c_str()), sha256(std::to_string(++drawn))};
}

PayoutMove move_of(PayoutVerb verb, const json& ids, const ExampleNames& names) {
    PayoutMove command;
    command.verb = verb;
    for (const json& id : ids) {
        command.ids.push_back(names.full(id.get<std::string>()));
    }
    return command;
}

std::optional<Command> payout_command(const json& step, const ExampleNames& names) {
    for (const PayoutVerb verb :
         {PayoutVerb::kSent, PayoutVerb::kSettle, PayoutVerb::kVoid, PayoutVerb::kFailed,
          PayoutVerb::kReturned, PayoutVerb::kRepoint}) {
        const std::string name(to_string(verb));
        if (step.contains(name)) {
            return move_of(verb, step.at(name), names);
        }
    }
    if (step.contains("approve")) {
        return Approve{names.full(text_at(step, "approve")), {}, text_at(step, "signature", "")};
    }
    if (step.contains("withdraw")) {
        return Withdraw{names.full(text_at(step, "withdraw"))};
    }
    return std::nullopt;
}

std::optional<Command> order_command(const json& step, const ExampleNames& names) {
    if (step.contains("hold")) {
        return Hold{target_of(step.at("hold"))};
    }
    if (step.contains("release")) {
        return release_of(step.at("release"));
    }
    if (step.contains("reject")) {
        return Reject{OrderId(text_at(step.at("reject"), "order"))};
    }
    if (step.contains("attribute")) {
        const json& value = step.at("attribute");
        return Attribute{OrderId(text_at(value, "order")), CreatorId(text_at(value, "creator")),
                         ProgramId(text_at(value, "program")), value.value("replace", false)};
    }
    if (step.contains("detach")) {
        return detach_of(step.at("detach"), names);
    }
    if (step.contains("ack")) {
        return AnomalyAck{OrderId(text_at(step.at("ack"), "order")),
                          text_at(step.at("ack"), "kind")};
    }
    if (step.contains("reset")) {
        return OrderReset{OrderId(text_at(step.at("reset"), "order")),
                          instant_at(step.at("reset"), "version")};
    }
    return std::nullopt;
}

std::optional<Command> money_command(const json& step, const ExampleNames& names) {
    if (step.contains("adjust")) {
        return Adjust{OrderId(step.at("adjust").at(0).get<std::string>()),
                      *Decimal::parse_signed(step.at("adjust").at(1).get<std::string>())};
    }
    if (step.contains("credit")) {
        return credit_of(step.at("credit"));
    }
    if (step.contains("opening")) {
        return opening_of(step.at("opening"));
    }
    if (step.contains("write_off")) {
        const json& value = step.at("write_off");
        WriteOff off{CreatorId(text_at(value, "creator")), ProgramId(text_at(value, "program"))};
        if (value.contains("amount")) {
            off.amount = money_of(value.at("amount"));
        }
        if (value.contains("currency")) {
            off.currency = Currency::parse(text_at(value, "currency"));
        }
        return off;
    }
    if (step.contains("reverse")) {
        return Reverse{names.full(text_at(step, "reverse"))};
    }
    if (step.contains("period")) {
        return PeriodClose{instant(text_at(step.at("period"), "until")),
                           step.at("period").value("allow_late", false)};
    }
    return std::nullopt;
}

}  // namespace

std::string ExampleNames::full(const std::string& word) const {
    for (const auto* names : {&payouts, &commands}) {
        const auto found = names->find(word);
        if (found != names->end()) {
            return found->second;
        }
    }
    return word;
}

std::string text_at(const json& object, const char* name, std::string fallback) {
    return object.contains(name) ? object.at(name).get<std::string>() : std::move(fallback);
}

PayoutClose close_of(const json& value, const ExampleNames& names, Timestamp now) {
    PayoutClose close;
    close.until = instant_at(value, "until").value_or(now);
    for (const json& id : value.value("programs", json::array())) {
        close.programs.emplace_back(id.get<std::string>());
    }
    for (const json& id : value.value("creators", json::array())) {
        close.creators.emplace_back(id.get<std::string>());
    }
    for (const json& id : value.value("exclude", json::array())) {
        close.excluded.emplace_back(id.get<std::string>());
    }
    close.ignore_minimum = value.value("ignore_minimum", false);
    if (value.contains("expect")) {
        const std::string given = text_at(value, "expect");
        const auto named = names.digests.find(given);
        close.expect = named == names.digests.end() ? given : named->second;
    }
    return close;
}

Command command_of(const json& step, const ExampleNames& names, Timestamp now) {
    if (step.contains("programs") || step.contains("policy")) {
        return apply_of(step);
    }
    if (step.contains("creators")) {
        return import_of(step);
    }
    if (step.contains("clicks")) {
        return clicks_of(step);
    }
    if (step.contains("link")) {
        return link_of(step.at("link"));
    }
    if (step.contains("remove")) {
        return remove_of(step.at("remove"));
    }
    if (step.contains("close")) {
        return close_of(step.at("close"), names, now);
    }
    if (step.contains("set")) {
        return set_of(step.at("set"));
    }
    if (step.contains("rename")) {
        return CreatorRename{CreatorId(step.at("rename").at(0).get<std::string>()),
                             CreatorId(step.at("rename").at(1).get<std::string>())};
    }
    if (step.contains("forget")) {
        return forget_of(step.at("forget"));
    }
    for (const auto& found :
         {payout_command(step, names), order_command(step, names), money_command(step, names)}) {
        if (found) {
            return *found;
        }
    }
    throw std::invalid_argument("no such step: " + step.dump());
}

namespace {

std::string decimal_sum(const std::vector<std::string>& amounts) {
    Decimal sum;
    for (const std::string& amount : amounts) {
        sum += *Decimal::parse(amount);
    }
    return sum.to_string();
}

LineText line_of(const json& value) {
    LineText line;
    line.id = text_at(value, "id", line.id);
    line.amount = text_at(value, "amount", line.amount);
    line.tax = text_at(value, "tax", line.tax);
    line.quantity = text_at(value, "quantity", line.quantity);
    line.sku = text_at(value, "sku", line.sku);
    line.variant_sku = text_at(value, "variant_sku");
    return line;
}

RefundText refund_of(const json& value) {
    RefundText refund;
    refund.id = text_at(value, "id", refund.id);
    refund.line = text_at(value, "line", refund.line);
    refund.amount = text_at(value, "amount");
    refund.tax = text_at(value, "tax", refund.tax);
    refund.quantity = text_at(value, "quantity", refund.quantity);
    return refund;
}

}  // namespace

std::optional<SourceText> source_of(const json& step) {
    if (!step.contains("source")) {
        return std::nullopt;
    }
    const json& source = step.at("source");
    return SourceText{*parse_name<Platform>(text_at(source, "platform")),
                      text_at(source, "triggered_at")};
}

std::vector<RecordedClick> posted_clicks(const json& rows) {
    std::vector<RecordedClick> clicks;
    for (const json& row : rows) {
        clicks.push_back(
            {anon_digest(row.at(0).get<std::string>()), instant(row.at(3).get<std::string>()),
             LinkId(row.size() > 4 ? row.at(4).get<std::string>() : ""),
             ProgramId(row.at(2).get<std::string>()), CreatorId(row.at(1).get<std::string>())});
    }
    return clicks;
}

std::vector<RecordedClick> followed_links(const json& rows) {
    std::vector<RecordedClick> clicks;
    for (const json& row : rows) {
        clicks.push_back({anon_digest(row.at(0).get<std::string>()),
                          instant(row.at(1).get<std::string>()),
                          LinkId(row.at(2).get<std::string>()), ProgramId(), CreatorId()});
    }
    return clicks;
}

OrderText order_of(const json& value) {
    OrderText order;
    order.id = text_at(value, "id", order.id);
    order.ordered = text_at(value, "ordered", order.ordered);
    order.updated = text_at(value, "updated", order.ordered);
    order.notes = value.value("notes", std::vector<std::string>{});
    order.cancelled = text_at(value, "cancelled");
    order.currency = text_at(value, "currency", order.currency);
    order.codes = value.value("codes", std::vector<std::string>{});
    order.customer = text_at(value, "customer");
    order.email = text_at(value, "email");
    order.phone = text_at(value, "phone");
    order.lines.clear();
    std::vector<std::string> amounts, taxes;
    for (const json& line : value.at("lines")) {
        order.lines.push_back(line_of(line));
        amounts.push_back(order.lines.back().amount);
        taxes.push_back(order.lines.back().tax);
    }
    order.amount = text_at(value, "amount", decimal_sum(amounts));
    order.tax = text_at(value, "tax", decimal_sum(taxes));
    for (const json& refund : value.value("refunds", json::array())) {
        order.refunds.push_back(refund_of(refund));
    }
    return order;
}

}  // namespace sluice::test
