#include "tool/setup/import.hpp"

#include <map>
#include <utility>

#include "core/rules/account.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/spelling.hpp"
#include "program/system/file.hpp"
#include "tool/setup/program_file.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t kFileBytesMax = 16u << 20;

Result<AccountNumber> number_of(const std::string& file, store::Registry& registry,
                                const AccountId& account, std::uint32_t line) {
    const auto row = find_account(registry, account);
    if (!row.ok()) {
        return error_at(file, line, "account: " + row.error().message);
    }
    return row->number;
}

/// Looks up the account and shops, which must exist and belong together.
Status resolve(const std::string& file, store::Registry& registry, FiledProgram& filed) {
    Program& program = filed.program;
    const auto account = number_of(file, registry, program.account_id, filed.account_line);
    if (!account.ok()) {
        return account.error();
    }
    program.account = *account;
    for (std::size_t i = 0; i < program.shops.size(); ++i) {
        const auto shop = find_shop(registry, ShopId(program.shops[i]));
        if (!shop.ok()) {
            return error_at(file, filed.shop_lines[i], "shops: " + shop.error().message);
        }
        if (shop->account_number != program.account) {
            return error_at(file, filed.shop_lines[i],
                            "shops: shop " + program.shops[i] + " belongs to account " +
                                shop->account_id.str());
        }
    }
    return Status::success();
}

Status resolve(const std::string& file, store::Registry& registry, ProgramFile& filed) {
    for (FiledPolicy& one : filed.policies) {
        const auto account = number_of(file, registry, one.policy.account_id, one.account_line);
        if (!account.ok()) {
            return account.error();
        }
        one.policy.account = *account;
    }
    for (FiledProgram& program : filed.programs) {
        if (Status known = resolve(file, registry, program); !known.ok()) {
            return known;
        }
    }
    return Status::success();
}

/// Checks the rates of a file's programs against the max_rate of their accounts.
Status check_rates(const Frame& frame, const std::string& file, const std::string& ledger_url,
                   const ProgramFile& filed) {
    std::map<AccountNumber, Decimal> highest;
    for (const FiledPolicy& one : filed.policies) {
        highest.emplace(one.policy.account, one.policy.max_rate);
    }
    return with_snapshot(
        frame, ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) -> Status {
            for (const FiledProgram& one : filed.programs) {
                const AccountNumber account = one.program.account;
                if (!highest.contains(account)) {
                    highest.emplace(account, account_settings(ledger, account).policy.max_rate);
                }
                if (Status fits = check_rates(file, one, highest.at(account)); !fits.ok()) {
                    return fits;
                }
            }
            return Status::success();
        });
}

}  // namespace

Result<ProgramApply> read_program_apply(const Frame& frame, const std::string& file,
                                        const std::string& ledger_url) {
    auto text = read_to_end(file, kFileBytesMax);
    auto filed = text.ok() ? parse_program_file(file, text.value()) : text.error();
    if (!filed.ok()) {
        return filed.error();
    }
    Status fits = ask_registry(
        frame, [&](store::Registry& registry) { return resolve(file, registry, *filed); });
    fits = fits.ok() ? check_rates(frame, file, ledger_url, *filed) : fits;
    if (!fits.ok()) {
        return fits.error();
    }
    return ProgramApply{
        mapped(filed->programs, [](FiledProgram& one) { return std::move(one.program); }),
        mapped(filed->policies, [](FiledPolicy& one) { return std::move(one.policy); })};
}

void add_effective_from(Subcommand app, std::optional<Timestamp>& target) {
    add_value(app, "--effective-from", "T", target, parse_time,
              "Time from which it takes effect (RFC 3339; default: the program's late_days)");
}

void add_import(Subcommand app, ImportOptions& target) {
    add_file(app, "FILE", "", target.file, FileUse::kInput,
             "CSV file; all of it is imported, or nothing")
        .required();
    add_effective_from(app, target.effective_from);
    add_dry_run(app, target.dry_run);
    add_command_options(app, target.submit, false);
    add_no_wait(app, target.submit.no_wait);
}

Status submit_import(const Frame& frame, const ImportOptions& options, const Command& command) {
    return with_file(options.file, submit_or_try(frame, command, options.submit, options.dry_run));
}

Status with_file(const std::string& file, Status done) {
    constexpr std::string_view kLine = "line ";
    if (done.ok() || !done.error().message.starts_with(kLine)) {
        return done;
    }
    return Error{done.error().code, file + ":" + done.error().message.substr(kLine.size())};
}

Status take_time(const std::string& column, const std::string& text, std::optional<Timestamp>& at) {
    if (text.empty()) {
        return Status::success();
    }
    const auto parsed = parse_time(text);
    if (!parsed.ok()) {
        return invalid(column + ": " + parsed.error().message);
    }
    note_missing_offset(text);
    at = parsed.value();
    return Status::success();
}

Status take_text(const std::string& column, const std::string& text,
                 std::optional<std::string>& taken) {
    if (text.size() > kWireIdBytesMax) {
        return invalid(column + ": expected at most 1024 bytes");
    }
    if (!text.empty()) {
        taken = text;
    }
    return Status::success();
}

}  // namespace sluice::cli
