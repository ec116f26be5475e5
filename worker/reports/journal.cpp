// report journal
#include "core/journal/journal.hpp"

#include <unordered_map>

#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

/// The creator is called by its first id, as in the hash.
Json journal_row(const JournalGroup& group, std::size_t index, const AccountId& account,
                 const std::string& shop) {
    const JournalEntry& entry = group.entries[index];
    const BooksOf books = books_of(entry.reason);
    const bool mark = is_mark(entry.reason);
    const bool last = index + 1 == group.entries.size();
    return {{"node", group.node},
            {"entry", group.first_entry + index},
            {"event_seq", group.event_seq.value},
            {"command_id", text_or_null(group.command_id)},
            {"account_id", account.str()},
            {"program_id", text_or_null(group.program.view())},
            {"creator_id", text_or_null(group.creator.view())},
            {"shop_id", text_or_null(shop)},
            {"order_id", text_or_null(group.order_id.view())},
            {"line_item_id", text_or_null(entry.line.view())},
            {"currency", mark ? Json() : Json(entry.currency.code())},
            {"amount", mark ? Json() : Json(entry.amount.to_string())},
            {"from", text_or_null(book_name(books.from, group.payout_id))},
            {"to", text_or_null(book_name(books.to, group.payout_id))},
            {"reason", to_string(entry.reason)},
            {"payout_id", text_or_null(group.payout_id)},
            {"recorded_at", group.recorded_at.to_string()},
            {"accounting_date", group.accounting_date.to_string()},
            {"refers_to", entry.refers_to == 0 ? Json() : Json(entry.refers_to)},
            {"note", text_or_null(group.note)},
            {"actor", text_or_null(group.actor)},
            {"hash", last ? Json(to_hex(group.hash)) : Json()}};
}

class JournalRows {
public:
    JournalRows(LedgerReader& ledger, const ReportFilter& filter)
        : filter_(filter), names_(ledger), accounts_(account_ids(ledger)) {
        for (const ShopRow& shop : shops_of(ledger, {})) {
            shops_.emplace(shop.shop.value, shop.shop_id.str());
        }
    }

    void add(const JournalGroup& group, Listing& out) const {
        const auto account = accounts_.find(group.account);
        if (account == accounts_.end() || !wants(group, account->second)) {
            return;
        }
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            out.add(journal_row(group, i, account->second, shop_of(group)));
        }
    }

private:
    [[nodiscard]] bool wants(const JournalGroup& group, const AccountId& account) const {
        return (!filter_.account || *filter_.account == account) &&
               (!filter_.shop || filter_.shop->str() == shop_of(group)) &&
               filter_.covers(names_, group.account, group.creator) &&
               filter_.covers(group.recorded_at);
    }

    /// Payouts, periods and credits without an order name no shop.
    [[nodiscard]] std::string shop_of(const JournalGroup& group) const {
        const auto shop = shops_.find(group.shop.value);
        return shop == shops_.end() ? std::string() : shop->second;
    }

    const ReportFilter& filter_;
    const CreatorNames names_;
    const std::map<AccountNumber, AccountId> accounts_;
    std::unordered_map<std::uint32_t, std::string> shops_;
};

}  // namespace

void write_journal(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   Listing& out) {
    const JournalRows rows(ledger, filter);
    ledger.scan_journal(1, [&](const JournalGroup& group) {
        rows.add(group, out);
        return true;
    });
}

std::vector<Column> journal_columns() {
    return {{"node", Align::kLeft, false},
            {"entry", Align::kRight},
            {"event_seq", Align::kRight},
            {"command_id"},
            {"account_id", Align::kLeft, false},
            {"program_id"},
            {"creator_id"},
            {"shop_id"},
            {"order_id"},
            {"line_item_id"},
            {"currency"},
            {"amount", Align::kRight},
            {"from", Align::kLeft, false},
            {"to", Align::kLeft, false},
            {"reason"},
            {"payout_id"},
            {"recorded_at"},
            {"accounting_date", Align::kLeft, false},
            {"refers_to", Align::kRight, false},
            {"note", Align::kLeft, false},
            {"actor"},
            {"hash", Align::kLeft, false}};
}

}  // namespace sluice::cli
