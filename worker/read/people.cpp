// Callers, creators and programs.
#include <map>

#include "core/reports/creators.hpp"
#include "core/reports/programs.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/read/lists.hpp"

namespace sluice::serve {
namespace {

using reports::Json;

Json grant_object(const Grant& grant) {
    return {{"account_id", grant.account_id.str()},
            {"role", cli::role_name(grant.role)},
            {"scopes", cli::scope_names(grant.scopes)}};
}

/// Returns the sums of the last twelve months, by month and currency, in the statement's words.
Json months_of(Read& read, const CreatorId& creator) {
    constexpr std::uint32_t kYear = 100, kMonths = 12;
    const std::uint32_t now = month_of(read.now);
    const std::uint32_t first = now % kYear == kMonths ? now - kMonths + 1 : now - kYear + 1;
    const std::string from =
        std::to_string(first / kYear) + "-" + std::to_string(first % kYear + kYear).substr(1);
    std::map<std::pair<std::uint32_t, Currency>, StatementSums> months;
    read.ledger.scan_creator_journal(
        read.grant.account, creator, *Timestamp::parse(from + "-01T00:00:00Z"),
        read.now.plus_seconds(1), [&](const JournalGroup& group) {
            for (const JournalEntry& entry : group.entries) {
                const Decimal zero = zero_amount(entry.currency);
                if (!is_memo(entry.reason)) {
                    add_to(months
                               .try_emplace({month_of(group.accounting_date), entry.currency},
                                            StatementSums{zero, zero, zero, zero, zero})
                               .first->second,
                           entry, true);
                }
            }
            return true;
        });
    Json list = Json::array();
    for (const auto& [key, sums] : months) {
        const std::string digits = std::to_string(key.first);
        list.push_back({{"month", digits.substr(0, 4) + "-" + digits.substr(4)},
                        {"currency", key.second.code()},
                        {"earned", sums.earned.to_string()},
                        {"adjusted", sums.adjusted.to_string()},
                        {"paid_out", sums.paid_out.to_string()}});
    }
    return list;
}

/// Passes on the rows of creators whose id or name begins so.
struct OfPrefix : reports::RowOutput {
    std::string prefix;
    reports::RowOutput& out;
    OfPrefix(std::string begin, reports::RowOutput& to) : prefix(std::move(begin)), out(to) {}
    void add(const reports::Row& row) override {
        constexpr std::size_t kName = 5;
        if (row[0].cell().starts_with(prefix) || row[kName].cell().starts_with(prefix)) {
            out.add(row);
        }
    }
    void add_raw(const std::vector<JsonMember>& /*row*/) override {}
};

}  // namespace

Json show_me(Read& read) {
    Json accounts = Json::array();
    for (const Grant& grant : read.caller.grants) {
        accounts.push_back(grant_object(grant));
    }
    const bool is_one = read.caller.grants.size() == 1;
    return {{"user", read.caller.is_user ? Json(read.caller.name) : Json()},
            {"token_id", read.caller.is_user ? Json() : Json(read.caller.name)},
            {"role", is_one ? Json(cli::role_name(read.caller.grants.front().role)) : Json()},
            {"scopes", is_one ? Json(cli::scope_names(read.caller.grants.front().scopes)) : Json()},
            {"accounts", std::move(accounts)},
            {"limit", read.worker.rate_limit}};
}

Page list_creators(Read& read) {
    const auto program = program_of(read);
    PageOfAll page(read);
    OfPrefix rows(read.arguments.text("q").value_or(""), page);
    reports::write_creators(read.ledger, read.grant.account,
                            program ? std::optional(program->program.id) : std::nullopt, rows);
    return std::move(page).take();
}

Json show_creator(Read& read) {
    const auto creator = creator_of(read);
    const auto object =
        reports::creator_object(read.ledger, read.grant.account, read.grant.account_id, *creator);
    if (!object.ok()) {
        refuse("not_found");
    }
    Json shown = *object;
    if (!read.sees_ledger()) {
        shown["balances"] = Json();
        shown["months"] = Json();
        return shown;
    }
    struct Objects : reports::RowOutput {
        Json list = Json::array();
        void add(const reports::Row& row) override {
            list.push_back(object_of(reports::balance_columns(), row));
        }
        void add_raw(const std::vector<JsonMember>& /*row*/) override {}
    } balances;
    reports::ReportFilter filter;
    filter.account = read.grant.account_id;
    filter.creator = creator;
    reports::write_balances(read.ledger, filter, read.now, balances);
    shown["balances"] = std::move(balances.list);
    shown["months"] = months_of(read, *creator);
    return shown;
}

Page list_programs(Read& read) {
    PageOfAll page(read, {0});
    for (const ProgramRow& row : read.ledger.programs(read.grant.account)) {
        page.add(reports::program_row(row));
    }
    return std::move(page).take();
}

Json show_program(Read& read) {
    const auto current = program_of(read);
    const auto version =
        static_cast<std::uint32_t>(read.arguments.number("version", current->version));
    const auto row = read.ledger.program_version(current->program.id, version);
    if (!row || row->program.account != read.grant.account) {
        refuse("not_found");
    }
    Json shown = object_of(reports::program_columns(), reports::program_row(*row));
    shown["policy"] = reports::policy_object(account_settings(read.ledger, read.grant.account));
    return shown;
}

/// The newest first.
Page list_program_versions(Read& read) {
    const auto current = program_of(read);
    PageOfAll page(read);
    for (std::uint32_t version = current->version; version != 0; --version) {
        const auto row = read.ledger.program_version(current->program.id, version);
        if (row && row->program.account == read.grant.account) {
            page.add(reports::program_row(*row));
        }
    }
    return std::move(page).take();
}

}  // namespace sluice::serve
