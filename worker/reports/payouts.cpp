#include "worker/reports/payouts.hpp"

#include <algorithm>

#include "core/commands/ids.hpp"
#include "core/explain/node_names.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/payouts/items.hpp"
#include "core/programs/policy.hpp"
#include "core/rules/account.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

CreatorRow profile_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    CreatorRow row{account, creator, {}, {}, {}};
    return ledger.load(row) ? row : CreatorRow{account, creator, {}, {}, {}};
}

Json names_of(const std::vector<ProgramId>& programs) {
    Json names = Json::array();
    for (const ProgramId& program : programs) {
        names.push_back(program.str());
    }
    return names;
}

std::vector<ProgramId> programs_of(const std::vector<PayoutPart>& parts) {
    std::vector<ProgramId> programs;
    for (const PayoutPart& part : parts) {
        programs.push_back(part.program);
    }
    return programs;
}

Row payout_row(LedgerReader& ledger, PayoutNodes& nodes, const AccountId& account_id,
               const Payout& payout, const std::vector<ProgramId>& programs) {
    const CreatorRow profile = profile_of(ledger, payout.account, payout.creator);
    const CreatorId shown = profile.shown_as.empty() ? payout.creator : profile.shown_as;
    const bool is_planned = payout.payout_id.empty();
    return {is_planned ? Json() : text_or_null(nodes.of(payout.payout_id)),
            text_or_null(payout.payout_id),
            is_planned ? Json() : Json(payout_run_of(payout.payout_id)),
            account_id.str(),
            shown.str(),
            text_or_null(profile.name),
            text_or_null(payout.payee),
            names_of(programs),
            payout.currency.code(),
            payout.amount.to_string(),
            to_string(payout.state),
            payout.until.to_string(),
            is_planned ? Json() : Json(payout.closed_at.to_string()),
            text_or_null(payout.closed_by),
            text_or_null(payout.approved_by),
            payout.sent_at,
            payout.ended_at,
            text_or_null(payout.bank_ref),
            payout.paid_at,
            payout.orders_count,
            payout.items_count};
}

std::vector<Column> skipped_columns() {
    return {{"creator_id"}, {"currency"}, {"amount", Align::kRight}, {"skip_reason"}};
}

Row skipped_row(LedgerReader& ledger, AccountNumber account, const Skipped& row) {
    return {shown_id(ledger, account, row.creator).str(), row.currency.code(),
            row.amount.to_string(), to_string(row.skip_reason)};
}

}  // namespace

std::vector<Column> payout_columns() {
    return {{"node", Align::kLeft, false},
            {"payout_id"},
            {"payout_run", Align::kLeft, false},
            {"account_id", Align::kLeft, false},
            {"creator_id"},
            {"name", Align::kLeft, false},
            {"payee"},
            {"programs"},
            {"currency"},
            {"amount", Align::kRight},
            {"state"},
            {"until"},
            {"closed_at"},
            {"closed_by", Align::kLeft, false},
            {"approved_by", Align::kLeft, false},
            {"sent_at", Align::kLeft, false},
            {"ended_at", Align::kLeft, false},
            {"bank_ref", Align::kLeft, false},
            {"paid_at", Align::kLeft, false},
            {"orders", Align::kRight},
            {"items", Align::kRight}};
}

/// Collects payouts before writing their rows, because rows read profiles, which a scan forbids.
void write_payouts(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   Listing& out) {
    constexpr std::size_t kAtOnce = 4096;
    const CreatorNames names(ledger);
    PayoutNodes nodes(ledger);
    const auto accounts = account_ids(ledger);
    const std::string prefix = filter.payout_run.empty() ? "" : payout_id_prefix(filter.payout_run);
    Payout first;
    first.payout_id = prefix;
    bool all_read = false;
    while (!all_read) {
        std::vector<Payout> payouts;
        std::string last = first.payout_id;
        all_read = true;
        ledger.scan(first, {0, 1}, [&](const Payout& payout) {
            if (!std::string_view(payout.payout_id).starts_with(prefix)) {
                return false;
            }
            if (payout.payout_id == first.payout_id) {
                return true;  // the last payout of the previous slice
            }
            last = payout.payout_id;
            const auto account = accounts.find(payout.account);
            if (account != accounts.end() &&
                (!filter.account || account->second == *filter.account) &&
                (!filter.state || payout.state == *filter.state) &&
                (!filter.currency || payout.currency == *filter.currency) &&
                filter.covers(names, payout.account, payout.creator)) {
                payouts.push_back(payout);
            }
            all_read = payouts.size() < kAtOnce;
            return all_read;
        });
        PartsOf parts = parts_of(payouts, ledger);
        for (const Payout& payout : payouts) {
            out.add(payout_row(ledger, nodes, accounts.at(payout.account), payout,
                               programs_of(parts[payout.payout_id])));
        }
        first.payout_id = last;
    }
}

std::vector<Column> payout_item_columns() {
    return {{"payout_id", Align::kLeft, false},
            {"program_id"},
            {"shop_id"},
            {"order_id"},
            {"line_item_id"},
            {"kind"},
            {"amount", Align::kRight},
            {"ordered_at"}};
}

void write_payout_items(LedgerReader& ledger, const Payout& payout, Listing& out) {
    PayoutItem first;
    first.payout_id = payout.payout_id;
    ledger.scan(first, {1, 1}, [&out](const PayoutItem& item) {
        out.add({item.payout_id, item.program.str(), text_or_null(item.shop_id.str()),
                 text_or_null(item.order_id.str()),
                 item.kind == ItemKind::kCredit ? Json() : text_or_null(item.line.view()),
                 to_string(item.kind), item.amount.to_string(), item.sold_at.to_string()});
        return true;
    });
}

std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run) {
    std::vector<Skipped> rows;
    Skipped first;
    first.payout_run = run;
    ledger.scan(first, {1, 1}, [&rows](const Skipped& row) {
        rows.push_back(row);
        return true;
    });
    return rows;
}

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
    return list.empty() || std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

void print_left_for_later(LedgerReader& ledger, AccountNumber account, const PayoutClose& close) {
    const auto first_ids = [&](const std::vector<CreatorId>& given) {
        std::vector<CreatorId> ids;
        for (const CreatorId& creator : given) {
            ids.push_back(first_id(ledger, account, creator));
        }
        return ids;
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
        OpenAmount first;
        first.account = account;
        first.program = program.id;
        ledger.scan(first, {2, 2}, [&](const OpenAmount& open) {
            if (open.amount <= Decimal() || !names(creators, open.creator) ||
                (!excluded.empty() && names(excluded, open.creator))) {
                return true;
            }
            if (!open.cleared && open.sold_at > cleared_until) {
                pending[open.currency].add(open.amount, program.clears_at(open.sold_at));
            } else if (open.last_posted >= close.until) {
                dated[open.currency].add(open.amount, open.last_posted);
            }
            return true;
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
    : format_(format), ledger_(ledger), nodes_(ledger), account_(account), account_id_(account_id) {
    if (format != Format::kJson) {
        std::vector<Column> columns = payout_columns();
        for (const char* name : {"skip_reason", "skipped_amount", "digest"}) {
            columns.push_back({name, Align::kLeft, false});
        }
        payouts_ = std::make_unique<Listing>(format, std::move(columns));
    } else {
        std::fputs("{\"payouts\":[", stdout);
    }
}

namespace {

std::size_t column_named(std::string_view name) {
    const std::vector<Column> columns = payout_columns();
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [name](const Column& column) { return column.name == name; });
    return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

void PayoutRunListing::add_row(const Row& row) {
    if (payouts_) {
        payouts_->add(row);
        return;
    }
    std::fputs(first_ ? "" : ",", stdout);
    std::fputs(object_of(payout_columns(), row).compact().c_str(), stdout);
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
    Row row = payout_row(ledger_, nodes_, account_id_, payout, planned.programs);
    if (format_ == Format::kTable) {
        row[column_named("state")] = "would be " + std::string(to_string(payout.state));
    }
    add_row(row);
    add_total(payout);
}

void PayoutRunListing::add(const Payout& payout) {
    PartsOf parts = parts_of({&payout, 1}, ledger_);
    add_row(payout_row(ledger_, nodes_, account_id_, payout, programs_of(parts[payout.payout_id])));
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
    const std::size_t count = payout_columns().size();
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
    if (!payouts_) {
        Json rows = Json::array();
        for (const Skipped& row : skipped) {
            rows.push_back(object_of(skipped_columns(), skipped_row(ledger_, account_, row)));
        }
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
    Listing others(format_, skipped_columns());
    for (const Skipped& row : skipped) {
        others.add(skipped_row(ledger_, account_, row));
    }
    if (!skipped.empty()) {
        others.finish();
    }
    std::printf("digest %s\n", digest.c_str());
}

}  // namespace sluice::cli
