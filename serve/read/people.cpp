// Callers, creators, holds and programs.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/creators.hpp"
#include "core/lists/links.hpp"
#include "core/lists/names.hpp"
#include "core/lists/programs.hpp"
#include "core/lists/report.hpp"
#include "core/protocol/page_token.hpp"
#include "core/rules/account.hpp"
#include "core/statements/next_close.hpp"
#include "core/statements/statements.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;

Json grant_object(const Grant& grant) {
    return {{"account_id", grant.account_id.str()},
            {"role", to_string(grant.role)},
            {"scopes", cli::scope_names(grant.scopes)}};
}

bool begins_with(const lists::Row& row, const std::string& prefix) {
    const auto& list = lists::creator_list();
    return list.cell(row, "creator_id").cell().starts_with(prefix) ||
           list.cell(row, "name").cell().starts_with(prefix);
}

/// Keys of a list that is sorted by earnings. Between two pages a creator who earns more moves, and
/// the others with him.
KeyOf by_place() {
    return [place = 0U](const lists::Row& /*row*/) mutable {
        std::string digits = std::to_string(++place);
        return std::vector<std::string>{digits.insert(0, 10 - digits.size(), '0')};
    };
}

/// Creators by program and first id.
Page creators_by_id(Read& read, const std::optional<ProgramId>& program,
                    const std::string& prefix) {
    constexpr std::size_t kMembersAtOnce = 500;
    std::optional<lists::MemberPlace> after;
    if (read.after) {
        const auto parts = key_parts(*read.after, 2);
        after = {ProgramId(parts[0]), CreatorId(parts[1])};
    }
    const std::size_t at_once = prefix.empty() ? read.limit() + 1 : kMembersAtOnce;
    ReadLimit limit(read);
    Page page;
    for (bool more = true; more && !page.next_key;) {
        const auto members = lists::members_after(read.ledger, read.grant.account, program, after,
                                                  at_once, read.now);
        for (const lists::MemberRow& member : members) {
            if (!limit.admits(join_key({member.place.program.str(), member.place.creator.str()}),
                              page)) {
                break;
            }
            if (begins_with(member.row, prefix)) {
                page.rows.push_back(member.row);
            }
        }
        more = members.size() == at_once;
        if (more) {
            after = members.back().place;
        }
    }
    return page;
}

Page best_creators(Read& read, const std::optional<ProgramId>& program, const std::string& prefix) {
    if (!read.sees_creators()) {
        refuse("scope");
    }
    PageOfAll page(read, by_place(), 1);
    EachRow rows([&](const lists::Row& row) {
        if (begins_with(row, prefix)) {
            page.add(row);
        }
    });
    lists::write_best_creators(read.ledger, read.grant.account, program, read.now, rows);
    return std::move(page).take();
}

/// Returns for each row whether the creator is held, in all programs or in the row's.
Json held_rows(Read& read, const std::vector<lists::Row>& rows) {
    const lists::CreatorNames names(read.ledger, read.grant.account);
    std::set<std::pair<std::string, std::string>> holds;
    read.ledger.scan(CreatorHold{read.grant.account}, {1, 1}, [&](const CreatorHold& hold) {
        holds.emplace(names.shown(hold.account, hold.creator).str(), hold.program.str());
    });
    return Json::list(rows, [&holds](const lists::Row& row) {
        const std::string creator = lists::creator_list().cell(row, "creator_id").cell();
        const std::string program = lists::creator_list().cell(row, "program_id").cell();
        return holds.contains({creator, ""}) || holds.contains({creator, program});
    });
}

/// Returns for each row what its creator is owed in the row's program, by currency.
Json balances_of_rows(Read& read, const std::vector<lists::Row>& rows) {
    const lists::CreatorNames names(read.ledger, read.grant.account);
    const auto key_of = [&](const lists::Row& row) {
        const auto& list = lists::creator_list();
        return std::pair(
            ProgramId(list.cell(row, "program_id").cell()),
            names.first(read.grant.account, CreatorId(list.cell(row, "creator_id").cell())));
    };
    std::map<std::pair<ProgramId, CreatorId>, Json> lists;  // sorted as balances are
    for (const lists::Row& row : rows) {
        lists.emplace(key_of(row), Json::array());
    }
    std::vector<Balance> stored;
    for (const auto& [key, list] : lists) {
        std::ranges::move(stored_balances(read.ledger, read.grant.account, key.first, key.second),
                          std::back_inserter(stored));
    }
    for (const BalanceAt& row : balances_at(read.ledger, read.grant.account, read.now, stored)) {
        lists.at({row.key.program, row.key.creator})
            .push_back({{"currency", row.key.currency.code()},
                        {"owed", row.owed.to_string()},
                        {"pending", row.pending.to_string()},
                        {"blocked", row.blocked.to_string()},
                        {"payable", row.payable.to_string()}});
    }
    return Json::list(rows, [&](const lists::Row& row) { return lists.at(key_of(row)); });
}

/// Adds what the next close does with the creator's payable amounts, and when what is pending
/// clears.
void add_closing(Read& read, const CreatorId& creator, Json& shown) {
    const Policy policy = account_settings(read.ledger, read.grant.account).policy;
    CreatorRow profile{read.grant.account, creator, {}, {}, {}};
    static_cast<void>(read.ledger.load(profile));
    OpenTotals totals;
    Json closes = Json::array();
    for (const CreatorClose& close :
         next_close_of(read.ledger, read.grant.account, creator, policy, read.now, &totals)) {
        const bool cools = close.left == SkipReason::kPayeeChanged;
        const Decimal* minimum = amount_in(policy.min_payout, close.currency);
        closes.push_back(
            {{"currency", close.currency.code()},
             {"amount", close.amount.to_string()},
             {"reason", close.left ? Json(to_string(*close.left)) : Json()},
             {"minimum", minimum == nullptr ? Json() : Json(minimum->to_string())},
             {"payout_day",
              payout_day_from(policy, cools ? cooled_at(policy, profile).value_or(read.now)
                                            : start_of_day(read.now))},
             {"payee_from", cooled_at(policy, profile)}});
    }
    shown["next_closes"] = std::move(closes);
    std::map<std::pair<Timestamp, Currency>, Decimal> days;
    for (const auto& [key, amount] : clearing_days(read.ledger, read.grant.account, totals)) {
        days.emplace(std::pair(key.second, key.first), amount);
    }
    Json clearing = Json::array();
    for (const auto& [key, amount] : days) {
        clearing.push_back({{"day", key.first.to_string().substr(0, 10)},
                            {"currency", key.second.code()},
                            {"amount", amount.to_string()},
                            {"payout_day", payout_day_from(policy, key.first.plus_days(1))}});
    }
    shown["clearing"] = std::move(clearing);
}

/// The changes of the creator's payee, the newest first.
Json payee_changes(Read& read, const CreatorId& creator) {
    std::vector<lists::Row> rows;
    EachRow add([&rows](const lists::Row& row) { rows.push_back(row); });
    lists::write_plain(read.ledger, lists::payee_change_list(),
                       {read.grant.account, read.grant.account_id, {{"creator", creator.str()}}},
                       add);
    std::ranges::reverse(rows);
    return lists::objects_of(lists::payee_change_list().columns(), rows);
}

Page list_creators(Read& read) {
    const auto program = program_id_of(read);
    const std::string prefix = read.arguments.text("q").value_or("");
    Page page = read.arguments.is("sort", "-earned") ? best_creators(read, program, prefix)
                                                     : creators_by_id(read, program, prefix);
    page.extras.emplace_back("held", held_rows(read, page.rows));
    page.extras.emplace_back("balances",
                             read.sees_creators() ? balances_of_rows(read, page.rows) : Json());
    return page;
}

Json show_creator(Read& read) {
    const CreatorId creator = creator_of(read).value();
    const auto object = lists::creator_object(read.ledger, read.grant.account,
                                              read.grant.account_id, creator, read.now);
    if (!object.ok()) {
        refuse("not_found");
    }
    Json shown = *object;
    shown["click_months"] =
        lists::click_months_of(read.ledger, read.grant.account, creator, read.now);
    shown["links"] = best_links_of(read, creator);
    if (!read.sees_creators()) {
        for (const char* const name :
             {"balances", "next_closes", "clearing", "payee_changes", "months", "payouts"}) {
            shown[name] = Json();
        }
        return shown;
    }
    Json balances = Json::array();
    EachRow rows([&balances](const lists::Row& row) {
        balances.push_back(object_of(lists::balance_list().columns(), row));
    });
    lists::write_balances(read.ledger, {read.grant.account_id, {}, creator}, read.now, rows);
    shown["balances"] = std::move(balances);
    add_closing(read, creator, shown);
    shown["payee_changes"] = payee_changes(read, creator);
    shown["payouts"] = newest_payouts(read, creator);
    return shown;
}

Page list_programs(Read& read) {
    PageOfAll page(read, lists::program_list().columns(), "program_id");
    for (const ProgramRow& row : read.ledger.programs(read.grant.account)) {
        page.add(lists::program_list().row(row));
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
    Json shown = lists::program_list().object(*row);
    shown["policy"] = lists::policy_object(account_settings(read.ledger, read.grant.account));
    return shown;
}

/// The newest first.
Page list_program_versions(Read& read) {
    const auto current = program_of(read);
    const KeyOf newest_first = [](const lists::Row& row) {
        const std::string left = std::to_string(
            0xFFFFFFFFU - key_number(lists::program_list().cell(row, "version").cell()));
        return std::vector{std::string(10 - left.size(), '0') + left};
    };
    PageOfAll page(read, newest_first, 1);
    for (std::uint32_t version = current->version; version != 0; --version) {
        const auto row = read.ledger.program_version(current->program.id, version);
        if (row && row->program.account == read.grant.account) {
            page.add(lists::program_list().row(*row));
        }
    }
    return std::move(page).take();
}

/// A platform's backend asks for it.
Answer make_creator_link(Read& read) {
    constexpr std::uint64_t kMinutes = 15, kSecondsPerMinute = 60;
    constexpr std::size_t kRandomBytes = 8;
    const CreatorId creator = creator_of(read).value();
    const auto seconds =
        static_cast<std::int64_t>(read.arguments.number("minutes", kMinutes) * kSecondsPerMinute);
    const PageToken token{TokenId(read.caller.name), creator, read.now.seconds,
                          read.now.seconds + seconds, random_hex(kRandomBytes)};
    const std::string text = read.links->signer.sign(token);
    const Json shown{{"url", read.links->address + "#" + text},
                     {"token", text},
                     {"expires_at", Timestamp{token.expires, 0}.to_string()},
                     {"creator_id", shown_id(read.ledger, read.grant.account, creator).str()}};
    return {.body = shown.compact(), .logged = creator.str() + "/" + token.random};
}

Json show_me(Read& read) {
    const bool is_one = read.caller.grants.size() == 1;
    return {{"user", read.caller.is_user ? Json(read.caller.name) : Json()},
            {"token_id", read.caller.is_user ? Json() : Json(read.caller.name)},
            {"role", is_one ? Json(to_string(read.caller.grants.front().role)) : Json()},
            {"scopes", is_one ? Json(cli::scope_names(read.caller.grants.front().scopes)) : Json()},
            {"accounts", Json::list(read.caller.grants, grant_object)},
            {"limit", read.worker.rate_limit}};
}

Columns me_members() {
    return texts("user token_id role") + extra("scopes", kTexts) +
           extra("accounts", kObjects, texts("account_id role") + extra("scopes", kTexts)) +
           texts("limit");
}

Columns creator_members() {
    return texts("creator_id account_id name") +
           Columns{{"payee", kText, kPayee},
                   {"payee_since", kTime, kLedger},
                   {"aliases", kTexts, kEveryone},
                   {"programs", kObjects, kEveryone, lists::own_membership_list().columns()},
                   {"holds", kObjects, kEveryone, lists::own_hold_list().columns()},
                   {"balances", kObjects, kLedger, lists::balance_list().columns()}} +
           columns_of(kObjects, kLedger, "next_closes clearing") +
           Columns{
               {"payee_changes", kObjects, kLedger, lists::payee_change_list().columns()},
               {"months", kObjects, kLedger},
               {"click_months", kObjects, kEveryone,
                texts("month") + integers("clicks devices orders") + extra("conversion", kRate)},
               {"links", kObjects, kEveryone, lists::link_list().columns()},
               {"payouts", kObjects, kLedger, lists::payout_list().columns()}};
}

}  // namespace

std::vector<Resource> caller_resources() {
    return {Resource("me", kAnyone, "Who the caller is, and which accounts the caller may read", {},
                     me_members(), show_me, kNoAccount | kUnpaged)};
}

std::vector<Resource> people_resources() {
    return {
        plain_resource(lists::payee_list()),
        Resource(
            "creators", kReadOrders, "Members of programs with their codes, by program and creator",
            {program_parameter(),
             {"q", ValueKind::kText, "Beginning of the id or name"},
             word_parameter("sort",
                            "Order of the rows (default: id); -earned needs read_ledger, or the "
                            "role support",
                            {"id", "-earned"})},
            lists::creator_list().columns(), list_creators, kCsv,
            {{"held", kObjects, kEveryone}, {"balances", kObjects, kLedger}}),
        Resource("creator", kReadOrders,
                 "One creator with names, programs, codes, holds and balances",
                 {creator_parameter(true)}, creator_members(), show_creator),
        Resource(
            "creator-link", kCreatorPages, "A link to one creator's page, which counts for minutes",
            {creator_parameter(true),
             {"minutes", ValueKind::kMinutes, "Minutes that it counts, 1 to 60 (default: 15)"}},
            texts("url token") + times("expires_at") + texts("creator_id"), make_creator_link,
            kUnpaged | kMakesLink),
        Resource("programs", kReadOrders, "Programs", {}, lists::program_list().columns(),
                 list_programs),
        Resource("program", kReadOrders, "One program with its rules, and the account's policy",
                 {program_parameter(true),
                  {"version", ValueKind::kVersion, "Version (default: the current one)"}},
                 lists::program_list().columns() +
                     extra("policy", kObject, lists::policy_list().columns()),
                 show_program),
        Resource("program/versions", kReadOrders, "Versions of a program, the newest first",
                 {program_parameter(true)}, lists::program_list().columns(),
                 list_program_versions)};
}

}  // namespace sluice::serve
