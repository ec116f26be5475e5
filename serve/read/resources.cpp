#include <algorithm>

#include "core/lists/approvals.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/creators.hpp"
#include "core/lists/links.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/periods.hpp"
#include "core/lists/plain_lists.hpp"
#include "core/lists/programs.hpp"
#include "core/lists/report.hpp"
#include "core/lists/statement.hpp"
#include "serve/read/lists.hpp"
#include "serve/read/members.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {
namespace {

using lists::Column;
using lists::ColumnType;
using lists::Scope;
using enum lists::ColumnType;

constexpr std::uint16_t kAnyone = 0;
constexpr std::uint16_t kOfCreators = kReadLedger | kReadCreators;

Parameter shop(bool required = false) {
    return {"shop", ValueKind::kId, "Shop", required};
}
Parameter creator(bool required = false) {
    return {"creator", ValueKind::kId, "Creator, by any of its ids", required};
}
Parameter program(bool required = false) {
    return {"program", ValueKind::kId, "Program", required};
}
Parameter payout() {
    return {"payout", ValueKind::kId, "Payout", true};
}
Parameter currency() {
    return {"currency", ValueKind::kCurrency, "Currency (ISO 4217)"};
}
Parameter from(std::string_view of, bool required = false) {
    return {"from", ValueKind::kTime, of, required};
}
Parameter to(std::string_view of) {
    return {"to", ValueKind::kTime, of};
}
Parameter run() {
    return {"run", ValueKind::kId, "Payout run"};
}
Parameter payout_run() {
    return {"payout_run", ValueKind::kId, "The same as run, under the name that rows have"};
}

std::vector<std::string_view> anomaly_kinds() {
    std::vector<std::string_view> names;
    for (unsigned kind = 1; kind < kAnomalyKinds; ++kind) {
        names.push_back(to_string(static_cast<AnomalyKind>(kind)));
    }
    return names;
}

std::uint16_t scope_of(lists::ReadBy readers) {
    return readers == lists::ReadBy::kOrders     ? std::uint16_t{kReadOrders}
           : readers == lists::ReadBy::kCreators ? kOfCreators
                                                 : std::uint16_t{kReadLedger};
}

/// The parameters that a plain list requires, then those that select some of its rows.
std::vector<Parameter> parameters_of(const lists::PlainList& list) {
    std::vector<Parameter> parameters;
    if (list.within == "payout_id") {
        parameters.push_back(payout());
    } else if (list.within == "account until") {
        parameters.push_back({"until", ValueKind::kMonthEnd, "End of the period", true});
    }
    if (list.by_creator) {
        parameters.push_back(creator());
    }
    if (list.history != nullptr) {
        parameters.push_back({"history", ValueKind::kFlag, "Whether to list every change"});
    }
    return parameters;
}

/// Columns of the list, then those that only its history has.
std::vector<Column> columns_of(const lists::PlainList& list) {
    std::vector<Column> columns = list.columns();
    for (const Column& column :
         list.history == nullptr ? std::vector<Column>() : list.history->columns()) {
        if (std::ranges::find(list.columns(), column.name, &Column::name) == list.columns().end()) {
            columns.push_back(column);
        }
    }
    return columns;
}

Resource plain(const lists::PlainList& list) {
    return {list.resource,
            scope_of(list.read_by),
            list.resource_text,
            parameters_of(list),
            columns_of(list),
            [&list](Read& read) { return plain_page(read, list); },
            kCsv};
}

/// A member that an answer has in addition to its rows.
std::vector<Column> extra(std::string_view name, ColumnType type) {
    return {{name, type, Scope::kEveryone}};
}

std::vector<Resource> orders_part() {
    const std::vector<std::string_view> statuses{"waiting",   "pending",   "blocked",
                                                 "payable",   "in_payout", "paid",
                                                 "cancelled", "rejected",  "detached"};
    return {
        Resource("me", kAnyone, "Who the caller is, and which accounts the caller may read", {},
                 me_members(), show_me, kNoAccount | kUnpaged),
        Resource("today", kReadOrders, "Yesterday's figures, and the work that waits",
                 {{"currency", ValueKind::kCurrency,
                   "Currency (default: the one with the most owed, in minor units)"}},
                 today_members(), show_today, kUnpaged),
        Resource(
            "search", kReadOrders,
            "Orders, creators, codes, links, shops, programs, payouts, payout runs and "
            "commands that a text names: by id, by a part of an id or name, by bank reference, "
            "or by an amount",
            {{"q", ValueKind::kText, "Text to look for, such as 8862, ann or 12.50 EUR", true}},
            search_list().columns(), search, kUnpaged, extra("searched", kTexts)),
        Resource("orders", kReadOrders, "Orders with creator and commission",
                 {shop(),
                  creator(),
                  program(),
                  {"code", ValueKind::kText, "Discount code of the order"},
                  {"status", ValueKind::kWord, "Status", false, statuses},
                  {"attributed", ValueKind::kFlag, "Whether the order has a creator"},
                  {"blocked", ValueKind::kFlag,
                   "true: only orders that a hold or anomaly of their own blocks"},
                  from("Ordered at this time or later (RFC 3339)"),
                  to("Ordered before this time (RFC 3339)"),
                  {"sort",
                   ValueKind::kWord,
                   "Order of the rows (default: id, by shop)",
                   false,
                   {"-ordered_at", "ordered_at", "id"}}},
                 lists::order_list().columns(), list_orders, kCsv,
                 {{"names", kObject, Scope::kEveryone},
                  {"codes", kObjects, Scope::kEveryone, {{"codes", kTexts, Scope::kEveryone}}}}),
        Resource("order", kReadOrders,
                 "One order, explained from its events to its journal entries",
                 {shop(true), {"order", ValueKind::kWireId, "Order", true}}, order_members(),
                 show_order),
        Resource(
            "anomalies", kReadOrders,
            "Events that a person should check, by shop and order; those that need "
            "attention, the newest first",
            {shop(),
             {"kind", ValueKind::kWord, "Kind", false, anomaly_kinds()},
             {"blocks", ValueKind::kFlag, "Whether it blocks payout"},
             {"acknowledged", ValueKind::kFlag, "Whether a person acknowledged it"},
             {"showing", ValueKind::kFlag, "Whether the order still shows it"}},
            lists::anomaly_list().columns(), list_anomalies, kCsv,
            {{"commissions", kObjects, Scope::kEveryone}, {"counts", kObject, Scope::kEveryone}}),
        Resource("holds", kReadOrders, "Holds on creators and orders", {creator()},
                 lists::hold_list().columns(), list_holds, kPlain, extra("names", kObject)),
        Resource("shops", kReadOrders, "Shops of the account",
                 {shop(), {"near", ValueKind::kWireId, "Order whose nearest ids to list"}},
                 shop_list().columns(), list_shops, kPlain, extra("nearest", kObjects)),
        Resource("products", kReadOrders, "The merged catalog, by shop and product", {shop()},
                 lists::product_columns(), list_products, kCsv),
        Resource("clicks", kReadOrders,
                 "Clicks, devices and orders of links; earned and adjusted need read_ledger",
                 {program(),
                  creator(),
                  {"link", ValueKind::kLink, "Link"},
                  {"from", ValueKind::kDay, "First instant of the first UTC day (RFC 3339)"},
                  {"to", ValueKind::kDay, "First instant of the UTC day after the last"},
                  {"by",
                   ValueKind::kWord,
                   "What the rows are grouped by (default: day)",
                   false,
                   {"day", "month", "link", "creator"}},
                  {"unmatched", ValueKind::kFlag,
                   "true: programs and creators of clicks that do not count, because the "
                   "account lacks the program, or the program the creator"}},
                 lists::click_list().columns(), list_clicks, kCsv),
        Resource("links", kReadOrders,
                 "Creators' links with the figures of their last 30 days, by creator and link",
                 {creator(),
                  program(),
                  {"q", ValueKind::kText, "A part of the link's id or URL"},
                  {"sort",
                   ValueKind::kWord,
                   "Order of the rows (default: id); -clicks is by this month's clicks, for up "
                   "to 10,000 links, or those of one creator",
                   false,
                   {"id", "-clicks"}}},
                 lists::link_list().columns(), list_links, kCsv,
                 {{"clicks_this_month", kObjects, Scope::kEveryone},
                  {"names", kObject, Scope::kEveryone}}),
        Resource("link", kReadOrders,
                 "One link with the figures of its last 30 days, by day, and its newest "
                 "orders; amounts need read_ledger",
                 {{"link", ValueKind::kLink, "Link", true}}, link_members(), show_link)};
}

std::vector<Resource> people_part() {
    return {
        plain(lists::payee_list()),
        Resource(
            "creators", kReadOrders, "Members of programs with their codes, by program and creator",
            {program(),
             {"q", ValueKind::kText, "Beginning of the id or name"},
             {"sort",
              ValueKind::kWord,
              "Order of the rows (default: id); -earned needs read_ledger, or the role support",
              false,
              {"id", "-earned"}}},
            lists::creator_list().columns(), list_creators, kCsv,
            {{"held", kObjects, Scope::kEveryone}, {"balances", kObjects, Scope::kLedger}}),
        Resource("creator", kReadOrders,
                 "One creator with names, programs, codes, holds and balances", {creator(true)},
                 creator_members(), show_creator),
        Resource(
            "creator-link", kCreatorPages, "A link to one creator's page, which counts for minutes",
            {creator(true),
             {"minutes", ValueKind::kMinutes, "Minutes that it counts, 1 to 60 (default: 15)"}},
            creator_link_members(), make_creator_link, kUnpaged | kMakesLink),
        Resource("programs", kReadOrders, "Programs", {}, lists::program_list().columns(),
                 list_programs),
        Resource(
            "program", kReadOrders, "One program with its rules, and the account's policy",
            {program(true), {"version", ValueKind::kVersion, "Version (default: the current one)"}},
            lists::program_list().columns() +
                std::vector<Column>{{"policy", kObject, Scope::kEveryone, lists::policy_members()}},
            show_program),
        Resource("program/versions", kReadOrders, "Versions of a program, the newest first",
                 {program(true)}, lists::program_list().columns(), list_program_versions)};
}

std::vector<Resource> money_part() {
    const std::vector<std::string_view> states{"CLOSED", "APPROVED", "SENT",    "PAID",
                                               "VOID",   "FAILED",   "RETURNED"};
    return {
        Resource("balances", kOfCreators, "Pending, blocked, payable, closed and paid amounts",
                 {program(),
                  creator(),
                  {"at", ValueKind::kFuture, "Time of the amounts, now or later (default: now)"}},
                 lists::balance_list().columns(), list_balances, kCsv),
        Resource("journal", kReadLedger, "Postings and memo entries, the newest first",
                 {shop(),
                  creator(),
                  program(),
                  {"reason", ValueKind::kId, "Reason, such as ACCRUAL"},
                  from("Accounting date from this time on (RFC 3339)"),
                  to("Accounting date before this time (RFC 3339)"),
                  {"by",
                   ValueKind::kWord,
                   "Date that from and to refer to (default: accounting)",
                   false,
                   {"accounting", "receipt"}}},
                 lists::journal_list().columns(), list_journal, kCsv),
        Resource(
            "changes", kReadLedger, "Changes of the ledger, in the order of each node's chain",
            {{"wait", ValueKind::kSeconds, "Seconds to wait for a change, 0 to 30 (default: 0)"}},
            changes_members(), list_changes),
        Resource(
            "change", kReadLedger,
            "The entries of one change of the feed, which may be too many for it",
            {{"node", ValueKind::kId, "UUID of the node", true},
             {"change", ValueKind::kVersion, "Number of one of its entries in the chain", true}},
            lists::journal_list().columns(), list_change, kCsv, extra("change", kObject)),
        Resource("runs", kReadLedger, "Payout runs, the newest first", {}, run_list().columns(),
                 list_runs),
        Resource("run", kReadLedger, "One payout run with the creators that it left out",
                 {run(), payout_run()},
                 run_list().columns() + std::vector<Column>{{"skipped", kObjects, Scope::kLedger,
                                                             lists::skipped_list().columns()},
                                                            {"names", kObject, Scope::kLedger}},
                 show_run),
        Resource("payouts", kOfCreators, "Payouts in the order of closing",
                 {{"state", ValueKind::kWord, "State", false, states},
                  run(),
                  payout_run(),
                  creator(),
                  currency()},
                 lists::payout_list().columns(), list_payouts, kCsv),
        Resource("payout", kOfCreators, "One payout", {payout()}, lists::payout_list().columns(),
                 show_payout),
        plain(lists::payout_item_list()),
        Resource("payouts/ages", kReadLedger,
                 "Unfinished payouts by state and age, and those that wait for a person: failed or "
                 "returned and not paid since, or sent over seven days ago",
                 {}, payout_age_list().columns(), list_payout_ages, kPlain,
                 {{"waiting", kObjects, Scope::kEveryone},
                  {"waiting_count", kInteger, Scope::kEveryone}}),
        Resource("approvals", kReadLedger, "Commands and payouts that wait for another actor", {},
                 lists::pending_list().columns(), list_approvals),
        Resource("approval", kReadLedger,
                 "One command, payout or payout run, as an approver is shown it, with its digest",
                 {{"id", ValueKind::kId, "Command, payout or payout run", true}},
                 approval_members(), show_approval),
        Resource("periods", kReadLedger, "Closed periods, and the open one",
                 {{"until", ValueKind::kMonthEnd,
                   "End of a month that is not closed: what is missing before it can be"}},
                 lists::period_list().columns(), list_periods, kPlain, extra("checks", kObject)),
        plain(lists::period_sum_list()),
        Resource("trial-balance", kReadLedger, "Every ledger account over an interval",
                 {{"from", ValueKind::kDay, "First instant of the first UTC day (RFC 3339)", true},
                  {"until", ValueKind::kDay, "First instant of the UTC day after the last", true}},
                 lists::trial_balance_list().columns(), list_trial_balance, kCsv),
        Resource("statement", kOfCreators, "One creator's month",
                 {creator(true),
                  {"month", ValueKind::kMonth, "Month in UTC, such as 2026-01", true},
                  {"format",
                   ValueKind::kWord,
                   "Format of the answer (default: json)",
                   false,
                   {"json", "csv", "html"}}},
                 lists::statement_members(), show_statement),
        Resource("nodes", kReadLedger,
                 "Nodes with the account's chain, and the worker of this node", {},
                 node_list().columns(), list_nodes)};
}

}  // namespace

const std::vector<Resource>& resources() {
    static const std::vector<Resource> all = [] {
        std::vector<Resource> list = orders_part();
        for (const auto& part : {people_part(), money_part()}) {
            list.insert(list.end(), part.begin(), part.end());
        }
        for (const lists::PlainList* const one : lists::plain_lists()) {
            const auto found = std::ranges::find(list, one->resource, &Resource::path);
            if (!one->resource.empty() && found == list.end()) {
                list.push_back(plain(*one));
            }
        }
        return list;
    }();
    return all;
}

const Resource* find_resource(std::string_view path) {
    const auto& all = resources();
    const auto found = std::ranges::find(all, path, &Resource::path);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace sluice::serve
