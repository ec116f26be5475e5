#include "core/lists/payouts.hpp"

#include "core/commands/ids.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/report.hpp"
#include "core/payouts/items.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

/// A payout that is only planned has no parts yet.
Json parts_list(const std::vector<PayoutPart>& parts) {
    return Json::list(parts, [](const PayoutPart& part) {
        return Json{{"program_id", part.program.str()}, {"amount", part.amount.to_string()}};
    });
}

std::vector<std::string> programs_of(const std::vector<PayoutPart>& parts) {
    return mapped(parts, [](const PayoutPart& part) { return part.program.str(); });
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
        PayoutRun run{.payout_run = found->first};
        found->second = ledger_.load(run) ? run.node : std::string();
    }
    return found->second;
}

const List<PayoutOf>& payout_list() {
    using Of = const PayoutOf&;
    static const List<PayoutOf> list{
        {"node", kText, kLedger,
         [](Of of) -> Value { return of.is_planned() ? Value() : or_null(of.node); }, kInFilesOnly},
        {"payout_id", kText, kLedger, [](Of of) { return or_null(of.payout.payout_id); }},
        {"payout_run", kText, kLedger,
         [](Of of) -> Value {
             return of.is_planned() ? Value() : Value(payout_run_of(of.payout.payout_id));
         },
         kInFilesOnly},
        {"account_id", kText, kLedger, [](Of of) { return or_null(of.account_id); }, kInFilesOnly},
        {"creator_id", kText, kLedger,
         [](Of of) -> Value {
             return of.profile.shown_as.empty() ? of.payout.creator : of.profile.shown_as;
         }},
        {"name", kText, kLedger, [](Of of) { return or_null(of.profile.name); }, kInFilesOnly},
        {"payee", kText, kPayee, [](Of of) { return or_null(of.payout.payee); }},
        {"programs", kTexts, kLedger, [](Of of) -> Value { return programs_of(of.parts); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.payout.currency.code(); }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.payout.amount; }},
        {"state", kText, kLedger, [](Of of) -> Value { return to_string(of.payout.state); }},
        {"until", kTime, kLedger, [](Of of) -> Value { return of.payout.until; }},
        {"closed_at", kTime, kLedger,
         [](Of of) -> Value { return of.is_planned() ? Value() : Value(of.payout.closed_at); }},
        {"closed_by", kText, kLedger, [](Of of) { return or_null(of.payout.closed_by); },
         kInFilesOnly},
        {"approved_by", kText, kLedger, [](Of of) { return or_null(of.payout.approved_by); },
         kInFilesOnly},
        {"approved_at", kTime, kLedger, [](Of of) -> Value { return of.payout.approved_at; },
         kInFilesOnly},
        {"repoints", kInteger, kLedger, [](Of of) -> Value { return of.payout.repoints; },
         kInFilesOnly},
        {"repointed_by", kText, kLedger, [](Of of) { return or_null(of.payout.repointed_by); },
         kInFilesOnly},
        {"sent_by", kText, kLedger, [](Of of) { return or_null(of.payout.sent_by); }, kInFilesOnly},
        {"sent_at", kTime, kLedger, [](Of of) -> Value { return of.payout.sent_at; }, kInFilesOnly},
        {"message", kText, kLedger, [](Of of) { return or_null(of.payout.message); }, kInFilesOnly},
        {"ended_by", kText, kLedger, [](Of of) { return or_null(of.payout.ended_by); },
         kInFilesOnly},
        {"ended_at", kTime, kLedger, [](Of of) -> Value { return of.payout.ended_at; },
         kInFilesOnly},
        {"end_reason", kText, kLedger, [](Of of) { return or_null(of.payout.end_reason); }},
        {"bank_ref", kText, kLedger, [](Of of) { return or_null(of.payout.bank_ref); },
         kInFilesOnly},
        {"paid_at", kTime, kLedger, [](Of of) -> Value { return of.payout.paid_at; }, kInFilesOnly},
        {"orders", kInteger, kLedger, [](Of of) -> Value { return of.payout.orders_count; }},
        {"items", kInteger, kLedger, [](Of of) -> Value { return of.payout.items_count; }},
        {"parts",
         kObjects,
         kLedger,
         {{"program_id", kText, kLedger}, {"amount", kAmount, kLedger}},
         [](Of of) -> Value { return of.is_planned() ? Value() : Value(parts_list(of.parts)); },
         kInFilesOnly}};
    return list;
}

const List<PayoutOf>& exported_payout_list() {
    static const List<PayoutOf> list =
        payout_list()
            .only("payout_id payout_run account_id")
            .then({{"creator_id", kText, kLedger,
                    [](const PayoutOf& of) -> Value { return of.payout.creator; }}})
            .then(payout_list().only(
                "name payee currency amount state until closed_at closed_by approved_by sent_at "
                "ended_at bank_ref paid_at orders items node"));
    return list;
}

Row payout_row(PayoutNames& names, const AccountId& account_id, const Payout& payout,
               const std::vector<PayoutPart>& parts) {
    return payout_list().row(
        {account_id.view(), payout, parts, names.profile(payout.account, payout.creator),
         payout.payout_id.empty() ? std::string() : names.node(payout.payout_id)});
}

const List<SkippedOf>& skipped_list() {
    using Of = const SkippedOf&;
    static const List<SkippedOf> list{
        {"creator_id", kText, kLedger, [](Of of) -> Value { return of.creator; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.skipped.currency.code(); }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.skipped.amount; }},
        {"skip_reason", kText, kLedger,
         [](Of of) -> Value { return to_string(of.skipped.skip_reason); }}};
    return list;
}

Row skipped_row(LedgerReader& ledger, AccountNumber account, const Skipped& row) {
    return skipped_list().row({shown_id(ledger, account, row.creator), row});
}

/// Collects payouts before writing their rows, because rows read profiles, which a scan forbids.
void write_payouts(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   RowOutput& out) {
    constexpr std::size_t kAtOnce = 4096;
    const CreatorNames names(ledger);
    PayoutNames named(ledger);
    const auto accounts = account_ids(ledger);
    const std::string prefix = filter.payout_run.empty() ? "" : payout_id_prefix(filter.payout_run);
    Payout first{.payout_id = prefix};
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

namespace {

const List<PlainRow>& payout_item_cells() {
    using Of = const PlainRow&;
    static const List<PlainRow> cells{
        {"payout_id", kText, kLedger, cell<&PayoutItem::payout_id>, kInFilesOnly},
        {"program_id", kText, kLedger, cell<&PayoutItem::program>},
        {"shop_id", kText, kLedger, cell_or_null<&PayoutItem::shop_id>},
        {"order_id", kText, kLedger, cell_or_null<&PayoutItem::order_id>},
        {"line_item_id", kText, kLedger,
         [](Of of) -> Value {
             return of.as<PayoutItem>().kind == ItemKind::kCredit
                        ? Value()
                        : or_null(of.as<PayoutItem>().line.view());
         }},
        {"kind", kText, kLedger,
         [](Of of) -> Value { return to_string(of.as<PayoutItem>().kind); }},
        {"amount", kAmount, kLedger, cell<&PayoutItem::amount>},
        {"ordered_at", kTime, kLedger, cell<&PayoutItem::sold_at>}};
    return cells;
}

}  // namespace

const PlainList& payout_item_list() {
    static const PlainList list{
        .resource = "payout/items",
        .resource_text = "Items of one payout",
        .read_by = ReadBy::kCreators,
        .exported_as = "payout_items",
        .table = &table_of<PayoutItem>(),
        .within = "payout_id",
        .cells = payout_item_cells(),
        .exported_cells =
            payout_item_cells()
                .only("payout_id program_id shop_id order_id")
                .then({{"line_item_id", kText, kLedger, cell_or_null<&PayoutItem::line>}})
                .then(payout_item_cells().only("kind amount ordered_at"))};
    return list;
}

void write_payout_items(LedgerReader& ledger, const Payout& payout, RowOutput& out) {
    write_plain(ledger, payout_item_list(), {payout.account, {}, {{"payout_id", payout.payout_id}}},
                out);
}

std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run) {
    return ledger.rows(Skipped{.payout_run = run}, {1, 1});
}

}  // namespace sluice::lists
