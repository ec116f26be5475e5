#include "core/lists/approvals.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "core/json/slices.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/places.hpp"
#include "core/lists/programs.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/statements/statements.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

constexpr std::size_t kLargest = 10;   ///< Creators that are shown one by one.
constexpr std::size_t kListed = 1000;  ///< Payouts of a payout run that are listed.

/// @param totals  Amounts in several currencies have no place in the row.
Row pending_row(const PendingApproval& row, const AccountId& account,
                const std::map<Currency, Decimal>& totals) {
    const bool is_one = totals.size() == 1;
    return pending_list().row(
        {row.command_id, command_words(row.topic), account,
         is_one ? std::optional(Money{totals.begin()->first, totals.begin()->second})
                : std::nullopt,
         row.actor, row.reason, row.received_at});
}

Row pending_row(const Payout& payout, const AccountId& account) {
    return pending_list().row({payout.payout_id,
                               "payout close",
                               account,
                               Money{payout.currency, payout.amount},
                               payout.closed_by,
                               {},
                               payout.closed_at});
}

// ---- A command ----------------------------------------------------------------------------------

/// Returns the opening balances that a command imports, or the opposite of those that it reverses.
std::vector<OpeningImport::Row> openings_of(const PendingApproval& row, const Command& command,
                                            LedgerReader& ledger) {
    if (const auto* import = std::get_if<OpeningImport>(&command)) {
        return import->rows;
    }
    std::vector<OpeningImport::Row> rows;
    if (const auto* reverse = std::get_if<Reverse>(&command)) {
        for (const MoneyCommand& one : unreversed_postings(ledger, row.account, reverse->id)) {
            OpeningImport::Row& opposite = rows.emplace_back();
            opposite.line = static_cast<std::uint32_t>(rows.size());
            opposite.creator = shown_id(ledger, row.account, one.creator);
            opposite.program = one.program;
            opposite.amount = {one.currency, -one.amount};
        }
    }
    return rows;
}

/// The members of the command's body without those that every command has.
Json fields_of(const PendingApproval& row, const Command& command, LedgerReader& ledger) {
    Json fields = Json::object();
    for (const JsonMember& member : json_members(row.body)) {
        if (member.key != "key" && member.key != "reason" && member.key != "content") {
            fields[member.key] = Json::from_text(member.value);
        }
    }
    if (!row.shop_id.empty()) {
        fields["shop"] = Json(row.shop_id.view());
    }
    if (const auto rows = openings_of(row, command, ledger); !rows.empty()) {
        fields["rows"] = Json::array();
        for (const OpeningImport::Row& one : rows) {
            fields["rows"].push_back({{"line", one.line},
                                      {"creator_id", one.creator.str()},
                                      {"program_id", one.program.str()},
                                      {"amount", to_string(one.amount)}});
        }
    }
    return fields;
}

/// A cell in which an empty list is not the same as an absent one.
Json cell_of(const Json& value) {
    const std::string text = value.cell();
    const std::string json = value.compact();
    return text.empty() && json != "null" ? Json(json) : text_or_null(text);
}

/// Adds a row for each member that differs; a missing object has none of the members.
void add_differences(const std::string& prefix, const Json& before, const Json& after,
                     Json& differences) {
    for (std::size_t i = 0; i < after.names().size(); ++i) {
        const std::string& name = after.names()[i];
        const auto known = std::ranges::find(before.names(), name);
        const Json was =
            known == before.names().end()
                ? Json()
                : cell_of(before.items()[static_cast<std::size_t>(known - before.names().begin())]);
        const Json becomes = cell_of(after.items()[i]);
        if (was.compact() != becomes.compact()) {
            differences.push_back({{"field", prefix + name}, {"before", was}, {"after", becomes}});
        }
    }
}

void add_differences(const ProgramApply& command, LedgerReader& ledger, Json& differences) {
    for (const Policy& policy : command.policies) {
        AccountSettings after{.policy = policy, .blocking = blocking_kinds(policy)};
        add_differences("policy.", policy_object(account_settings(ledger, policy.account)),
                        policy_object(after), differences);
    }
    for (const Program& program : command.programs) {
        const std::optional<ProgramRow> stored = ledger.program(program.id);
        add_differences("program " + program.id.str() + ".",
                        stored ? program_object(stored->program) : Json::object(),
                        program_object(program), differences);
    }
}

void add_profile(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
                 const std::optional<std::string>& name, const std::optional<std::string>& payee,
                 Json& differences) {
    CreatorRow profile{account, first_id(ledger, account, creator), {}, {}, {}};
    static_cast<void>(ledger.load(profile));
    Json before = Json::object();
    Json after = Json::object();
    for (const auto& [field, was, becomes] :
         {std::tuple("name", &profile.name, &name), std::tuple("payee", &profile.payee, &payee)}) {
        if (*becomes) {
            before[field] = Json(*was);
            after[field] = Json(**becomes);
        }
    }
    add_differences("creator " + creator.str() + ".", before, after, differences);
}

/// A group may be a rate.
void add_group(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
               const std::optional<ProgramId>& program, const std::optional<std::string>& group,
               Json& differences) {
    if (!program || !group) {
        return;
    }
    const std::optional<Membership> stored =
        ledger.membership(account, *program, first_id(ledger, account, creator));
    Json before = Json::object();
    Json after = Json::object();
    before["group"] = Json(stored && !stored->removed ? stored->group : std::string());
    after["group"] = Json(*group);
    add_differences("creator " + creator.str() + " in " + program->str() + ".", before, after,
                    differences);
}

/// A code that others have or had changes hands; one of another program takes its customers along.
void add_code(LedgerReader& ledger, AccountNumber account, const CreatorImport::Row& line,
              Json& differences) {
    if (line.code.empty()) {
        return;
    }
    const CreatorId creator = first_id(ledger, account, line.creator);
    std::set<std::string> others;
    for (const CodeRow& owner : ledger.code_owners(account, code_digest(line.code))) {
        if (owner.creator != creator || owner.program != line.program) {
            others.insert(shown_id(ledger, account, owner.creator).str() + " in " +
                          owner.program.str());
        }
    }
    if (!others.empty()) {
        differences.push_back(
            {{"field", "code " + line.code},
             {"before", Json::list(others, [](const auto& one) { return Json(one); }).cell()},
             {"after", line.creator.str() + " in " + line.program.str()}});
    }
}

Json differences_of(const PendingApproval& row, const Command& command, LedgerReader& ledger) {
    Json differences = Json::array();
    if (const auto* apply = std::get_if<ProgramApply>(&command)) {
        add_differences(*apply, ledger, differences);
    } else if (const auto* set = std::get_if<CreatorSet>(&command)) {
        add_profile(ledger, row.account, set->creator, set->name, set->payee, differences);
        add_group(ledger, row.account, set->creator, set->program, set->group, differences);
    } else if (const auto* import = std::get_if<CreatorImport>(&command)) {
        for (const CreatorImport::Row& line : import->rows) {
            add_profile(ledger, row.account, line.creator, line.name, line.payee, differences);
            add_group(ledger, row.account, line.creator, line.program, line.group, differences);
            add_code(ledger, row.account, line, differences);
        }
    }
    return differences;
}

/// Totals by currency and the largest rows of opening balances that are imported or reversed.
Json effect_of(std::vector<OpeningImport::Row> rows, const std::string& result) {
    std::map<Currency, std::pair<Decimal, std::uint64_t>> totals;
    for (const OpeningImport::Row& row : rows) {
        const Currency currency = row.amount.currency;
        auto& [sum, balances] = value_at(totals, currency, zero_amount(currency), 0);
        sum += row.amount.amount;
        ++balances;
    }
    std::ranges::stable_sort(rows, std::greater(), [](const OpeningImport::Row& row) {
        return row.amount.amount.absolute();
    });
    rows.resize(std::min(rows.size(), kLargest));
    Json sums = Json::array(), creators = Json::array();
    for (const auto& [currency, total] : totals) {
        sums.push_back({{"currency", currency.code()},
                        {"amount", total.first.to_string()},
                        {"balances", total.second}});
    }
    for (const OpeningImport::Row& row : rows) {
        creators.push_back({{"program_id", row.program.str()},
                            {"creator_id", row.creator.str()},
                            {"currency", row.amount.currency.code()},
                            {"amount", row.amount.amount.to_string()}});
    }
    return {{"result", result}, {"totals", std::move(sums)}, {"creators", std::move(creators)}};
}

/// Sums of what a period close would close, by currency: over all days since the last closed one.
Json period_json(AccountNumber account, Timestamp until, LedgerReader& ledger) {
    Json list = Json::array();
    for (const auto& [currency, total] : period_totals(ledger, account, until)) {
        list.push_back({{"currency", currency.code()},
                        {"earned", total.earned.to_string()},
                        {"adjusted", total.adjusted.to_string()},
                        {"paid_out", total.paid_out.to_string()},
                        {"closing_owed", total.owed.to_string()},
                        {"closing_in_payouts", total.in_payouts.to_string()},
                        {"closing_paid", total.paid.to_string()}});
    }
    return list;
}

/// Returns who may approve: the names of the policy, or nothing for any other person.
Json approvers_of(LedgerReader& ledger, AccountNumber account) {
    const Policy policy = account_settings(ledger, account).policy;
    return Json::list(policy.approvers,
                      [](const std::string& entry) { return Json(approver_name(entry)); });
}

/// The command as a dry run: the ten largest changes.
Json effect_of(const PendingApproval& row, const Command& command, const Result<DryRun>& tried,
               LedgerReader& ledger) {
    if (!tried) {
        return {{"refused", tried.error().message}};
    }
    std::vector<DryRunRow> rows = tried->rows;
    std::ranges::sort(rows, [](const DryRunRow& a, const DryRunRow& b) {
        return a.difference.absolute() > b.difference.absolute();
    });
    if (auto openings = openings_of(row, command, ledger); !openings.empty()) {
        return effect_of(std::move(openings), tried->text);
    }
    if (const auto* close = std::get_if<PeriodClose>(&command)) {
        return {{"result", tried->text},
                {"totals", period_json(row.account, close->until, ledger)}};
    }
    rows.resize(std::min(rows.size(), kLargest));
    return {{"result", tried->text}, {"creators", Json::list(rows, [](const DryRunRow& change) {
                                          return difference_list().object(change);
                                      })}};
}

// ---- Payouts ------------------------------------------------------------------------------------

Json totals_of(const std::vector<Payout>& payouts) {
    struct Total {
        Decimal amount;
        std::uint64_t payouts = 0, items = 0;
    };
    std::map<Currency, Total> totals;
    for (const Payout& payout : payouts) {
        Total& total = value_at(totals, payout.currency, Total{zero_amount(payout.currency), 0, 0});
        total.amount += payout.amount;
        ++total.payouts;
        total.items += payout.items_count;
    }
    Json list = Json::array();
    for (const auto& [currency, total] : totals) {
        list.push_back({{"currency", currency.code()},
                        {"amount", total.amount.to_string()},
                        {"payouts", total.payouts},
                        {"items", total.items}});
    }
    return list;
}

/// The whole payout run by state and currency, whether its payouts wait or not.
Json states_of(const std::vector<Payout>& payouts) {
    std::map<PayoutState, std::vector<Payout>> states;
    for (const Payout& payout : payouts) {
        states[payout.state].push_back(payout);
    }
    Json list = Json::array();
    for (const auto& [state, of_state] : states) {
        const Json totals = totals_of(of_state);
        for (const Json& total : totals.items()) {
            Json row{{"state", to_string(state)}};
            for (std::size_t i = 0; i < total.names().size(); ++i) {
                row[total.names()[i]] = total.items()[i];
            }
            list.push_back(std::move(row));
        }
    }
    return list;
}

/// @param more  A member of its own: the state, or the number of orders.
Json payout_row(const Payout& payout, AccountNumber account, Json::Member more,
                LedgerReader& ledger) {
    return {{"payout_id", payout.payout_id},
            {"creator_id", shown_id(ledger, account, payout.creator).str()},
            {"payee", text_or_null(payout.payee)},
            {"currency", payout.currency.code()},
            {"amount", payout.amount.to_string()},
            std::move(more),
            {"items", payout.items_count}};
}

Json effect_of(const ApprovalSubject& subject, const std::vector<Payout>& all,
               AccountNumber account, LedgerReader& ledger) {
    std::vector<Payout> largest = subject.payouts;
    std::ranges::sort(largest, [](const Payout& a, const Payout& b) {
        return a.amount == b.amount ? a.payout_id < b.payout_id : a.amount > b.amount;
    });
    largest.resize(std::min(largest.size(), kLargest));
    Json payouts = Json::array();
    for (std::size_t i = 0; i < std::min(all.size(), kListed); ++i) {
        payouts.push_back(payout_row(all[i], account, {"state", to_string(all[i].state)}, ledger));
    }
    return {
        {"totals", totals_of(subject.payouts)},
        {"needed_no_approval", subject.unguarded_count},
        {"creators",
         Json::list(largest,
                    [&](const Payout& payout) {
                        return payout_row(payout, account, {"orders", payout.orders_count}, ledger);
                    })},
        {"states", states_of(all)},
        {"payouts", std::move(payouts)},
        {"payouts_left_out", all.size() - std::min(all.size(), kListed)}};
}

Json command_object(const ShownApproval& shown, const AccountId& account, LedgerReader& ledger) {
    const ApprovalSubject& subject = shown.subject;
    const PendingApproval& row = *subject.command;
    const Result<Request> request = decode_request(row.topic, row.body);
    return {
        {"id", subject.id},
        {"command", command_words(row.topic)},
        {"account_id", account.str()},
        {"state", row.state == ApprovalState::kPending    ? "PENDING"
                  : row.state == ApprovalState::kApproved ? "APPROVED"
                                                          : "WITHDRAWN"},
        {"actor", row.actor},
        {"reason", text_or_null(row.reason)},
        {"received_at", row.received_at.to_string()},
        {"approvers", approvers_of(ledger, row.account)},
        {"ended_by", text_or_null(row.ended_by)},
        {"ended_at", row.ended_at},
        {"fields", request ? fields_of(row, request->command, ledger) : Json()},
        {"differences", request ? differences_of(row, request->command, ledger) : Json::array()},
        {"effect",
         shown.effect ? effect_of(row, request->command, *shown.effect, ledger) : Json::object()},
        {"digest", to_hex(subject.digest)}};
}

/// Visits the commands that wait for an approval.
template <class Visit>
void visit_pending(LedgerReader& ledger, AccountNumber account, const Visit& visit) {
    constexpr std::size_t kAtOnce = 100;  // a row has the whole command
    const WaitingByState first{account, ApprovalState::kPending, {}};
    std::vector<std::string> waiting;
    ledger.scan(first, {2, 2},
                [&waiting](const WaitingByState& row) { waiting.push_back(row.command_id); });
    for (std::size_t at = 0; at < waiting.size(); at += kAtOnce) {
        std::vector<PendingApproval> rows(std::min(kAtOnce, waiting.size() - at));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].account = account;
            rows[i].command_id = waiting[at + i];
        }
        load_all(ledger, rows);
        std::ranges::for_each(rows, visit);
    }
}

Json payouts_object(const ApprovalSubject& subject, AccountNumber number, const AccountId& account,
                    LedgerReader& ledger) {
    const std::vector<Payout> all =
        payouts_named(ledger, number, subject.id).value_or(std::vector<Payout>());
    const bool is_void = std::ranges::all_of(
        all, [](const Payout& payout) { return payout.state == PayoutState::kVoid; });
    const Payout& first = all.front();
    // The last one that was approved.
    const auto approved = std::ranges::max_element(
        all, {}, [](const Payout& payout) { return payout.approved_at.value_or(kFirstInstant); });
    return {{"id", subject.id},
            {"command", "payout close"},
            {"account_id", account.str()},
            {"state", subject.waits() ? "PENDING"
                      : is_void       ? "VOID"
                                      : "APPROVED"},
            {"actor", first.closed_by},
            {"reason", nullptr},
            {"received_at", first.closed_at.to_string()},
            {"approvers", approvers_of(ledger, number)},
            {"ended_by", subject.waits() ? Json() : text_or_null(approved->approved_by)},
            {"ended_at", subject.waits() ? Json() : Json(approved->approved_at)},
            {"fields", {{"until", first.until.to_string()}}},
            {"differences", Json::array()},
            {"effect", effect_of(subject, all, number, ledger)},
            {"digest", to_hex(subject.digest)}};
}

}  // namespace

const List<PendingOf>& pending_list() {
    using Of = const PendingOf&;
    static const List<PendingOf> list{
        {"id", kText, kLedger, [](Of of) -> Value { return of.id; }},
        {"command", kText, kLedger, [](Of of) -> Value { return of.command; }},
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }, kInFilesOnly},
        {"amount", kAmount, kLedger,
         [](Of of) -> Value { return of.money ? Value(of.money->amount) : Value(); }},
        {"currency", kText, kLedger,
         [](Of of) -> Value { return of.money ? Value(of.money->currency.code()) : Value(); }},
        {"actor", kText, kLedger, [](Of of) -> Value { return of.actor; }},
        {"reason", kText, kLedger, [](Of of) { return or_null(of.reason); }},
        {"received_at", kTime, kLedger, [](Of of) -> Value { return of.received_at; }}};
    return list;
}

void write_pending(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out) {
    visit_pending(ledger, account, [&](const PendingApproval& row) {
        out.add(pending_row(row, account_id, totals_of(row, ledger)));
    });
    scan_payouts_in(ledger, account, PayoutState::kClosed,
                    [&](const Payout& payout) { out.add(pending_row(payout, account_id)); });
}

PendingTotals pending_totals(LedgerReader& ledger, AccountNumber account) {
    PendingTotals totals;
    visit_pending(ledger, account, [&](const PendingApproval& row) {
        ++totals.count;
        for (const auto& [currency, amount] : totals_of(row, ledger)) {
            add_to(totals.amounts, currency, {currency, amount});
        }
    });
    scan_payouts_in(ledger, account, PayoutState::kClosed, [&](const Payout& payout) {
        ++totals.count;
        add_to(totals.amounts, payout.currency, {payout.currency, payout.amount});
    });
    return totals;
}

const List<DryRunRow>& difference_list() {
    static const List<DryRunRow> list{
        {"program_id", kText, kLedger, member<&DryRunRow::program>},
        {"creator_id", kText, kLedger, member<&DryRunRow::creator>},
        {"currency", kText, kLedger, member<&DryRunRow::currency>},
        {"orders", kInteger, kLedger, member<&DryRunRow::orders>},
        {"before", kAmount, kLedger, member<&DryRunRow::before>},
        {"after", kAmount, kLedger, member<&DryRunRow::after>},
        {"difference", kAmount, kLedger, member<&DryRunRow::difference>}};
    return list;
}

Json approval_object(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                     const ShownApproval& shown) {
    return shown.subject.command ? command_object(shown, account_id, ledger)
                                 : payouts_object(shown.subject, account, account_id, ledger);
}

}  // namespace sluice::lists
