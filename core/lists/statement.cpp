#include "core/lists/statement.hpp"

#include "core/journal/journal.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

Row boundary(const ProgramId& program, Currency currency, const char* name, Timestamp at,
             const Decimal& amount) {
    StatementRowOf row{.accounting_date = at,
                       .program = program.view(),
                       .money = {currency, amount},
                       .ledger_account = "owed",
                       .reason = name};
    return statement_row_list().row(row);
}

}  // namespace

const List<StatementRowOf>& statement_row_list() {
    using Of = const StatementRowOf&;
    static const List<StatementRowOf> list{
        {"accounting_date", kTime, kLedger, [](Of of) -> Value { return of.accounting_date; }},
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.program; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.money.currency.code(); }},
        {"ledger_account", kText, kLedger, [](Of of) -> Value { return of.ledger_account; }},
        {"reason", kText, kLedger, [](Of of) -> Value { return of.reason; }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.money.amount; }},
        {"shop_id", kText, kLedger, [](Of of) { return or_null(of.shop); }},
        {"order_id", kText, kLedger, [](Of of) { return or_null(of.order); }},
        {"line_item_id", kText, kLedger, [](Of of) { return or_null(of.line); }},
        {"refers_to", kInteger, kLedger,
         [](Of of) -> Value { return of.refers_to == 0 ? Value() : Value(of.refers_to); }},
        {"payout_id", kText, kLedger, [](Of of) { return or_null(of.payout); }}};
    return list;
}

const List<StatementSumOf>& statement_sum_list() {
    using Of = const StatementSumOf&;
    static const List<StatementSumOf> list{
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.program; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.currency.code(); }},
        {"opening", kAmount, kLedger, [](Of of) -> Value { return of.sums.opening; }},
        {"earned", kAmount, kLedger, [](Of of) -> Value { return of.sums.earned; }},
        {"adjusted", kAmount, kLedger, [](Of of) -> Value { return of.sums.adjusted; }},
        {"paid_out", kAmount, kLedger, [](Of of) -> Value { return of.sums.paid_out; }},
        {"closing", kAmount, kLedger, [](Of of) -> Value { return of.sums.closing; }}};
    return list;
}

const List<StatementPayoutOf>& statement_payout_list() {
    using Of = const StatementPayoutOf&;
    static const List<StatementPayoutOf> list{
        {"payout_id", kText, kLedger, [](Of of) -> Value { return of.payout_id; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.money.currency.code(); }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.money.amount; }}};
    return list;
}

std::vector<Column> statement_csv_columns() {
    std::vector<Column> columns = statement_row_list().columns();
    for (const char* name : {"opening", "earned", "adjusted", "paid_out"}) {
        columns.emplace_back(name, kAmount, kLedger);
    }
    for (const char* name : {"account_id", "creator_id", "month", "status"}) {
        columns.emplace_back(name, kText, kLedger);
    }
    return columns;
}

const std::vector<Column>& statement_members() {
    static const std::vector<Column> members{
        {"account_id", kText, kLedger},
        {"creator_id", kText, kLedger},
        {"month", kText, kLedger},
        {"status", kText, kLedger},
        {"rows", kObjects, kLedger, statement_row_list().columns()},
        {"sums", kObjects, kLedger, statement_sum_list().columns()},
        {"payouts", kObjects, kLedger, statement_payout_list().columns()}};
    return members;
}

ShopNames shop_names(LedgerReader& ledger) {
    ShopNames names;
    ledger.scan_shops(
        [&names](const ShopRow& shop) { names.emplace(shop.shop.value, shop.shop_id.str()); });
    return names;
}

StatementPage::StatementPage(LedgerReader& ledger, const ShopNames& shops, const StatementOf& of)
    : of_(of), shops_(shops) {
    const CreatorId creator = first_id(ledger, of.account, of.creator);
    statement_ = read_statement(ledger, of.account, creator, of.month.from, of.month.to,
                                [this](const std::pair<const JournalGroup*, std::size_t>& at) {
                                    add(*at.first, at.second);
                                });
    for (const auto& [key, sums] : statement_.sums) {
        add_sums(key.first, key.second, sums);
    }
    shown_ = statement_.is_closed ? shown_id_until(ledger, of.account, creator, of.month.to)
                                  : shown_id(ledger, of.account, creator);
}

const char* StatementPage::status() const {
    return statement_.is_closed ? "closed" : "open: may change";
}

Json StatementPage::object() const {
    return {{"account_id", of_.account_id.str()},
            {"creator_id", shown_.str()},
            {"month", of_.month.name},
            {"status", status()},
            {"rows", objects_of(statement_row_list().columns(), rows_)},
            {"sums", objects_of(statement_sum_list().columns(), sums_)},
            {"payouts", objects_of(statement_payout_list().columns(), payouts())}};
}

void StatementPage::write_csv(RowOutput& out) const {
    for (const auto& [key, sums] : statement_.sums) {
        out.add(
            named(boundary(key.first, key.second, "PERIOD_OPENING", of_.month.from, sums.opening),
                  {sums.opening.to_string()}));
    }
    for (const Row& row : rows_) {
        out.add(named(row, {}));
    }
    for (const auto& [key, sums] : statement_.sums) {
        out.add(named(boundary(key.first, key.second, "PERIOD_CLOSING", of_.month.to, sums.closing),
                      {sums.opening.to_string(), sums.earned.to_string(), sums.adjusted.to_string(),
                       sums.paid_out.to_string()}));
    }
}

/// @param sums  Opening, earned, adjusted and paid out, or nothing.
Row StatementPage::named(Row row, Row sums) const {
    constexpr std::size_t kSums = 4;
    row.resize(statement_row_list().columns().size());
    sums.resize(kSums);
    row.insert(row.end(), sums.begin(), sums.end());
    row.insert(row.end(), {of_.account_id.str(), shown_.str(), of_.month.name, status()});
    return row;
}

/// Adds a posting with the amount that it adds to `owed`, or to `paid` if it leaves `owed` as is.
void StatementPage::add(const JournalGroup& group, std::size_t index) {
    const JournalEntry& entry = group.entries[index];
    const Decimal owed = change_in(entry, LedgerAccount::kOwed);
    const bool moves_owed = !owed.is_zero();
    const auto shop = shops_.find(group.shop.value);
    StatementRowOf row{
        .accounting_date = group.accounting_date,
        .program = group.program.view(),
        .money = {entry.currency, moves_owed ? owed : change_in(entry, LedgerAccount::kPaid)},
        .ledger_account = moves_owed ? "owed" : "paid",
        .reason = to_string(entry.reason),
        .shop = shop == shops_.end() ? std::string_view() : std::string_view(shop->second),
        .order = group.order_id.view(),
        .line = entry.line.view(),
        .refers_to = entry.refers_to,
        .payout = group.payout_id};
    rows_.push_back(statement_row_list().row(row));
    if (entry.reason == JournalReason::kPayout) {
        const Money none{entry.currency, zero_amount(entry.currency)};
        value_at(payouts_, group.payout_id, none).amount += entry.amount;
    }
}

void StatementPage::add_sums(const ProgramId& program, Currency currency,
                             const StatementSums& sums) {
    sums_.push_back(statement_sum_list().row({program, currency, sums}));
}

std::vector<Row> StatementPage::payouts() const {
    return mapped(payouts_, [](const auto& payout) {
        return statement_payout_list().row({payout.first, payout.second});
    });
}

const List<TrialBalanceOf>& trial_balance_list() {
    using Of = const TrialBalanceOf&;
    static const List<TrialBalanceOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }, kInFilesOnly},
        {"month", kText, kLedger, [](Of of) -> Value { return of.month; }, kInFilesOnly},
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.program; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.currency.code(); }},
        {"ledger_account", kText, kLedger, [](Of of) -> Value { return of.ledger_account; }},
        {"opening", kAmount, kLedger, [](Of of) -> Value { return of.book.opening; }},
        {"debit", kAmount, kLedger, [](Of of) -> Value { return of.book.debit; }},
        {"credit", kAmount, kLedger, [](Of of) -> Value { return of.book.credit; }},
        {"closing", kAmount, kLedger, [](Of of) -> Value { return of.book.closing; }}};
    return list;
}

std::map<Currency, BookMonth> write_trial_balance(LedgerReader& ledger, const AccountMonthOf& of,
                                                  RowOutput& out) {
    std::map<Currency, BookMonth> totals;
    const AccountMonth months = read_account_month(ledger, of.account, of.month.from, of.month.to);
    for (const auto& [key, month] : months) {
        for (const auto& [name, book] :
             {std::pair("expense", &month.expense), std::pair("owed", &month.owed),
              std::pair("payout", &month.in_payout), std::pair("paid", &month.paid)}) {
            out.add(trial_balance_list().row(
                {of.account_id, of.month.name, key.first, key.second, name, *book}));
            BookMonth& sums = totals.try_emplace(key.second).first->second;
            sums.opening += book->opening;
            sums.debit += book->debit;
            sums.credit += book->credit;
            sums.closing += book->closing;
        }
    }
    return totals;
}

const List<PeriodOf>& period_list() {
    using Of = const PeriodOf&;
    static const List<PeriodOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
        {"until", kTime, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->until); }},
        {"closed_at", kTime, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->closed_at); }},
        {"closed_by", kText, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->closed_by); }},
        {"command_id", kText, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->command_id); }}};
    return list;
}

void write_periods(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out) {
    ledger.scan(Period{.account = account}, {1, 1}, [&](const Period& row) {
        out.add(period_list().row({account_id, &row}));
    });
}

}  // namespace sluice::lists
