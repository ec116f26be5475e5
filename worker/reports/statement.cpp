#include "worker/reports/statement.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "core/rules/journal.hpp"

namespace sluice::cli {
namespace {

using AccountKey = std::pair<ProgramId, Currency>;

struct Sums {
    Decimal opening;
    Decimal closing;
    bool in_month = false;  ///< Something happened, or there is a balance to show.
    std::vector<Payout> payouts;
};

class Statement {
public:
    Statement(LedgerReader& ledger, const CreatorId& creator, const Month& month, Listing& out)
        : ledger_(ledger), creator_(creator), month_(month), out_(out) {}

    void write() {
        collect();
        for (const auto& [key, sums] : accounts_) {
            if (sums.in_month || !sums.opening.is_zero()) {
                write_account(key, sums);
            }
        }
    }

private:
    [[nodiscard]] bool in_month(Timestamp time) const {
        return month_.from <= time && time < month_.to;
    }

    Sums& sums_of(const ProgramId& program, Currency currency) {
        const Decimal zero(0, currency.minor_units());
        return accounts_.try_emplace({program, currency}, Sums{zero, zero, false, {}})
            .first->second;
    }

    void add(Sums& sums, Timestamp time, const Decimal& amount) const {
        if (time < month_.from) {
            sums.opening = sums.opening + amount;
        }
        if (time < month_.to) {
            sums.closing = sums.closing + amount;
        }
        sums.in_month = sums.in_month || in_month(time);
    }

    void collect() {
        ledger_.scan_journal(1, [&](const JournalGroup& group) {
            for (const JournalLine& line : group.lines) {
                if (group.creator == creator_) {
                    add(sums_of(group.program, line.currency), group.recorded_at, line.amount);
                }
            }
            return true;
        });
        ledger_.scan_payouts([&](const Payout& payout) {
            if (payout.creator == creator_) {
                Sums& sums = sums_of(payout.program, payout.currency);
                add(sums, payout.closed_at, negative(payout.amount));
                if (in_month(payout.closed_at)) {
                    sums.payouts.push_back(payout);
                }
            }
            return true;
        });
    }

    static Decimal negative(const Decimal& amount) { return {-amount.unscaled(), amount.scale()}; }

    Json row(const AccountKey& key, Timestamp time, std::string_view kind, const Decimal& amount) {
        return {{"program_id", key.first.str()},
                {"currency", key.second.code()},
                {"recorded_at", time.to_string()},
                {"kind", kind},
                {"shop_id", nullptr},
                {"order_id", nullptr},
                {"line_item_id", nullptr},
                {"payout_id", nullptr},
                {"amount", amount.to_string()}};
    }

    void write_account(const AccountKey& key, const Sums& sums) {
        out_.add(row(key, month_.from, "OPENING", sums.opening));
        auto payout = sums.payouts.begin();
        ledger_.scan_journal(1, [&](const JournalGroup& group) {
            if (group.creator != creator_ || group.program != key.first ||
                !in_month(group.recorded_at)) {
                return true;
            }
            for (; payout != sums.payouts.end() && payout->closed_at < group.recorded_at;
                 ++payout) {
                write_payout(key, *payout);
            }
            write_entries(key, group);
            return true;
        });
        for (; payout != sums.payouts.end(); ++payout) {
            write_payout(key, *payout);
        }
        out_.add(row(key, month_.to, "CLOSING", sums.closing));
    }

    void write_entries(const AccountKey& key, const JournalGroup& group) {
        for (const JournalLine& line : group.lines) {
            if (line.currency != key.second) {
                continue;
            }
            Json entry = row(key, group.recorded_at, to_string(line.reason), line.amount);
            entry["shop_id"] = shop_name(group.order.shop);
            entry["order_id"] = group.order.order_id.str();
            entry["line_item_id"] = line.line.empty() ? Json() : Json(line.line.str());
            out_.add(entry);
        }
    }

    void write_payout(const AccountKey& key, const Payout& payout) {
        Json entry = row(key, payout.closed_at, "PAYOUT", negative(payout.amount));
        entry["payout_id"] = payout.payout_id;
        out_.add(entry);
    }

    const std::string& shop_name(ShopNumber shop) {
        const auto [found, is_new] = shops_.try_emplace(shop.value);
        if (is_new) {
            const auto row = ledger_.shop(shop);
            found->second = row ? row->shop_id.str() : std::string();
        }
        return found->second;
    }

    LedgerReader& ledger_;
    const CreatorId& creator_;
    const Month& month_;
    Listing& out_;
    std::map<AccountKey, Sums> accounts_;
    std::unordered_map<std::uint32_t, std::string> shops_;
};

}  // namespace

std::vector<Column> statement_columns() {
    return {{"program_id"},   {"currency"},  {"recorded_at"},
            {"kind"},         {"shop_id"},   {"order_id"},
            {"line_item_id"}, {"payout_id"}, {"amount", Align::kRight}};
}

void write_statement(LedgerReader& ledger, const CreatorId& creator, const Month& month,
                     Listing& out) {
    Statement(ledger, creator, month, out).write();
}

}  // namespace sluice::cli
