// Balances, payouts, payout runs, approvals, periods, trial balance and statements.
#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "core/commands/ids.hpp"
#include "core/journal/period_sums.hpp"
#include "core/lists/approvals.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/places.hpp"
#include "core/lists/plain_lists.hpp"
#include "core/lists/report.hpp"
#include "core/lists/statement.hpp"
#include "core/payouts/items.hpp"
#include "core/statements/statements.hpp"
#include "program/cli/cli_values.hpp"
#include "serve/read/lists.hpp"
#include "serve/read/masks.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;
using lists::List;
using lists::Value;

using lists::Row;

/// Payouts that are read together.
constexpr std::size_t kPayoutsAtOnce = 1000;

/// Sums of payout runs, by currency and state.
class RunSums {
public:
    /// Reads the payouts of these runs together. Their ids follow from the runs.
    RunSums(LedgerReader& ledger, std::span<const PayoutRun> runs) {
        std::vector<std::string> ids;
        for (const PayoutRun& run : runs) {
            for (std::uint64_t number = 1; number <= run.payouts_count; ++number) {
                ids.push_back(payout_id(run.payout_run, number));
                if (ids.size() == kPayoutsAtOnce) {
                    add(ledger, ids);
                }
            }
        }
        add(ledger, ids);
    }

    [[nodiscard]] Json of(const std::string& run) const {
        const auto found = sums_.find(run);
        return Json::list(found == sums_.end() ? Sums() : found->second,
                          [](const Sums::value_type& sum) -> Json {
                              return {{"currency", sum.first.first.code()},
                                      {"state", to_string(sum.first.second)},
                                      {"amount", sum.second.first.to_string()},
                                      {"payouts", sum.second.second}};
                          });
    }

private:
    using Sums = std::map<std::pair<Currency, PayoutState>, std::pair<Decimal, std::uint64_t>>;

    void add(LedgerReader& ledger, std::vector<std::string>& ids) {
        lists::visit_payouts(ledger, ids, [this](const Payout& payout) {
            auto& sum = sums_[payout_run_of(payout.payout_id)][{payout.currency, payout.state}];
            sum.first += payout.amount;
            ++sum.second;
        });
        ids.clear();
    }

    std::map<std::string, Sums> sums_;
};

std::optional<std::string> run_argument(const Read& read) {
    const auto run = read.arguments.text("run");
    return run ? run : read.arguments.text("payout_run");
}

}  // namespace

std::vector<Row> payout_rows(Read& read, std::span<const Payout> payouts) {
    lists::PayoutNames names(read.ledger);
    names.expect(payouts);
    PartsOf parts = parts_of(payouts, read.ledger);
    return mapped(payouts, [&](const Payout& payout) {
        return lists::payout_row(names, read.grant.account_id, payout, parts[payout.payout_id]);
    });
}

namespace {

/// A payout run with the sums of its payouts.
struct RunOf {
    const AccountId& account_id;
    const PayoutRun& run;
    Json sums;
};

const List<RunOf>& run_list() {
    using Of = const RunOf&;
    static const List<RunOf> list{
        {"payout_run", kText, kLedger, [](Of of) -> Value { return of.run.payout_run; }},
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
        {"node", kText, kLedger, [](Of of) -> Value { return of.run.node; }},
        {"until", kTime, kLedger, [](Of of) -> Value { return of.run.until; }},
        {"closed_at", kTime, kLedger, [](Of of) -> Value { return of.run.closed_at; }},
        {"closed_by", kText, kLedger, [](Of of) -> Value { return of.run.closed_by; }},
        {"payouts", kInteger, kLedger, [](Of of) -> Value { return of.run.payouts_count; }},
        {"digest", kText, kLedger, [](Of of) -> Value { return to_hex(of.run.digest); }},
        {"sums", kObjects, kLedger,
         columns_of(kText, kLedger, "currency state") + columns_of(kAmount, kLedger, "amount") +
             columns_of(kInteger, kLedger, "payouts"),
         [](Of of) -> Value { return of.sums; }}};
    return list;
}

/// The newest first.
Page list_runs(Read& read) {
    Page page;
    std::uint64_t payouts = 0;
    auto runs = lists::runs_before(read.ledger, read.grant.account, read.after.value_or(""),
                                   read.limit() + 1);
    std::size_t shown = 0;
    while (shown < std::min(runs.size(), read.limit()) && payouts < kRowsReadMax) {
        payouts += runs[shown++].payouts_count;
    }
    if (shown < runs.size()) {
        runs.resize(shown);
        page.next_key = runs.back().payout_run;
    }
    const RunSums sums(read.ledger, runs);
    for (const PayoutRun& run : runs) {
        page.rows.push_back(run_list().row({read.grant.account_id, run, sums.of(run.payout_run)}));
    }
    return page;
}

Json show_run(Read& read) {
    const auto id = run_argument(read);
    if (!id) {
        throw Refusal{parameter_problem({{"run", "required"}})};
    }
    const PayoutRun run = own_row(read, PayoutRun{*id});
    const RunSums sums(read.ledger, {&run, 1});
    Json object = run_list().object({read.grant.account_id, run, sums.of(run.payout_run)});
    object["skipped"] =
        Json::list(lists::skipped_of(read.ledger, run.payout_run), [&read](const Skipped& row) {
            return object_of(lists::skipped_list().columns(),
                             lists::skipped_row(read.ledger, read.grant.account, row));
        });
    object["names"] = names_in(read, object["skipped"]);
    return object;
}

/// As `payout list`: in the order of closing.
Page list_payouts(Read& read) {
    const auto currency = Currency::parse(read.arguments.text("currency").value_or(""));
    const auto run = run_argument(read);
    if (run) {
        (void)own_row(read, PayoutRun{*run});
    }
    const lists::PayoutListing listing{
        read.grant.account, creator_of(read),
        parse_name<PayoutState>(read.arguments.text("state").value_or("")),
        run ? payout_id_prefix(*run) : "", read.after.value_or("")};
    const bool filters =
        currency || (listing.creator && (run || listing.state)) || (run && listing.state);
    const auto ids =
        lists::payout_ids(read.ledger, listing, filters ? kRowsReadMax : read.limit() + 1);
    std::vector<Payout> payouts;
    Page page;
    std::string last;  ///< The payout that was read last.
    const auto covers = [&](const Payout& payout) {
        return (!listing.state || payout.state == *listing.state) &&
               (!currency || payout.currency == *currency) &&
               (!listing.creator || payout.creator == *listing.creator);
    };
    lists::visit_payouts(read.ledger, ids, [&](const Payout& payout) {
        if (payouts.size() == read.limit()) {
            page.next_key = last;
            return false;
        }
        last = payout.payout_id;
        if (covers(payout)) {
            payouts.push_back(payout);
        }
        return true;
    });
    if (!page.next_key && ids.size() == kRowsReadMax) {
        page.next_key = ids.back();
    }
    page.rows = payout_rows(read, payouts);
    return page;
}

Json show_payout(Read& read) {
    const Payout payout = payout_of(read);
    return object_of(lists::payout_list().columns(), payout_rows(read, {&payout, 1}).front());
}

}  // namespace

Json newest_payouts(Read& read, const CreatorId& creator) {
    constexpr std::size_t kNewest = 10;
    const auto ids = lists::payout_ids(read.ledger, {read.grant.account, creator}, kRowsReadMax);
    std::vector<Payout> payouts;
    for (auto id = ids.rbegin(); id != ids.rend() && payouts.size() < kNewest; ++id) {
        Payout payout{*id};
        if (read.ledger.load(payout)) {
            payouts.push_back(std::move(payout));
        }
    }
    return lists::objects_of(lists::payout_list().columns(), payout_rows(read, payouts));
}

namespace {

Page list_approvals(Read& read) {
    const KeyOf commands_first = [](const Row& row) {
        const std::string command = lists::pending_list().cell(row, "command").cell();
        return std::vector{std::string(command == "payout close" ? "2" : "1"),
                           lists::pending_list().cell(row, "id").cell()};
    };
    PageOfAll page(read, commands_first, 2);
    lists::write_pending(read.ledger, read.grant.account, read.grant.account_id, page);
    return std::move(page).take();
}

/// As `approvals show`.
Json show_approval(Read& read) {
    const auto found = shown_approval(read.ledger, read.grant.account, read.grant.account_id,
                                      read.arguments.required("id"), read.now);
    if (!found.ok()) {
        refuse("not_found");
    }
    Json shown =
        lists::approval_object(read.ledger, read.grant.account, read.grant.account_id, *found);
    mask_approval(shown);
    shown["names"] = names_in(read, shown);
    return shown;
}

/// Returns what a month's end needs before it is closed, and what is worth a look.
Json closing_checks(Read& read, Timestamp until) {
    Json behind = Json::array();
    for (const LedgerHead& head : late_nodes(read.ledger, until, read.now)) {
        behind.push_back(head.number);
    }
    std::uint64_t approvals = 0;
    EachRow count([&approvals](const Row& /*row*/) { ++approvals; });
    lists::write_pending(read.ledger, read.grant.account, read.grant.account_id, count);
    std::map<Currency, Decimal> blocked;
    balances_at(read.ledger, read.grant.account, read.now, [&blocked](const BalanceAt& balance) {
        if (!balance.blocked.is_zero()) {
            blocked[balance.key.currency] += balance.blocked;
        }
    });
    std::uint64_t unfinished = 0;
    for (const PayoutState state :
         {PayoutState::kClosed, PayoutState::kApproved, PayoutState::kSent}) {
        lists::scan_payouts_in(read.ledger, read.grant.account, state,
                               [&unfinished](const Payout& /*payout*/) { ++unfinished; });
    }
    Json amounts = Json::list(blocked, [](const auto& one) -> Json {
        return {{"currency", one.first.code()}, {"amount", one.second.to_string()}};
    });
    return {{"until", until.to_string()},    {"nodes_applied", behind.items().empty()},
            {"nodes", std::move(behind)},    {"approvals", approvals},
            {"blocked", std::move(amounts)}, {"payouts_unfinished", unfinished}};
}

/// The closed periods, then the open one, which has no end yet.
Page list_periods(Read& read) {
    const KeyOf open_one_last = [](const Row& row) {
        const Json& until = lists::period_list().cell(row, "until");
        return std::vector{until.is_null() ? std::string("open") : until.cell()};
    };
    PageOfAll page(read, open_one_last, 1);
    lists::write_periods(read.ledger, read.grant.account, read.grant.account_id, page);
    page.add(lists::period_list().row({read.grant.account_id, nullptr}));
    Page shown = std::move(page).take();
    if (const auto until = read.arguments.time("until")) {
        shown.extras.emplace_back("checks", closing_checks(read, *until));
    }
    return shown;
}

Page list_trial_balance(Read& read) {
    const Timestamp from = read.arguments.required_time("from");
    const Timestamp until = read.arguments.required_time("until");
    // The ledger accounts of a program and currency, in the order of the money's way.
    const KeyOf by_account = [](const Row& row) {
        constexpr std::array<std::string_view, 4> kOrder{"expense", "owed", "payout", "paid"};
        const auto cell = [&row](std::string_view name) {
            return lists::trial_balance_list().cell(row, name).cell();
        };
        const auto place = std::ranges::find(kOrder, cell("ledger_account")) - kOrder.begin();
        return std::vector{cell("program_id"), cell("currency"), std::to_string(place)};
    };
    PageOfAll page(read, by_account, 3);
    const std::string first = from.to_string().substr(0, 7);
    const std::string last = until.plus_seconds(-1).to_string().substr(0, 7);
    (void)lists::write_trial_balance(read.ledger,
                                     {read.grant.account,
                                      read.grant.account_id,
                                      {from, until, first == last ? first : first + "/" + last}},
                                     page);
    return std::move(page).take();
}

Columns approval_members() {
    return columns_of(kText, kLedger, "id command account_id state actor reason") +
           Columns{{"received_at", kTime, kLedger}, {"approvers", kTexts, kLedger},
                   {"ended_by", kText, kLedger},    {"ended_at", kTime, kLedger},
                   {"fields", kObject, kLedger},    {"differences", kObjects, kLedger},
                   {"effect", kObject, kLedger},    {"digest", kText, kLedger},
                   {"names", kObject, kLedger}};
}

}  // namespace

std::vector<Resource> money_resources() {
    const Parameter run{"run", ValueKind::kId, "Payout run"};
    const Parameter payout_run{"payout_run", ValueKind::kId,
                               "The same as run, under the name that rows have"};
    return {
        Resource("runs", kReadLedger, "Payout runs, the newest first", {}, run_list().columns(),
                 list_runs),
        Resource("run", kReadLedger, "One payout run with the creators that it left out",
                 {run, payout_run},
                 run_list().columns() +
                     Columns{{"skipped", kObjects, kLedger, lists::skipped_list().columns()},
                             {"names", kObject, kLedger}},
                 show_run),
        Resource("payouts", kOfCreators, "Payouts in the order of closing",
                 {word_parameter("state", "State",
                                 lists::words_of("CLOSED APPROVED SENT PAID VOID FAILED RETURNED")),
                  run,
                  payout_run,
                  creator_parameter(),
                  {"currency", ValueKind::kCurrency, "Currency (ISO 4217)"}},
                 lists::payout_list().columns(), list_payouts, kCsv),
        Resource("payout", kOfCreators, "One payout", {payout_parameter()},
                 lists::payout_list().columns(), show_payout),
        plain_resource(lists::payout_item_list()),
        payout_age_resource(),
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
        plain_resource(lists::period_sum_list()),
        Resource("trial-balance", kReadLedger, "Every ledger account over an interval",
                 {{"from", ValueKind::kDay, "First instant of the first UTC day (RFC 3339)", true},
                  {"until", ValueKind::kDay, "First instant of the UTC day after the last", true}},
                 lists::trial_balance_list().columns(), list_trial_balance, kCsv)};
}

}  // namespace sluice::serve
