#include "worker/reports/statement.hpp"

#include <cstdio>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/rules/creator_names.hpp"
#include "core/statements/statement.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

std::vector<Column> row_columns() {
    return {{"accounting_date"}, {"program_id"},
            {"currency"},        {"book"},
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

/// A creator's month as it was read: rows in memory, a month of one creator.
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
                             {"rows", rows_},
                             {"sums", sums_},
                             {"payouts", payouts()}};
        std::printf("%s\n", statement.pretty().c_str());
    }

    void write_table() const {
        std::printf("creator %s, account %s, %s: %s\n\n", shown_.str().c_str(),
                    of_.account_id.str().c_str(), of_.month.name.c_str(), status());
        write(Format::kTable, row_columns(), rows_);
        std::printf("\n");
        write(Format::kTable, sum_columns(), sums_);
        if (!payouts_.empty()) {
            std::printf("\n");
            write(Format::kTable, payout_sum_columns(), payouts());
        }
    }

    void write_csv() const {
        Listing listing(Format::kCsv, row_columns());
        for (const auto& [key, sums] : statement_.sums) {
            listing.add(boundary(key.first, key.second, "OPENING", of_.month.from, sums.opening));
        }
        for (const Json& row : rows_.items()) {
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

    static void write(Format format, std::vector<Column> columns, const Json& rows) {
        Listing listing(format, std::move(columns));
        for (const Json& row : rows.items()) {
            listing.add(row);
        }
        listing.finish();
    }

    /// `book` and `amount`: what the transfer adds to `owed`; of one that does not touch it, to
    /// `paid`.
    void add(const JournalGroup& group, std::size_t index) {
        const JournalEntry& entry = group.entries[index];
        const Decimal owed = into(entry, Book::kOwed);
        const bool moves_owed = !owed.is_zero();
        const auto shop = shops_.find(group.shop.value);
        rows_.push_back({{"accounting_date", group.accounting_date.to_string()},
                         {"program_id", group.program.str()},
                         {"currency", entry.currency.code()},
                         {"book", moves_owed ? "owed" : "paid"},
                         {"reason", to_string(entry.reason)},
                         {"amount", (moves_owed ? owed : into(entry, Book::kPaid)).to_string()},
                         {"shop_id", shop == shops_.end() ? Json() : Json(shop->second)},
                         {"order_id", text_or_null(group.order_id.view())},
                         {"line_item_id", text_or_null(entry.line.view())},
                         {"refers_to", entry.refers_to == 0 ? Json() : Json(entry.refers_to)},
                         {"payout_id", text_or_null(group.payout_id)}});
        if (entry.reason == JournalReason::kPayout) {
            const auto [sum, added] =
                payouts_.try_emplace(group.payout_id, entry.currency, entry.amount);
            if (!added) {
                sum->second.second = sum->second.second + entry.amount;
            }
        }
    }

    void add_sums(const ProgramId& program, Currency currency, const StatementSums& sums) {
        sums_.push_back({{"program_id", program.str()},
                         {"currency", currency.code()},
                         {"opening", sums.opening.to_string()},
                         {"earned", sums.earned.to_string()},
                         {"adjusted", sums.adjusted.to_string()},
                         {"paid_out", sums.paid_out.to_string()},
                         {"closing", sums.closing.to_string()}});
    }

    /// Payouts that were closed in the month.
    [[nodiscard]] Json payouts() const {
        Json list = Json::array();
        for (const auto& [id, sum] : payouts_) {
            list.push_back({{"payout_id", id},
                            {"currency", sum.first.code()},
                            {"amount", sum.second.to_string()}});
        }
        return list;
    }

    static Json boundary(const ProgramId& program, Currency currency, const char* name,
                         Timestamp at, const Decimal& amount) {
        return {{"accounting_date", at.to_string()},
                {"program_id", program.str()},
                {"currency", currency.code()},
                {"book", "owed"},
                {"reason", name},
                {"amount", amount.to_string()}};
    }

    const StatementOf& of_;
    CreatorId shown_;
    Statement statement_;
    std::unordered_map<std::uint32_t, std::string> shops_;
    Json rows_ = Json::array(), sums_ = Json::array();
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
