#include "core/reports/payouts.hpp"

#include "core/commands/ids.hpp"
#include "core/payouts/items.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"

namespace sluice::reports {
namespace {

/// A payout that is only planned has no parts yet.
Json parts_list(const std::vector<PayoutPart>& parts) {
    return Json::list(parts, [](const PayoutPart& part) {
        return Json{{"program_id", part.program.str()}, {"amount", part.amount.to_string()}};
    });
}

/// Returns the reason of the command that ended the payout without a payment, from the journal.
std::string end_reason(LedgerReader& ledger, const Payout& payout) {
    const bool is_unpaid = !is_active(payout.state);
    if (!is_unpaid || !payout.ended_at) {
        return {};
    }
    const JournalReason reason = payout.state == PayoutState::kVoid     ? JournalReason::kVoid
                                 : payout.state == PayoutState::kFailed ? JournalReason::kFailed
                                                                        : JournalReason::kReturned;
    std::string note;
    // The accounting date is the receipt's, or later if that month was closed.
    ledger.scan_creator_journal(payout.account, payout.creator, start_of_day(*payout.ended_at),
                                kEndOfTime, [&](const JournalGroup& group) {
                                    const bool is_end = group.payout_id == payout.payout_id &&
                                                        group.entries.front().reason == reason;
                                    if (is_end) {
                                        note = group.note;
                                    }
                                    return !is_end;
                                });
    return note;
}

}  // namespace

Row payout_row(LedgerReader& ledger, PayoutNodes& nodes, const AccountId& account_id,
               const Payout& payout, const std::vector<PayoutPart>& parts) {
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
            Json::list(parts, [](const PayoutPart& part) { return part.program.str(); }),
            payout.currency.code(),
            payout.amount.to_string(),
            to_string(payout.state),
            payout.until.to_string(),
            is_planned ? Json() : Json(payout.closed_at.to_string()),
            text_or_null(payout.closed_by),
            text_or_null(payout.approved_by),
            payout.approved_at,
            payout.repoints,
            text_or_null(payout.repointed_by),
            text_or_null(payout.sent_by),
            payout.sent_at,
            text_or_null(payout.message),
            text_or_null(payout.ended_by),
            payout.ended_at,
            text_or_null(end_reason(ledger, payout)),
            text_or_null(payout.bank_ref),
            payout.paid_at,
            payout.orders_count,
            payout.items_count,
            is_planned ? Json() : parts_list(parts)};
}

std::vector<Column> skipped_columns() {
    return {{"creator_id"}, {"currency"}, {"amount", Align::kRight}, {"skip_reason"}};
}

Row skipped_row(LedgerReader& ledger, AccountNumber account, const Skipped& row) {
    return {shown_id(ledger, account, row.creator).str(), row.currency.code(),
            row.amount.to_string(), to_string(row.skip_reason)};
}

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
            {"approved_at", Align::kLeft, false},
            {"repoints", Align::kRight, false},
            {"repointed_by", Align::kLeft, false},
            {"sent_by", Align::kLeft, false},
            {"sent_at", Align::kLeft, false},
            {"message", Align::kLeft, false},
            {"ended_by", Align::kLeft, false},
            {"ended_at", Align::kLeft, false},
            {"end_reason"},
            {"bank_ref", Align::kLeft, false},
            {"paid_at", Align::kLeft, false},
            {"orders", Align::kRight},
            {"items", Align::kRight},
            {"parts", Align::kLeft, false}};
}

/// Collects payouts before writing their rows, because rows read profiles, which a scan forbids.
void write_payouts(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   RowOutput& out) {
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
                               parts[payout.payout_id]));
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

Row payout_item_row(const PayoutItem& item) {
    return {item.payout_id,
            item.program.str(),
            text_or_null(item.shop_id.str()),
            text_or_null(item.order_id.str()),
            item.kind == ItemKind::kCredit ? Json() : text_or_null(item.line.view()),
            to_string(item.kind),
            item.amount.to_string(),
            item.sold_at.to_string()};
}

void write_payout_items(LedgerReader& ledger, const Payout& payout, RowOutput& out) {
    PayoutItem first;
    first.payout_id = payout.payout_id;
    ledger.scan(first, {1, 1}, [&out](const PayoutItem& item) { out.add(payout_item_row(item)); });
}

void scan_payout_run(LedgerReader& ledger, const std::string& run, const Visitor<Payout>& visit) {
    const std::string prefix = payout_id_prefix(run);
    Payout first;
    first.payout_id = prefix;
    ledger.scan(first, {0, 1}, [&](const Payout& payout) {
        return std::string_view(payout.payout_id).starts_with(prefix) && visit(payout);
    });
}

std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run) {
    std::vector<Skipped> rows;
    Skipped first;
    first.payout_run = run;
    ledger.scan(first, {1, 1}, [&rows](const Skipped& row) { rows.push_back(row); });
    return rows;
}

}  // namespace sluice::reports
