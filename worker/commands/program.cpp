// sluice program apply|list
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/commands/program_file.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kFileBytesMax = 16u << 20;

struct ApplyCommand {
    std::string file;
    std::string ledger;
    bool no_wait = false;
};

struct ShowCommand {
    ProgramId program;
    std::string ledger;
    Format format = Format::kTable;
};

struct ListCommand {
    std::string ledger;
    Format format = Format::kTable;
};

Error error_at(const std::string& file, std::uint32_t line, const std::string& what) {
    return {ErrorCode::kInvalid, file + ":" + std::to_string(line) + ": " + what};
}

/// Fills in the account's number; account and shops must exist and belong together.
Status resolve(const std::string& file, store::Registry& registry, FiledProgram& filed) {
    const auto account = find_account(registry, filed.program.account_id);
    if (!account.ok()) {
        return error_at(file, filed.account_line, account.error().message);
    }
    filed.program.account = account->number;
    for (std::size_t i = 0; i < filed.program.shops.size(); ++i) {
        const auto shop = find_shop(registry, ShopId(filed.program.shops[i]));
        if (!shop.ok()) {
            return error_at(file, filed.shop_lines[i], shop.error().message);
        }
        if (shop->account_number != account->number) {
            return error_at(
                file, filed.shop_lines[i],
                "shop " + filed.program.shops[i] + " belongs to account " + shop->account_id.str());
        }
    }
    return Status::success();
}

Status run_apply(const Frame& frame, const ApplyCommand& command) {
    auto text = read_to_end(command.file, kFileBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    auto filed = parse_program_file(command.file, text.value());
    if (!filed.ok()) {
        return filed.error();
    }
    ProgramApply apply;
    {
        auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
        if (!registry.ok()) {
            return registry.error();
        }
        for (FiledProgram& program : filed.value()) {
            if (Status known = resolve(command.file, *registry.value(), program); !known.ok()) {
                return known;
            }
            apply.programs.push_back(std::move(program.program));
        }
    }
    return submit(frame, apply, {std::nullopt, command.ledger, command.no_wait});
}

Json rules_of(const Program& program) {
    Json rules = Json::array();
    for (const Rule& rule : program.rules) {
        rules.push_back({{"match", to_string(rule.match)},
                         {"value", rule.value},
                         {"rate", to_string(rule.rate)}});
    }
    return rules;
}

Json row_of(const ProgramRow& row) {
    const Program& program = row.program;
    Json precedence = Json::array();
    for (const AttributionType type : program.precedence) {
        precedence.push_back(to_string(type));
    }
    return {{"program_id", program.id.str()},
            {"account_id", program.account_id.str()},
            {"shops", program.shops},
            {"window_days", program.window_days},
            {"base", to_string(program.base)},
            {"precedence", std::move(precedence)},
            {"hold_days", program.hold_days},
            {"default_rate", to_string(program.default_rate)},
            {"rules", rules_of(program)},
            {"version", row.version},
            {"applied_at", row.applied_at.to_string()}};
}

Status run_show(const Frame& frame, const ShowCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        const std::optional<ProgramRow> row = ledger.program(command.program);
        if (!row) {
            return Error{ErrorCode::kNotFound, "there is no program " + command.program.str()};
        }
        write_object(command.format, row_of(*row));
        return Status::success();
    });
}

Status run_list(const Frame& frame, const ListCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        Listing listing(command.format, {{"program_id"},
                                         {"account_id"},
                                         {"shops"},
                                         {"window_days", Align::kRight},
                                         {"base"},
                                         {"precedence"},
                                         {"hold_days", Align::kRight},
                                         {"default_rate", Align::kRight},
                                         {"rules", Align::kLeft, false},
                                         {"version", Align::kRight},
                                         {"applied_at"}});
        ledger.scan_programs([&](const ProgramRow& row) {
            listing.add(row_of(row));
            return true;
        });
        listing.finish();
        return Status::success();
    });
}

}  // namespace

void declare_program(CLI::App& app, Frame& frame) {
    CLI::App& group = add_group(app, "program", "Programs: who earns which commission");
    CLI::App& apply = add_command(group, "apply", "Take over the programs of a file");
    ApplyCommand& applied = on_run(apply, frame, run_apply);
    apply.add_option("FILE", applied.file, "FILE.toml; programs not in it stay")
        ->required()
        ->type_name("");
    add_ledger(apply, applied.ledger);
    add_no_wait(apply, applied.no_wait);

    CLI::App& show = add_command(group, "show", "One program, with its rules");
    ShowCommand& shown = on_run(show, frame, run_show);
    add_id(show, "P", "P", shown.program, "The program").required();
    add_ledger(show, shown.ledger);
    add_format(show, shown.format);

    CLI::App& list = add_command(group, "list", "List the programs as they are now");
    ListCommand& listed = on_run(list, frame, run_list);
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);
}

}  // namespace sluice::cli
