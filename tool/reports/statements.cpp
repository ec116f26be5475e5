#include "tool/reports/statements.hpp"

#include <fcntl.h>

#include <cstdio>
#include <vector>

#include "core/ledger/account_rows.hpp"

namespace sluice::cli {
namespace {

using lists::StatementOf;
using lists::StatementPage;

constexpr mode_t kFileMode = 0666;  // less the umask

void print_table(std::FILE* out, const std::vector<lists::Column>& columns,
                 const std::vector<Row>& rows) {
    Listing listing(Format::kTable, columns, out);
    for (const Row& row : rows) {
        listing.add(row);
    }
    listing.finish();
}

void print_table(const StatementPage& page, const StatementOf& of, std::FILE* out) {
    std::fprintf(out, "creator %s, account %s, %s: %s\n\n", page.shown().str().c_str(),
                 of.account_id.str().c_str(), of.month.name.c_str(), page.status());
    print_table(out, lists::statement_row_list().columns(), page.rows());
    std::fputs("\n", out);
    print_table(out, lists::statement_sum_list().columns(), page.sums());
    if (const std::vector<Row> payouts = page.payouts(); !payouts.empty()) {
        std::fputs("\n", out);
        print_table(out, lists::statement_payout_list().columns(), payouts);
    }
}

void print(const StatementPage& page, const StatementOf& of, Format format, std::FILE* out) {
    if (format == Format::kTable) {
        print_table(page, of, out);
    } else if (format == Format::kJson) {
        std::fprintf(out, "%s\n", page.object().pretty().c_str());
    } else {
        Listing listing(format, lists::statement_csv_columns(), out);
        page.write_csv(listing);
        listing.finish();
    }
}

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
    const lists::ShopNames shops = lists::shop_names(ledger);
    print(StatementPage(ledger, shops, of), of, format, stdout);
}

Result<std::size_t> write_statements(LedgerReader& ledger, const lists::AccountMonthOf& of,
                                     Format format, int folder) {
    std::vector<CreatorId> creators;
    ledger.scan(CreatorRow{of.account, {}, {}, {}, {}}, {1, 1},
                [&creators](const CreatorRow& row) { creators.push_back(row.creator); });
    const lists::ShopNames shops = lists::shop_names(ledger);
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
            print(page, one, format, out);
        }
        const bool complete = out != nullptr && std::ferror(out) == 0;
        if ((out != nullptr && std::fclose(out) != 0) || !complete) {
            return Error{ErrorCode::kIo, name + ": could not be written completely"};
        }
        ++written;
    }
    return written;
}

void write_trial_balance(LedgerReader& ledger, const lists::AccountMonthOf& of, Format format) {
    Listing listing(format, lists::trial_balance_list().columns());
    const auto totals = lists::write_trial_balance(ledger, of, listing);
    listing.finish();
    if (format != Format::kTable) {
        return;
    }
    for (const auto& [currency, sums] : totals) {
        std::printf("%s in all: opening %s, debit %s, credit %s, closing %s\n",
                    std::string(currency.code()).c_str(), sums.opening.to_string().c_str(),
                    sums.debit.to_string().c_str(), sums.credit.to_string().c_str(),
                    sums.closing.to_string().c_str());
    }
}

}  // namespace sluice::cli
