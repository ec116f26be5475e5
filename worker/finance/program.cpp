// sluice program apply|preview|show|list
#include "core/ledger/rows.hpp"
#include "core/rules/account.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/finance/finance.hpp"
#include "worker/reports/report.hpp"
#include "worker/setup/import.hpp"

namespace sluice::cli {
namespace {

struct ApplyCommand {
    std::string file;
    std::optional<Timestamp> effective_from;
    SubmitOptions submit;
    DryRunOptions dry_run;
};

struct ShowCommand {
    ProgramId program;
    ListOptions list;
};

Status run_apply(const Frame& frame, const ApplyCommand& command) {
    auto apply = read_program_apply(frame, command.file, command.submit.ledger_url);
    if (!apply.ok()) {
        return apply.error();
    }
    apply->effective_from = command.effective_from;
    return submit_or_try(frame, apply.value(), command.submit, command.dry_run);
}

Json amounts_of(const std::vector<Money>& amounts) {
    Json list = Json::array();
    for (const Money& money : amounts) {
        list.push_back(to_string(money));
    }
    return list;
}

Json tiers_of(const std::vector<Tier>& tiers) {
    Json list = Json::array();
    for (const Tier& tier : tiers) {
        list.push_back({{"from", to_string(tier.from)}, {"rate", to_string(tier.rate)}});
    }
    return list;
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

Row row_of(const ProgramRow& row) {
    const Program& program = row.program;
    Json precedence = Json::array();
    for (const AttributionType type : program.precedence) {
        precedence.push_back(to_string(type));
    }
    Json rules = Json::array();
    for (const Rule& rule : program.rules) {
        rules.push_back(rule_of(rule));
    }
    return {program.id.str(),
            program.account_id.str(),
            program.shops,
            program.starts_at,
            program.ends_at,
            program.late_days,
            program.window_days,
            to_string(program.base),
            std::move(precedence),
            program.clearing_days,
            to_string(program.default_rate),
            tiers_of(program.default_tiers),
            amounts_of(program.max_per_order),
            std::move(rules),
            row.version,
            row.applied_at.to_string()};
}

Json limit_of(const std::optional<std::vector<Money>>& amounts) {
    return amounts ? amounts_of(*amounts) : Json();
}

}  // namespace

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
            {"approvers", policy.approvers},
            {"require_payee", policy.require_payee},
            {"approve_payee_change", policy.approve_payee_change},
            {"payee_cooling_days", policy.payee_cooling_days},
            {"max_rate", policy.max_rate.to_string() + "%"},
            {"lines_over", policy.lines_over.to_string() + "%"},
            {"max_share", policy.max_share.to_string() + "%"},
            {"amount_limit", amounts_of(policy.amount_limit)},
            {"blocking", std::move(blocking)}};
}

Json program_object(const Program& program) {
    ProgramRow row;
    row.program = program;
    Json object = object_of(program_columns(), row_of(row));
    Json stated = Json::object();
    for (std::size_t i = 0; i < object.names().size(); ++i) {
        const std::string& name = object.names()[i];
        if (name != "version" && name != "applied_at") {
            stated[name] = object.items()[i];
        }
    }
    return stated;
}

namespace {

Status run_show(const Frame& frame, const ShowCommand& command) {
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) -> Status {
        const std::optional<ProgramRow> row = ledger.program(command.program);
        if (!row) {
            return Error{ErrorCode::kNotFound, "there is no program " + command.program.str()};
        }
        Json shown = object_of(program_columns(), row_of(*row));
        shown["policy"] = policy_object(account_settings(ledger, row->program.account));
        write_object(command.list.format, shown);
        return Status::success();
    });
}

Status run_list(const Frame& frame, const ListOptions& options) {
    return list_rows(frame, options, program_columns(),
                     [&](LedgerReader& ledger, Listing& listing) {
                         ledger.scan_programs([&](const ProgramRow& row) {
                             listing.add(row_of(row));
                             return true;
                         });
                         return Status::success();
                     });
}

}  // namespace

void declare_program(Subcommand app) {
    const Subcommand group = app.add_group("program", "Manage programs, which define commissions");
    auto [apply, applied] =
        add_command(group, "apply", "Apply the programs and policies of a file", run_apply);
    add_file(apply, "FILE", "", applied.file, FileUse::kInput,
             "TOML file; programs that it does not name stay unchanged")
        .required();
    add_effective_from(apply, applied.effective_from);
    add_dry_run(apply, applied.dry_run);
    add_command_options(apply, applied.submit, false);
    add_no_wait(apply, applied.submit.no_wait);

    declare_program_preview(group);

    auto [show, shown] = add_command(
        group, "show", "Show a program with its rules and the account's policy", run_show);
    add_id(show, "P", "P", shown.program, "Program").required();
    add_list_options(show, shown.list);

    auto [list, listed] = add_command(group, "list", "List programs", run_list);
    add_list_options(list, listed);
}

}  // namespace sluice::cli
