#include "core/lists/creators.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/ledger/command_rows.hpp"
#include "core/lists/report.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {

namespace {

const List<CodeRow>& own_code_list() {
    static const List<CodeRow> list{
        {"code", kText, kEveryone, member<&CodeRow::code>},
        {"valid_from", kTime, kEveryone, member<&CodeRow::valid_from>},
        {"valid_until", kTime, kEveryone, member<&CodeRow::valid_until>}};
    return list;
}

std::vector<ProgramRow> programs_of(LedgerReader& ledger,
                                    const std::optional<AccountNumber>& account,
                                    const std::optional<ProgramId>& only) {
    std::vector<ProgramRow> programs;
    ledger.scan_programs([&](const ProgramRow& row) {
        if ((!account || row.program.account == *account) && (!only || row.program.id == *only)) {
            programs.push_back(row);
        }
    });
    return programs;
}

Json earned_list(const EarnedAmounts& earned) {
    Json list = Json::array();
    for (const auto& [currency, months] : earned) {
        list.push_back({{"currency", currency.code()},
                        {"this_month", months.this_month.to_string()},
                        {"last_month", months.last_month.to_string()}});
    }
    return list;
}

/// Rows of tables that members of one program have, of those from the first to the last of them.
class MemberTables {
public:
    /// Requires: `members` is not empty, and sorted by creator.
    MemberTables(LedgerReader& ledger, const std::vector<Membership>& members, Timestamp now)
        : first_(members.front()), last_(members.back().creator) {
        for (const Membership& member : members) {
            codes_.try_emplace(member.creator);
        }
        ledger.scan_codes(first_.account, first_.program, [this](const CodeRow& code) {
            const auto own = codes_.find(code.creator);
            if (own != codes_.end()) {
                own->second.push_back(code.code);
            }
        });
        CreatorRow profile{first_.account, first_.creator, {}, {}, {}};
        ledger.scan(profile, {1, 2}, [this](const CreatorRow& row) {
            if (last_ < row.creator) {
                return false;
            }
            profiles_.emplace(row.creator, row);
            return true;
        });
        add_earned(ledger, month_of(now), &EarnedByMonth::this_month);
        add_earned(ledger, month_before(month_of(now)), &EarnedByMonth::last_month);
    }

    [[nodiscard]] MemberRow member(const ProgramRow& program, const Membership& row) const {
        const CreatorRow profile = value_or(profiles_, row.creator);
        const CreatorId& shown = profile.shown_as.empty() ? row.creator : profile.shown_as;
        EarnedAmounts earned = value_or(earned_, row.creator);
        Row cells = creator_list().row(
            {program.program.account_id, shown, row, profile, codes_.at(row.creator), earned});
        return {{row.program, row.creator}, std::move(cells), std::move(earned)};
    }

private:
    void add_earned(LedgerReader& ledger, std::uint32_t month, Decimal EarnedByMonth::*column) {
        const auto visit = [this, column](const MonthlySum& sum) {
            if (last_ < sum.creator) {
                return false;
            }
            if (sum.program == first_.program) {
                const Decimal zero = zero_amount(sum.currency);
                EarnedAmounts& earned = earned_[sum.creator];
                value_at(earned, sum.currency, EarnedByMonth{zero, zero}).*column += sum.earned;
            }
            return true;
        };
        scan_month(ledger, first_.account, month, first_.creator, visit, {2, 3});
    }

    Membership first_;
    CreatorId last_;
    std::map<CreatorId, std::vector<std::string>> codes_;
    std::map<CreatorId, CreatorRow> profiles_;
    std::map<CreatorId, EarnedAmounts> earned_;
};

/// Adds at most `max` members of a program that come after `after`.
void add_members(LedgerReader& ledger, const ProgramRow& program,
                 const std::optional<CreatorId>& after, std::size_t max, Timestamp now,
                 std::vector<MemberRow>& members) {
    const Membership first{.account = program.program.account,
                           .program = program.program.id,
                           .creator = after.value_or(CreatorId())};
    std::vector<Membership> rows;
    ledger.scan(first, {2, after ? 3U : 2U}, [&](const Membership& row) {
        if (!after || row.creator != *after) {
            rows.push_back(row);
        }
        return rows.size() < max;
    });
    if (rows.empty()) {
        return;
    }
    const MemberTables tables(ledger, rows, now);
    for (const Membership& row : rows) {
        members.push_back(tables.member(program, row));
    }
}

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// Returns the currencies of the members' amounts, the one with the largest sum first.
std::vector<Currency> currencies_of(const std::vector<MemberRow>& members) {
    std::map<Currency, Decimal> sums;
    for (const MemberRow& member : members) {
        for (const auto& [currency, months] : member.earned) {
            sums[currency] += months.this_month;
        }
    }
    std::vector<Currency> currencies = mapped(sums, [](const auto& sum) { return sum.first; });
    std::ranges::stable_sort(currencies,
                             [&sums](Currency a, Currency b) { return sums.at(b) < sums.at(a); });
    return currencies;
}

/// Amounts of different currencies are compared with nothing, so a later currency decides only
/// between members who earned the same in those before it.
void sort_by_earned(std::vector<MemberRow>& members) {
    const std::vector<Currency> currencies = currencies_of(members);
    const auto this_month = [](const MemberRow& member, Currency currency) {
        return value_or(member.earned, currency).this_month;
    };
    std::ranges::stable_sort(members, [&](const MemberRow& a, const MemberRow& b) {
        for (const Currency currency : currencies) {
            const Decimal of_a = this_month(a, currency);
            const Decimal of_b = this_month(b, currency);
            if (of_a != of_b) {
                return of_b < of_a;
            }
        }
        return false;
    });
}

/// Returns the sums of the last twelve months, by month and currency.
Json months_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
               Timestamp now) {
    constexpr int kMonths = 12;
    std::map<std::pair<std::uint32_t, Currency>, StatementAmounts> sums;
    std::uint32_t month = month_of(now);
    for (int i = 0; i < kMonths; ++i, month = month_before(month)) {
        scan_month(ledger, account, month, creator, [&](const MonthlySum& sum) {
            sums[{sum.month, sum.currency}] += sum;
        });
    }
    Json months = Json::array();
    for (const auto& [key, amounts] : sums) {
        months.push_back({{"month", month_text(key.first)},
                          {"currency", key.second.code()},
                          {"earned", amounts.earned.to_string()},
                          {"adjusted", amounts.adjusted.to_string()},
                          {"paid_out", amounts.paid_out.to_string()}});
    }
    return months;
}

Json codes_of(LedgerReader& ledger, const ProgramRow& row, const CreatorId& creator) {
    Json codes = Json::array();
    ledger.scan_codes(row.program.account, row.program.id, [&](const CodeRow& code) {
        if (code.creator == creator) {
            codes.push_back(own_code_list().object(code));
        }
    });
    return codes;
}

Json memberships_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    Json list = Json::array();
    for (const ProgramRow& row : programs_of(ledger, account, std::nullopt)) {
        if (const auto member = ledger.membership(account, row.program.id, creator)) {
            list.push_back(own_membership_list().object({*member, codes_of(ledger, row, creator)}));
        }
    }
    return list;
}

Json aliases_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    Json names = Json::array({creator.str()});
    ledger.scan(CreatorAlias{account, {}, {}}, {1, 1}, [&](const CreatorAlias& row) {
        if (row.creator == creator) {
            names.push_back(row.alias.str());
        }
    });
    return names;
}

Json holds_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    Json holds = Json::array();
    ledger.scan(CreatorHold{.account = account, .creator = creator}, {2, 2},
                [&holds](const CreatorHold& row) { holds.push_back(own_hold_list().object(row)); });
    return holds;
}

// ---- Holds --------------------------------------------------------------------------------------

void list_held_creators(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                        const std::optional<CreatorId>& creator, RowOutput& out) {
    const auto is_of = [&](const CreatorHold& hold) {
        return !creator || hold.creator == *creator;
    };
    for (const CreatorHold& hold : ledger.rows(CreatorHold{.account = account}, {1, 1}, is_of)) {
        out.add(hold_list().row({.account_id = account_id,
                                 .creator = shown_id(ledger, account, hold.creator).view(),
                                 .program = hold.program.view(),
                                 .actor = hold.actor,
                                 .held_at = hold.held_at,
                                 .reason = hold.reason}));
    }
}

/// The memo entry of the hold has who, when and why.
Row held_order_row(LedgerReader& ledger, const ShopRow& shop, const OrderState& order) {
    std::string held_by, reason;
    std::optional<Timestamp> held_at;
    for (const JournalGroup& group : ledger.order_journal(order)) {
        for (const JournalEntry& entry : group.entries) {
            if (entry.reason == JournalReason::kMemoHeld) {
                held_by = group.actor;
                held_at = group.recorded_at;
                reason = group.note;
            }
        }
    }
    return hold_list().row({.account_id = shop.account_id,
                            .shop = shop.shop_id.view(),
                            .order = order.key.order_id.view(),
                            .actor = held_by,
                            .held_at = held_at,
                            .reason = reason});
}

/// Reads only the orders that are held, from the list of what needs attention.
void list_held_orders(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                      const std::optional<CreatorId>& creator, RowOutput& out) {
    std::map<ShopNumber, std::set<OrderId>> held;
    ledger.scan(Attention{.account = account}, {2, 2},
                [&held](const Attention& row) { held[row.shop].insert(row.order_id); });
    ReportFilter filter{.account = account_id};
    OrderState order;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        for (const OrderId& id : held[shop.shop]) {
            const bool is_there = ledger.load_order({account, shop.shop, id}, order);
            const bool covered =
                !creator || (order.live && order.position()->attribution.creator == *creator);
            if (is_there && covered) {
                out.add(held_order_row(ledger, shop, order));
            }
        }
    }
}

// ---- Payees -------------------------------------------------------------------------------------

/// Returns the actor who approved the command, or an empty text.
std::string approver_of(LedgerReader& ledger, const PayeeChange& change) {
    PendingApproval row{.account = change.account, .command_id = change.command_id};
    return ledger.load(row) && row.state == ApprovalState::kApproved ? row.ended_by : std::string();
}

}  // namespace

const List<MembershipOf>& own_membership_list() {
    using Of = const MembershipOf&;
    static const List<MembershipOf> list{
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.member.program; }},
        {"group", kText, kEveryone, [](Of of) { return or_null(of.member.group); }},
        {"removed", kFlag, kEveryone, [](Of of) -> Value { return of.member.removed; }},
        {"effective_from", kTime, kEveryone,
         [](Of of) -> Value { return of.member.effective_from; }},
        {"codes", kObjects, kEveryone, own_code_list().columns(),
         [](Of of) -> Value { return of.codes; }}};
    return list;
}

const List<CreatorHold>& own_hold_list() {
    using Of = const CreatorHold&;
    static const List<CreatorHold> list{
        {"program_id", kText, kEveryone, [](Of of) { return or_null(of.program); }},
        {"actor", kText, kLedger, member<&CreatorHold::actor>},
        {"reason", kText, kLedger, member<&CreatorHold::reason>},
        {"held_at", kTime, kEveryone, member<&CreatorHold::held_at>}};
    return list;
}

const List<CreatorOf>& creator_list() {
    using Of = const CreatorOf&;
    static const List<CreatorOf> list{
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.creator; }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.member.program; }},
        {"account_id", kText, kEveryone, [](Of of) -> Value { return of.account_id; },
         kInFilesOnly},
        {"group", kText, kEveryone, [](Of of) { return or_null(of.member.group); }},
        {"codes", kTexts, kEveryone, [](Of of) -> Value { return of.codes; }},
        {"name", kText, kEveryone, [](Of of) { return or_null(of.profile.name); }},
        {"payee", kText, kPayee, [](Of of) { return or_null(of.profile.payee); }},
        {"payee_since", kTime, kLedger, [](Of of) -> Value { return of.profile.payee_since; }},
        {"removed", kFlag, kEveryone, [](Of of) -> Value { return of.member.removed; }},
        {"earned",
         kObjects,
         kLedger,
         {{"currency", kText, kLedger},
          {"this_month", kAmount, kLedger},
          {"last_month", kAmount, kLedger}},
         [](Of of) -> Value { return earned_list(of.earned); },
         kInFilesOnly}};
    return list;
}

void write_creators(LedgerReader& ledger, const std::optional<AccountNumber>& account,
                    const std::optional<ProgramId>& only, Timestamp now, RowOutput& out) {
    for (const ProgramRow& program : programs_of(ledger, account, only)) {
        std::vector<MemberRow> members;
        add_members(ledger, program, std::nullopt, kNoLimit, now, members);
        for (const MemberRow& member : members) {
            out.add(member.row);
        }
    }
}

void write_best_creators(LedgerReader& ledger, AccountNumber account,
                         const std::optional<ProgramId>& program, Timestamp now, RowOutput& out) {
    std::vector<MemberRow> members;
    for (const ProgramRow& row : programs_of(ledger, account, program)) {
        add_members(ledger, row, std::nullopt, kNoLimit, now, members);
    }
    sort_by_earned(members);
    for (const MemberRow& member : members) {
        out.add(member.row);
    }
}

std::vector<MemberRow> members_after(LedgerReader& ledger, AccountNumber account,
                                     const std::optional<ProgramId>& program,
                                     const std::optional<MemberPlace>& after, std::size_t max,
                                     Timestamp now) {
    std::vector<MemberRow> members;
    for (const ProgramRow& row : programs_of(ledger, account, program)) {
        const bool was_begun = after && after->program == row.program.id;
        if ((after && row.program.id < after->program) || members.size() == max) {
            continue;
        }
        add_members(ledger, row, was_begun ? std::optional(after->creator) : std::nullopt,
                    max - members.size(), now, members);
    }
    return members;
}

Result<Json> creator_object(LedgerReader& ledger, AccountNumber account,
                            const AccountId& account_id, const CreatorId& creator, Timestamp now) {
    const CreatorId first = first_id(ledger, account, creator);
    CreatorRow profile{account, first, {}, {}, {}};
    if (!ledger.load(profile)) {
        return not_found("account " + account_id.str() + " has no creator " + creator.str());
    }
    const CreatorId shown = profile.shown_as.empty() ? first : profile.shown_as;
    return Json{{"creator_id", shown.str()},
                {"account_id", account_id.str()},
                {"name", text_or_null(profile.name)},
                {"payee", text_or_null(profile.payee)},
                {"payee_since", profile.payee_since},
                {"aliases", aliases_of(ledger, account, first)},
                {"programs", memberships_of(ledger, account, first)},
                {"holds", holds_of(ledger, account, first)},
                {"months", months_of(ledger, account, first, now)}};
}

const List<HoldOf>& hold_list() {
    using Of = const HoldOf&;
    static const List<HoldOf> list{
        {"account_id", kText, kEveryone, [](Of of) -> Value { return of.account_id; },
         kInFilesOnly},
        {"shop_id", kText, kEveryone, [](Of of) { return or_null(of.shop); }},
        {"order_id", kText, kEveryone, [](Of of) { return or_null(of.order); }},
        {"creator_id", kText, kEveryone, [](Of of) { return or_null(of.creator); }},
        {"program_id", kText, kEveryone, [](Of of) { return or_null(of.program); }},
        {"actor", kText, kLedger, [](Of of) { return or_null(of.actor); }},
        {"held_at", kTime, kEveryone, [](Of of) -> Value { return of.held_at; }},
        {"reason", kText, kLedger, [](Of of) -> Value { return of.reason; }}};
    return list;
}

void write_holds(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                 const std::optional<CreatorId>& creator, RowOutput& out) {
    list_held_creators(ledger, account, account_id, creator, out);
    list_held_orders(ledger, account, account_id, creator, out);
}

const PlainList& payee_list() {
    using Of = const PlainRow&;
    static const PlainList list{
        .command = "payees",
        .command_text = "List creators with their payees, or the changes",
        .resource = "payees",
        .resource_text = "Creators with their payees, or the changes of payees by time",
        .read_by = ReadBy::kCreators,
        .table = &table_of<CreatorRow>(),
        .by_creator = true,
        .history = &payee_change_list(),
        .cells = {{"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
                  {"creator_id", kText, kLedger, shown_creator<CreatorRow>},
                  {"name", kText, kLedger, cell_or_null<&CreatorRow::name>},
                  {"payee", kText, kPayee, cell_or_null<&CreatorRow::payee>},
                  {"payee_since", kTime, kLedger, cell<&CreatorRow::payee_since>}}};
    return list;
}

const PlainList& payee_change_list() {
    using Of = const PlainRow&;
    static const PlainList list{
        .table = &table_of<PayeeChange>(),
        .by_creator = true,
        .cells = {{"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
                  {"creator_id", kText, kLedger, shown_creator<PayeeChange>},
                  {"changed_at", kTime, kLedger, cell<&PayeeChange::changed_at>},
                  {"old_payee", kText, kPayee, cell_or_null<&PayeeChange::old_payee>},
                  {"new_payee", kText, kPayee, cell_or_null<&PayeeChange::new_payee>},
                  {"actor", kText, kLedger, cell<&PayeeChange::actor>},
                  {"reason", kText, kLedger, cell_or_null<&PayeeChange::reason>},
                  {"command_id", kText, kLedger, cell<&PayeeChange::command_id>},
                  {"approved_by", kText, kLedger, [](Of of) -> Value {
                       return text_or_null(approver_of(of.ledger, of.as<PayeeChange>()));
                   }}}};
    return list;
}

}  // namespace sluice::lists
