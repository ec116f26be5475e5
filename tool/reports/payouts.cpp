#include "tool/reports/payouts.hpp"

#include <algorithm>

#include "core/ledger/payout_rows.hpp"
#include "core/payouts/items.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"

namespace sluice::cli {
namespace {

/// An amount that the close leaves, and the first instant that concerns it.
struct Left {
    Decimal amount;
    Timestamp first = kEndOfTime;

    void add(const Decimal& more, Timestamp at) {
        amount += more;
        first = std::min(first, at);
    }
};
using LeftByCurrency = std::map<Currency, Left>;

void print_left(const LeftByCurrency& left, const char* words, const char* advice) {
    for (const auto& [currency, one] : left) {
        std::printf("later: %s %s %s %s on%s\n", one.amount.to_string().c_str(),
                    std::string(currency.code()).c_str(), words, one.first.to_string().c_str(),
                    advice);
    }
}

template <class Id>
bool names(const std::vector<Id>& list, const Id& id) {
    return list.empty() || has_item(list, id);
}

std::size_t column_named(std::string_view name) {
    const std::vector<lists::Column>& columns = payout_list().columns();
    const auto found = std::ranges::find(columns, name, &lists::Column::name);
    return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

void print_left_for_later(LedgerReader& ledger, AccountNumber account, const PayoutClose& close) {
    const auto first_ids = [&](const std::vector<CreatorId>& given) {
        return mapped(given,
                      [&](const CreatorId& creator) { return first_id(ledger, account, creator); });
    };
    const std::vector<CreatorId> creators = first_ids(close.creators);
    const std::vector<CreatorId> excluded = first_ids(close.excluded);
    LeftByCurrency pending, dated;
    for (const ProgramRow& row : ledger.programs(account)) {
        const Program& program = row.program;
        if (!names(close.programs, program.id)) {
            continue;
        }
        const Timestamp cleared_until = program.cleared_until(close.until);
        ledger.scan(OpenAmount{account, program.id}, {2, 2}, [&](const OpenAmount& open) {
            if (open.amount <= Decimal() || !names(creators, open.creator) ||
                (!excluded.empty() && names(excluded, open.creator))) {
                return;
            }
            if (!open.cleared && open.sold_at > cleared_until) {
                pending[open.currency].add(open.amount, program.clears_at(open.sold_at));
            } else if (open.last_posted >= close.until) {
                dated[open.currency].add(open.amount, open.last_posted);
            }
        });
    }
    print_left(pending, "clear from", "");
    print_left(dated, "have cleared, but are dated by receipt from",
               ": a later --until may pay them");
    if (!pending.empty() || !dated.empty()) {
        std::printf("later: holds, blocks, minimums and payees are checked then\n");
    }
}

PayoutRunListing::PayoutRunListing(Format format, LedgerReader& ledger, AccountNumber account,
                                   const AccountId& account_id)
    : format_(format), ledger_(ledger), names_(ledger), account_(account), account_id_(account_id) {
    if (format != Format::kJson) {
        payouts_ =
            std::make_unique<Listing>(format, printed(payout_list().columns()) +
                                                  in_files("skip_reason skipped_amount digest"));
    } else {
        std::fputs("{\"payouts\":[", stdout);
    }
}

void PayoutRunListing::add_row(const Row& row) {
    if (payouts_) {
        payouts_->add(row);
        return;
    }
    std::fputs(first_ ? "" : ",", stdout);
    std::fputs(object_of(payout_list().columns(), row).compact().c_str(), stdout);
    first_ = false;
}

void PayoutRunListing::add(const PlannedPayout& planned, Timestamp until) {
    Payout payout;
    payout.account = account_;
    payout.creator = planned.creator;
    payout.currency = planned.currency;
    payout.amount = planned.amount;
    payout.state = planned.needs_approval ? PayoutState::kClosed : PayoutState::kApproved;
    payout.payee = planned.payee;
    payout.until = until;
    payout.orders_count = planned.orders_count;
    payout.items_count = planned.items_count;
    const auto parts = mapped(planned.programs, [](const ProgramId& program) {
        return PayoutPart{{}, program};
    });
    Row row = payout_row(names_, account_id_, payout, parts);
    if (format_ == Format::kTable) {
        row[column_named("state")] = "would be " + std::string(to_string(payout.state));
    }
    add_row(row);
    add_total(payout);
}

void PayoutRunListing::add(const Payout& payout) {
    PartsOf parts = parts_of({&payout, 1}, ledger_);
    add_row(payout_row(names_, account_id_, payout, parts[payout.payout_id]));
    add_total(payout);
}

void PayoutRunListing::add_total(const Payout& payout) {
    Total& total =
        totals_.try_emplace(payout.currency, Total{zero_amount(payout.currency)}).first->second;
    total.amount += payout.amount;
    ++total.payouts;
    total.waiting += payout.state == PayoutState::kClosed ? 1U : 0U;
}

void PayoutRunListing::finish_csv(const std::vector<Skipped>& skipped, const std::string& digest) {
    const std::size_t count = payout_list().columns().size();
    for (const Skipped& row : skipped) {
        Row cells(count + 2);
        cells[column_named("account_id")] = account_id_.str();
        cells[column_named("creator_id")] = shown_id(ledger_, account_, row.creator).str();
        cells[column_named("currency")] = row.currency.code();
        cells[count] = to_string(row.skip_reason);
        cells[count + 1] = row.amount.to_string();
        payouts_->add(cells);
    }
    Row last(count + 3);
    last.back() = digest;
    payouts_->add(last);
    payouts_->finish();
}

void PayoutRunListing::finish(const std::vector<Skipped>& skipped, const std::string& digest) {
    const auto row_of = [this](const Skipped& row) { return skipped_row(ledger_, account_, row); };
    if (!payouts_) {
        const Json rows = Json::list(skipped, [&row_of](const Skipped& row) {
            return object_of(skipped_list().columns(), row_of(row));
        });
        std::printf("],\"skipped\":%s,\"digest\":\"%s\"}\n", rows.compact().c_str(),
                    digest.c_str());
        return;
    }
    if (format_ == Format::kCsv) {
        finish_csv(skipped, digest);
        return;
    }
    payouts_->finish();
    for (const auto& [currency, total] : totals_) {
        std::printf("total %s %s in %llu payout%s, %llu to be approved\n",
                    total.amount.to_string().c_str(), std::string(currency.code()).c_str(),
                    static_cast<unsigned long long>(total.payouts), total.payouts == 1 ? "" : "s",
                    static_cast<unsigned long long>(total.waiting));
    }
    if (!skipped.empty()) {
        list_all(format_, printed(skipped_list().columns()), skipped, row_of);
    }
    std::printf("digest %s\n", digest.c_str());
}

}  // namespace sluice::cli
