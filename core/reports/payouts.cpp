#include "core/reports/payouts.hpp"

#include "core/commands/ids.hpp"
#include "core/ledger/paged_reads.hpp"
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

}  // namespace

void PayoutNames::expect(std::span<const Payout> payouts) {
    profiles_.clear();
    nodes_.clear();
    std::vector<CreatorRow> profiles;
    std::vector<PayoutRun> runs;
    for (const Payout& payout : payouts) {
        const CreatorRow key{payout.account, payout.creator, {}, {}, {}};
        if (profiles_.emplace(std::pair(payout.account, payout.creator), key).second) {
            profiles.push_back(key);
        }
        if (const std::string run = payout_run_of(payout.payout_id);
            nodes_.emplace(run, "").second) {
            runs.emplace_back().payout_run = run;
        }
    }
    load_all(ledger_, profiles);
    for (CreatorRow& row : profiles) {
        profiles_[{row.account, row.creator}] = std::move(row);
    }
    load_all(ledger_, runs);
    for (const PayoutRun& run : runs) {
        nodes_[run.payout_run] = run.node;
    }
}

const CreatorRow& PayoutNames::profile(AccountNumber account, const CreatorId& creator) {
    const auto [found, is_new] = profiles_.try_emplace({account, creator});
    if (is_new) {
        found->second = profile_of(ledger_, account, creator);
    }
    return found->second;
}

const std::string& PayoutNames::node(const std::string& payout_id) {
    const auto [found, is_new] = nodes_.try_emplace(payout_run_of(payout_id));
    if (is_new) {
        PayoutRun run;
        run.payout_run = found->first;
        found->second = ledger_.load(run) ? run.node : std::string();
    }
    return found->second;
}

Row payout_row(PayoutNames& names, const AccountId& account_id, const Payout& payout,
               const std::vector<PayoutPart>& parts) {
    const CreatorRow& profile = names.profile(payout.account, payout.creator);
    const CreatorId shown = profile.shown_as.empty() ? payout.creator : profile.shown_as;
    const bool is_planned = payout.payout_id.empty();
    return {is_planned ? Json() : text_or_null(names.node(payout.payout_id)),
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
            text_or_null(payout.end_reason),
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
    PayoutNames named(ledger);
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
        named.expect(payouts);
        for (const Payout& payout : payouts) {
            out.add(
                payout_row(named, accounts.at(payout.account), payout, parts[payout.payout_id]));
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

std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run) {
    std::vector<Skipped> rows;
    Skipped first;
    first.payout_run = run;
    ledger.scan(first, {1, 1}, [&rows](const Skipped& row) { rows.push_back(row); });
    return rows;
}

}  // namespace sluice::reports
