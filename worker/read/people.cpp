// Callers, creators and programs.
#include <cstdlib>

#include "core/reports/creators.hpp"
#include "core/reports/programs.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"
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

/// Keys of a list that is sorted by earnings. Between two pages a creator who earns more moves, and
/// the others with him.
KeyOf by_place() {
    return [place = 0U](const reports::Row& /*row*/) mutable {
        std::string digits = std::to_string(++place);
        return std::vector<std::string>{digits.insert(0, 10 - digits.size(), '0')};
    };
}

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
    const bool by_earned = read.arguments.is("sort", "-earned");
    if (by_earned && !read.sees_ledger()) {
        refuse("scope");
    }
    PageOfAll page = by_earned ? PageOfAll(read, by_place(), 1) : PageOfAll(read, {1, 0});
    OfPrefix rows(read.arguments.text("q").value_or(""), page);
    reports::CreatorListing listing;
    listing.account = read.grant.account;
    listing.program = program ? std::optional(program->program.id) : std::nullopt;
    if (by_earned) {
        listing.order = reports::CreatorOrder::kEarned;
    }
    reports::write_creators(read.ledger, listing, read.now, rows);
    return std::move(page).take();
}

Json show_creator(Read& read) {
    const auto creator = creator_of(read);
    const auto object = reports::creator_object(read.ledger, read.grant.account,
                                                read.grant.account_id, *creator, read.now);
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
    constexpr std::size_t kVersion = 14;
    const KeyOf newest_first = [](const reports::Row& row) {
        const std::string left =
            std::to_string(0xFFFFFFFFU - std::strtoul(row[kVersion].cell().c_str(), nullptr, 10));
        return std::vector{std::string(10 - left.size(), '0') + left};
    };
    PageOfAll page(read, newest_first, 1);
    for (std::uint32_t version = current->version; version != 0; --version) {
        const auto row = read.ledger.program_version(current->program.id, version);
        if (row && row->program.account == read.grant.account) {
            page.add(reports::program_row(*row));
        }
    }
    return std::move(page).take();
}

}  // namespace sluice::serve
