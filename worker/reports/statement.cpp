#include <fcntl.h>

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

constexpr mode_t kFileMode = 0666;  // less the umask

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

using ShopNames = std::unordered_map<std::uint32_t, std::string>;

ShopNames shop_names(LedgerReader& ledger) {
    ShopNames names;
    ledger.scan_shops([&names](const ShopRow& shop) {
        names.emplace(shop.shop.value, shop.shop_id.str());
        return true;
    });
    return names;
}

/// One creator's month, held in memory.
class StatementPage {
public:
    StatementPage(LedgerReader& ledger, const ShopNames& shops, const StatementOf& of)
        : of_(of), shops_(shops) {
        const CreatorId creator = first_id(ledger, of.account, of.creator);
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

    /// False if the creator has no entries up to the end of the month.
    [[nodiscard]] bool has_sums() const noexcept { return !statement_.sums.empty(); }
    [[nodiscard]] const CreatorId& shown() const noexcept { return shown_; }

    void write(Format format, std::FILE* out) const {
        switch (format) {
            case Format::kJson:
                return write_json(out);
            case Format::kCsv:
                return write_csv(out);
            case Format::kTable:
                return write_table(out);
        }
    }

private:
    void write_json(std::FILE* out) const {
        const Json statement{{"account_id", of_.account_id.str()},
                             {"creator_id", shown_.str()},
                             {"month", of_.month.name},
                             {"status", status()},
                             {"rows", objects(row_columns(), rows_)},
                             {"sums", objects(sum_columns(), sums_)},
                             {"payouts", objects(payout_sum_columns(), payouts())}};
        std::fprintf(out, "%s\n", statement.pretty().c_str());
    }

    void write_table(std::FILE* out) const {
        std::fprintf(out, "creator %s, account %s, %s: %s\n\n", shown_.str().c_str(),
                     of_.account_id.str().c_str(), of_.month.name.c_str(), status());
        print(out, row_columns(), rows_);
        std::fputs("\n", out);
        print(out, sum_columns(), sums_);
        if (!payouts_.empty()) {
            std::fputs("\n", out);
            print(out, payout_sum_columns(), payouts());
        }
    }

    /// The rows CLOSING have the sums, and every row names the statement, so that the files of many
    /// creators can be read as one. A row with an `opening` is no posting.
    void write_csv(std::FILE* out) const {
        std::vector<Column> columns = row_columns();
        for (const char* name : {"opening", "earned", "adjusted", "paid_out", "account_id",
                                 "creator_id", "month", "status"}) {
            columns.push_back({name});
        }
        Listing listing(Format::kCsv, std::move(columns), out);
        for (const auto& [key, sums] : statement_.sums) {
            listing.add(
                named(boundary(key.first, key.second, "OPENING", of_.month.from, sums.opening),
                      {sums.opening.to_string()}));
        }
        for (const Row& row : rows_) {
            listing.add(named(row, {}));
        }
        for (const auto& [key, sums] : statement_.sums) {
            listing.add(
                named(boundary(key.first, key.second, "CLOSING", of_.month.to, sums.closing),
                      {sums.opening.to_string(), sums.earned.to_string(), sums.adjusted.to_string(),
                       sums.paid_out.to_string()}));
        }
        listing.finish();
    }

    /// @param sums  Opening, earned, adjusted and paid out, or nothing.
    [[nodiscard]] Row named(Row row, Row sums) const {
        constexpr std::size_t kSums = 4;
        row.resize(row_columns().size());
        sums.resize(kSums);
        row.insert(row.end(), sums.begin(), sums.end());
        row.insert(row.end(), {of_.account_id.str(), shown_.str(), of_.month.name, status()});
        return row;
    }

    [[nodiscard]] const char* status() const {
        return statement_.is_closed ? "closed" : "open: may change";
    }

    static void print(std::FILE* out, std::vector<Column> columns, const std::vector<Row>& rows) {
        Listing listing(Format::kTable, std::move(columns), out);
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
    const ShopNames& shops_;
    std::vector<Row> rows_, sums_;
    std::map<std::string, std::pair<Currency, Decimal>> payouts_;
};

/// A creator id is a file name but for its slashes; a leading dot would hide the file.
std::string file_name(const CreatorId& creator) {
    std::string name;
    for (const char c : creator.str()) {
        const bool escaped = c == '/' || (c == '.' && name.empty());
        name += escaped ? (c == '/' ? "%2F" : "%2E") : std::string(1, c);
    }
    return name;
}

const char* extension(Format format) {
    return format == Format::kJson ? ".json" : format == Format::kCsv ? ".csv" : ".txt";
}

}  // namespace

void write_statement(LedgerReader& ledger, const StatementOf& of, Format format) {
    StatementPage(ledger, shop_names(ledger), of).write(format, stdout);
}

Result<std::size_t> write_statements(LedgerReader& ledger, const StatementsOf& of, Format format,
                                     int folder) {
    std::vector<CreatorId> creators;
    ledger.scan(CreatorRow{of.account, {}, {}, {}, {}}, {1, 1}, [&creators](const CreatorRow& row) {
        creators.push_back(row.creator);
        return true;
    });
    const ShopNames shops = shop_names(ledger);
    std::size_t written = 0;
    for (const CreatorId& creator : creators) {
        const StatementOf one{of.account, of.account_id, creator, of.month};
        const StatementPage page(ledger, shops, one);
        if (!page.has_sums()) {
            continue;
        }
        const std::string name = file_name(page.shown()) + extension(format);
        const int file = ::openat(folder, name.c_str(),
                                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode);
        std::FILE* const out = file < 0 ? nullptr : ::fdopen(file, "w");
        if (out != nullptr) {
            page.write(format, out);
        }
        const bool complete = out != nullptr && std::ferror(out) == 0;
        if ((out != nullptr && std::fclose(out) != 0) || !complete) {
            return Error{ErrorCode::kIo, name + ": could not be written completely"};
        }
        ++written;
    }
    return written;
}

}  // namespace sluice::cli
