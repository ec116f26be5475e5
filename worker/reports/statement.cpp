#include <cstdio>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

std::vector<Column> row_columns() {
    return {{"accounting_date"}, {"program_id"},
            {"currency"},        {"ledger_account"},
            {"reason"},          {"amount", Align::kRight},
            {"shop_id"},         {"order_id"},
            {"line_item_id"},    {"refers_to", Align::kRight},
            {"payout_id"}};
}

std::vector<Column> sum_columns() {
    return {{"program_id"},
            {"currency"},
            {"opening", Align::kRight},
            {"earned", Align::kRight},
            {"adjusted", Align::kRight},
            {"paid_out", Align::kRight},
            {"closing", Align::kRight}};
}

std::vector<Column> payout_sum_columns() {
    return {{"payout_id"}, {"currency"}, {"amount", Align::kRight}};
}

/// One creator's month, held in memory.
class StatementPage {
public:
    StatementPage(LedgerReader& ledger, const StatementOf& of) : of_(of) {
        const CreatorId creator = first_id(ledger, of.account, of.creator);
        ledger.scan_shops([this](const ShopRow& shop) {
            shops_.emplace(shop.shop.value, shop.shop_id.str());
            return true;
        });
        statement_ = read_statement(ledger, of.account, creator, of.month.from, of.month.to,
                                    [this](const std::pair<const JournalGroup*, std::size_t>& at) {
                                        add(*at.first, at.second);
                                        return true;
                                    });
        for (const auto& [key, sums] : statement_.sums) {
            add_sums(key.first, key.second, sums);
        }
        shown_ = statement_.is_closed ? shown_id_until(ledger, of.account, creator, of.month.to)
                                      : shown_id(ledger, of.account, creator);
    }

    void write_json() const {
        const Json statement{{"account_id", of_.account_id.str()},
                             {"creator_id", shown_.str()},
                             {"month", of_.month.name},
                             {"status", status()},
                             {"rows", objects(row_columns(), rows_)},
                             {"sums", objects(sum_columns(), sums_)},
                             {"payouts", objects(payout_sum_columns(), payouts())}};
        std::printf("%s\n", statement.pretty().c_str());
    }

    void write_table() const {
        std::printf("creator %s, account %s, %s: %s\n\n", shown_.str().c_str(),
                    of_.account_id.str().c_str(), of_.month.name.c_str(), status());
        print(Format::kTable, row_columns(), rows_);
        std::printf("\n");
        print(Format::kTable, sum_columns(), sums_);
        if (!payouts_.empty()) {
            std::printf("\n");
            print(Format::kTable, payout_sum_columns(), payouts());
        }
    }

    void write_csv() const {
        Listing listing(Format::kCsv, row_columns());
        for (const auto& [key, sums] : statement_.sums) {
            listing.add(boundary(key.first, key.second, "OPENING", of_.month.from, sums.opening));
        }
        for (const Row& row : rows_) {
            listing.add(row);
        }
        for (const auto& [key, sums] : statement_.sums) {
            listing.add(boundary(key.first, key.second, "CLOSING", of_.month.to, sums.closing));
        }
        listing.finish();
    }

private:
    [[nodiscard]] const char* status() const {
        return statement_.is_closed ? "closed" : "open: may change";
    }

    static void print(Format format, std::vector<Column> columns, const std::vector<Row>& rows) {
        Listing listing(format, std::move(columns));
        for (const Row& row : rows) {
            listing.add(row);
        }
        listing.finish();
    }

    static Json objects(const std::vector<Column>& columns, const std::vector<Row>& rows) {
        Json list = Json::array();
        for (const Row& row : rows) {
            list.push_back(object_of(columns, row));
        }
        return list;
    }

    /// Adds a posting with the amount that it adds to `owed`, or to `paid` if it leaves `owed` as
    /// is.
    void add(const JournalGroup& group, std::size_t index) {
        const JournalEntry& entry = group.entries[index];
        const Decimal owed = into(entry, LedgerAccount::kOwed);
        const bool moves_owed = !owed.is_zero();
        const auto shop = shops_.find(group.shop.value);
        rows_.push_back(
            {group.accounting_date.to_string(), group.program.str(), entry.currency.code(),
             moves_owed ? "owed" : "paid", to_string(entry.reason),
             (moves_owed ? owed : into(entry, LedgerAccount::kPaid)).to_string(),
             shop == shops_.end() ? Json() : Json(shop->second),
             text_or_null(group.order_id.view()), text_or_null(entry.line.view()),
             entry.refers_to == 0 ? Json() : Json(entry.refers_to), text_or_null(group.payout_id)});
        if (entry.reason == JournalReason::kPayout) {
            const auto [sum, added] =
                payouts_.try_emplace(group.payout_id, entry.currency, entry.amount);
            if (!added) {
                sum->second.second = sum->second.second + entry.amount;
            }
        }
    }

    void add_sums(const ProgramId& program, Currency currency, const StatementSums& sums) {
        sums_.push_back({program.str(), currency.code(), sums.opening.to_string(),
                         sums.earned.to_string(), sums.adjusted.to_string(),
                         sums.paid_out.to_string(), sums.closing.to_string()});
    }

    /// Returns the payouts that were closed in the month.
    [[nodiscard]] std::vector<Row> payouts() const {
        std::vector<Row> list;
        for (const auto& [id, sum] : payouts_) {
            list.push_back({id, sum.first.code(), sum.second.to_string()});
        }
        return list;
    }

    static Row boundary(const ProgramId& program, Currency currency, const char* name, Timestamp at,
                        const Decimal& amount) {
        return {at.to_string(), program.str(), currency.code(), "owed", name, amount.to_string()};
    }

    const StatementOf& of_;
    CreatorId shown_;
    Statement statement_;
    std::unordered_map<std::uint32_t, std::string> shops_;
    std::vector<Row> rows_, sums_;
    std::map<std::string, std::pair<Currency, Decimal>> payouts_;
};

}  // namespace

void write_statement(LedgerReader& ledger, const StatementOf& of, Format format) {
    const StatementPage page(ledger, of);
    switch (format) {
        case Format::kJson:
            return page.write_json();
        case Format::kCsv:
            return page.write_csv();
        case Format::kTable:
            return page.write_table();
    }
}

}  // namespace sluice::cli
