#include "core/reports/statement.hpp"

#include "core/journal/journal.hpp"
#include "core/rules/account.hpp"

namespace sluice::reports {
namespace {

Row boundary(const ProgramId& program, Currency currency, const char* name, Timestamp at,
             const Decimal& amount) {
    return {at.to_string(), program.str(), currency.code(), "owed", name, amount.to_string()};
}

Json objects(const std::vector<Column>& columns, const std::vector<Row>& rows) {
    return Json::list(rows, [&columns](const Row& row) { return object_of(columns, row); });
}

}  // namespace

std::vector<Column> statement_row_columns() {
    return {{"accounting_date"}, {"program_id"},
            {"currency"},        {"ledger_account"},
            {"reason"},          {"amount", Align::kRight},
            {"shop_id"},         {"order_id"},
            {"line_item_id"},    {"refers_to", Align::kRight},
            {"payout_id"}};
}

std::vector<Column> statement_sum_columns() {
    return {{"program_id"},
            {"currency"},
            {"opening", Align::kRight},
            {"earned", Align::kRight},
            {"adjusted", Align::kRight},
            {"paid_out", Align::kRight},
            {"closing", Align::kRight}};
}

std::vector<Column> statement_payout_columns() {
    return {{"payout_id"}, {"currency"}, {"amount", Align::kRight}};
}

std::vector<Column> statement_csv_columns() {
    std::vector<Column> columns = statement_row_columns();
    for (const char* name : {"opening", "earned", "adjusted", "paid_out", "account_id",
                             "creator_id", "month", "status"}) {
        columns.push_back({name});
    }
    return columns;
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
            {"rows", objects(statement_row_columns(), rows_)},
            {"sums", objects(statement_sum_columns(), sums_)},
            {"payouts", objects(statement_payout_columns(), payouts())}};
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
    row.resize(statement_row_columns().size());
    sums.resize(kSums);
    row.insert(row.end(), sums.begin(), sums.end());
    row.insert(row.end(), {of_.account_id.str(), shown_.str(), of_.month.name, status()});
    return row;
}

/// Adds a posting with the amount that it adds to `owed`, or to `paid` if it leaves `owed` as is.
void StatementPage::add(const JournalGroup& group, std::size_t index) {
    const JournalEntry& entry = group.entries[index];
    const Decimal owed = into(entry, LedgerAccount::kOwed);
    const bool moves_owed = !owed.is_zero();
    const auto shop = shops_.find(group.shop.value);
    rows_.push_back({group.accounting_date.to_string(), group.program.str(), entry.currency.code(),
                     moves_owed ? "owed" : "paid", to_string(entry.reason),
                     (moves_owed ? owed : into(entry, LedgerAccount::kPaid)).to_string(),
                     shop == shops_.end() ? Json() : Json(shop->second),
                     text_or_null(group.order_id.view()), text_or_null(entry.line.view()),
                     entry.refers_to == 0 ? Json() : Json(entry.refers_to),
                     text_or_null(group.payout_id)});
    if (entry.reason == JournalReason::kPayout) {
        const auto [sum, added] =
            payouts_.try_emplace(group.payout_id, entry.currency, entry.amount);
        if (!added) {
            sum->second.second = sum->second.second + entry.amount;
        }
    }
}

void StatementPage::add_sums(const ProgramId& program, Currency currency,
                             const StatementSums& sums) {
    sums_.push_back({program.str(), currency.code(), sums.opening.to_string(),
                     sums.earned.to_string(), sums.adjusted.to_string(), sums.paid_out.to_string(),
                     sums.closing.to_string()});
}

std::vector<Row> StatementPage::payouts() const {
    std::vector<Row> list;
    for (const auto& [id, sum] : payouts_) {
        list.push_back({id, sum.first.code(), sum.second.to_string()});
    }
    return list;
}

std::vector<Column> trial_balance_columns() {
    return {{"account_id", Align::kLeft, false},
            {"month", Align::kLeft, false},
            {"program_id"},
            {"currency"},
            {"ledger_account"},
            {"opening", Align::kRight},
            {"debit", Align::kRight},
            {"credit", Align::kRight},
            {"closing", Align::kRight}};
}

std::map<Currency, BookMonth> write_trial_balance(LedgerReader& ledger, const AccountMonthOf& of,
                                                  RowOutput& out) {
    std::map<Currency, BookMonth> totals;
    const AccountMonth months = read_account_month(ledger, of.account, of.month.from, of.month.to);
    for (const auto& [key, month] : months) {
        for (const auto& [name, book] :
             {std::pair("expense", &month.expense), std::pair("owed", &month.owed),
              std::pair("payout", &month.in_payout), std::pair("paid", &month.paid)}) {
            out.add({of.account_id.str(), of.month.name, key.first.str(), key.second.code(), name,
                     book->opening.to_string(), book->debit.to_string(), book->credit.to_string(),
                     book->closing.to_string()});
            BookMonth& sums = totals.try_emplace(key.second).first->second;
            sums.opening += book->opening;
            sums.debit += book->debit;
            sums.credit += book->credit;
            sums.closing += book->closing;
        }
    }
    return totals;
}

}  // namespace sluice::reports
