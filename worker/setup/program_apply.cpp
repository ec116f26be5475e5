#include "worker/setup/program_apply.hpp"

#include <map>
#include <utility>

#include "core/rules/account_settings.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/setup/program_file.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kFileBytesMax = 16u << 20;

Error error_at(const std::string& file, std::uint32_t line, const std::string& what) {
    return {ErrorCode::kInvalid, file + ":" + std::to_string(line) + ": " + what};
}

Result<AccountNumber> number_of(const std::string& file, store::Registry& registry,
                                const AccountId& account, std::uint32_t line) {
    const auto row = find_account(registry, account);
    if (!row.ok()) {
        return error_at(file, line, "account: " + row.error().message);
    }
    return row->number;
}

/// Account and shops must exist and belong together.
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

/// Of the accounts that the file has programs of.
Status check_rates(const Frame& frame, const std::string& file, const std::string& ledger_url,
                   const ProgramFile& filed) {
    std::map<AccountNumber, Decimal> highest;
    for (const FiledPolicy& one : filed.policies) {
        highest.emplace(one.policy.account, one.policy.max_rate);
    }
    return with_snapshot(
        frame, ledger_url,
        [&](LedgerReader& ledger) -> Status {
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
        },
        ReadFrom::kPrimary);
}

}  // namespace

Result<ProgramApply> read_program_apply(const Frame& frame, const std::string& file,
                                        const std::string& ledger_url) {
    auto text = read_to_end(file, kFileBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    auto filed = parse_program_file(file, text.value());
    if (!filed.ok()) {
        return filed.error();
    }
    {
        auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
        if (!registry.ok()) {
            return registry.error();
        }
        if (Status known = resolve(file, *registry.value(), *filed); !known.ok()) {
            return known.error();
        }
    }
    if (Status fits = check_rates(frame, file, ledger_url, *filed); !fits.ok()) {
        return fits.error();
    }
    ProgramApply apply;
    for (FiledProgram& one : filed->programs) {
        apply.programs.push_back(std::move(one.program));
    }
    for (FiledPolicy& one : filed->policies) {
        apply.policies.push_back(std::move(one.policy));
    }
    return apply;
}

void add_reach(Subcommand app, std::optional<Timestamp>& target) {
    add_value(app, "--reach", "T", target, parse_time,
              "How far back it counts (RFC 3339), in place of the program's late_days");
}

}  // namespace sluice::cli
