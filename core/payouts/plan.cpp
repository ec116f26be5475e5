#include "core/payouts/plan.hpp"

#include <algorithm>
#include <utility>

#include "core/approvals/limits.hpp"
#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/payouts/items.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/soundness.hpp"
#include "core/statements/next_close.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

DamagedRow damaged(const OpenAmount& row) {
    return {row_name(row), "the order or credit has no such amount open", order_of(row)};
}

}  // namespace

PayoutPlan::PayoutPlan(const PlanRequest& request, const AccountSettings& settings,
                       LedgerReader& ledger)
    : request_(request), settings_(settings), ledger_(ledger), credits_(ledger) {
    for (const CreatorId& creator : request.close.creators) {
        creators_.insert(first_id(ledger, request.account, creator));
    }
    for (const CreatorId& creator : request.close.excluded) {
        excluded_.insert(first_id(ledger, request.account, creator));
    }
}

// ---- Input of the plan --------------------------------------------------------------------------

Status PayoutPlan::check_programs() {
    for (ProgramRow& row : ledger_.programs(request_.account)) {
        programs_.push_back(std::move(row.program));
    }
    if (request_.close.programs.empty()) {
        return {};
    }
    std::vector<Program> named;
    for (const ProgramId& id : request_.close.programs) {
        const Program* program = program_of(id);
        if (program == nullptr) {
            return not_found("account " + request_.account_id.str() + " has no program " +
                             id.str());
        }
        named.push_back(*program);
    }
    programs_ = std::move(named);
    return {};
}

bool PayoutPlan::pays_program_of(const RunUntil& run) const {
    const std::vector<ProgramId>& named = request_.close.programs;
    const std::string ids = " " + run.programs + " ";
    return run.programs.empty() || named.empty() ||
           std::ranges::any_of(named, [&ids](const ProgramId& program) {
               return ids.find(" " + program.str() + " ") != std::string::npos;
           });
}

/// Whether no payout of the run is left that is not void.
bool PayoutPlan::is_void(const std::string& payout_run) {
    const std::string prefix = payout_id_prefix(payout_run);
    const Payout first{.payout_id = prefix};
    bool all_void = true;
    ledger_.scan(first, {0, 1}, [&](const Payout& payout) {
        if (!std::string_view(payout.payout_id).starts_with(prefix)) {
            return false;
        }
        all_void = payout.state == PayoutState::kVoid;
        return all_void;
    });
    return all_void;
}

/// Closes run forward (K7). Later runs are few: as a rule there is none.
Status PayoutPlan::check_forward() {
    const Timestamp until = request_.close.until;
    std::vector<RunUntil> later;
    ledger_.scan(RunUntil{request_.account, until, {}, {}}, {1, 2}, [&](const RunUntil& run) {
        if (run.until > until && pays_program_of(run)) {
            later.push_back(run);
        }
    });
    for (auto run = later.rbegin(); run != later.rend(); ++run) {
        if (!is_void(run->payout_run)) {
            return conflict("--until " + until.to_string() + " lies before " +
                            run->until.to_string() + ", until which payout run " + run->payout_run +
                            " was closed: use that time or a later one, or void the run first");
        }
    }
    return {};
}

bool PayoutPlan::wants(const CreatorId& creator) const {
    return creators_.empty() || creators_.contains(creator);
}

const Program* PayoutPlan::program_of(const ProgramId& id) const {
    return find_where(programs_, [&id](const Program& program) { return program.id == id; });
}

Status PayoutPlan::add_up() {
    if (request_.close.until > request_.received_at) {
        return invalid("--until " + request_.close.until.to_string() + " lies in the future");
    }
    if (Status known = check_programs(); !known) {
        return known;
    }
    if (Status forward = check_forward(); !forward) {
        return forward;
    }
    cleared_ = ledger_.cleared(
        request_.account, mapped(programs_, [this](const Program& program) {
            return ClearedOf{program.id, program.cleared_until(request_.close.until)};
        }));
    find_posted_later();
    add_shares();
    decide();
    return {};
}

const ShopId& PayoutPlan::shop_id_of(ShopNumber shop) {
    const auto [known, added] = shop_ids_.try_emplace(shop);
    if (added) {
        known->second = ledger_.shop_id(shop);
    }
    return known->second;
}

bool PayoutPlan::has_later_postings(const OpenAmount& row) const {
    return row.last_posted >= request_.close.until;
}

void PayoutPlan::expect(std::span<const OpenAmount> rows) {
    std::vector<OrderKey> orders;
    std::vector<OrderKey> journals;
    for (const OpenAmount& row : rows) {
        if (is_credit(row)) {
            continue;
        }
        orders.push_back({row.account, row.shop, row.order_id});
        if (has_later_postings(row)) {
            journals.push_back(orders.back());
        }
    }
    ledger_.expect_orders(orders);
    ledger_.expect_journals(journals);
}

// ---- One position or credit ---------------------------------------------------------------------

LineAmounts PayoutPlan::payable_of_credit(const OpenAmount& row) {
    MoneyCommand credit;
    if (!credits_.load(row.order_id.str(), credit)) {
        throw damaged(row);
    }
    Decimal accrued = credit.accrued;
    if (credit.topic != Topic::kWriteOff && credit.last_posted >= request_.close.until) {
        accrued = std::min(accrued, accrued_before(credit, request_.close.until));
    }
    Decimal take = accrued - credit.allocated;
    if (const auto limit = write_offs_.find(credit.command_id); limit != write_offs_.end()) {
        take = limit->second;
    }
    return take.is_zero() ? LineAmounts{} : LineAmounts{{LineItemId(credit.command_id), take}};
}

/// Sums the credit's posting and its reversal, if they are dated before `until`. Nothing of a
/// command is dated before its receipt, and nothing follows the two, so little of the creator's
/// journal is read.
Decimal PayoutPlan::accrued_before(const MoneyCommand& credit, Timestamp until) {
    const bool is_reversed = !credit.reversed_by.empty();
    const Timestamp posted = second_of(credit.command_id);
    int left = is_reversed ? 2 : 1;
    Decimal accrued = zero_amount(credit.currency);
    ledger_.scan_creator_journal(
        credit.account, credit.creator,
        is_reversed ? std::min(posted, second_of(credit.reversed_by)) : posted, until,
        [&](const JournalGroup& group) {
            if (!is_memo(group.entries.front().reason) &&
                (group.command_id == credit.command_id ||
                 (is_reversed && group.command_id == credit.reversed_by))) {
                for (const JournalEntry& entry : group.entries) {
                    accrued += change_in(entry, LedgerAccount::kOwed);
                }
                --left;
            }
            return left != 0;
        });
    return accrued;
}

LineAmounts PayoutPlan::payable_of_row(const OpenAmount& row) {
    if (is_credit(row)) {
        return payable_of_credit(row);
    }
    if (!load_sound_order(ledger_, {row.account, row.shop, row.order_id}, state_)) {
        throw damaged(row);
    }
    const std::optional<std::uint32_t> index = find_position(state_, row.program, row.creator);
    if (!index) {
        throw damaged(row);
    }
    const Position& position = state_.positions[*index];
    if (position.last_posted < request_.close.until) {
        return payable_by_line(position, row.currency, nullptr);
    }
    const LineAmounts then =
        accrued_as_of(ledger_.order_journal(state_), position, row.currency, request_.close.until);
    return payable_by_line(position, row.currency, &then);
}

std::vector<PayoutItem> PayoutPlan::items_of(const OpenAmount& row) {
    const LineAmounts amounts = payable_of_row(row);
    PayoutItem item{{}, row.program, {},         row.order_id, {}, ItemKind::kCredit,
                    {}, row.shop,    row.sold_at};
    if (is_credit(row)) {
        MoneyCommand credit{.command_id = row.order_id.str()};
        static_cast<void>(ledger_.load(credit));
        item.shop_id = credit.shop_id;
        item.order_id = credit.order_id;
        item.shop = credit.shop;
    } else {
        const Position& position =
            state_.positions[*find_position(state_, row.program, row.creator)];
        item.shop_id = amounts.empty() ? ShopId() : shop_id_of(row.shop);
        item.kind = is_in_another_run(position, request_.payout_run) ? ItemKind::kAdjustment
                                                                     : ItemKind::kCommission;
    }
    std::vector<PayoutItem> items;
    for (const auto& [line, amount] : amounts) {
        PayoutItem& added = items.emplace_back(item);
        added.line = line;
        added.kind = line.empty() ? ItemKind::kManual : item.kind;
        added.amount = amount;
    }
    return items;
}

/// Reads all holds on creators of the account at once, because they are few.
bool PayoutPlan::is_held(const CreatorId& creator, const ProgramId& program) {
    if (!holds_) {
        holds_.emplace();
        ledger_.scan(CreatorHold{request_.account}, {1, 1}, [this](const CreatorHold& hold) {
            holds_->emplace(hold.creator, hold.program);
        });
    }
    return holds_->contains({creator, ProgramId()}) || holds_->contains({creator, program});
}

/// Blocks stop increases only (H1). A write-off increases nothing: it makes up for what the same
/// payout deducts.
std::optional<SkipReason> PayoutPlan::block_of(const OpenAmount& row, const Decimal& take) {
    if (take <= Decimal() || (row.blocks & kOfWriteOff) != 0) {
        return std::nullopt;
    }
    if ((row.blocks & kBlockedByHold) != 0 || is_held(row.creator, row.program)) {
        return SkipReason::kHeld;
    }
    return (row.blocks & settings_.blocking) != 0 ? std::optional(SkipReason::kBlocked)
                                                  : std::nullopt;
}

// ---- Creators that get a payout -----------------------------------------------------------------

/// Reads the order only if something was posted from `until` on; else the row has the amount.
void PayoutPlan::add_shares() {
    std::vector<OpenAmount> slice;
    const auto add_slice = [&] {
        expect(slice);
        for (const OpenAmount& row : slice) {
            add_share(row, sum_of(payable_of_row(row), row.currency));
        }
        slice.clear();
    };
    cleared_->visit([&](const OpenAmount& row) {
        if (!wants(row.creator)) {
            return;
        }
        if (!has_later_postings(row)) {
            add_share(row, row.amount);
            return;
        }
        slice.push_back(row);
        if (slice.size() == kPayoutSlice) {
            add_slice();
        }
    });
    add_slice();
    for (const auto& [key, row] : later_) {
        add_share(row, row.amount);
    }
    add_write_offs();
}

/// Returns true for a write-off, whose share is known once all others are.
bool PayoutPlan::note_credit(const OpenAmount& credit, const Decimal& take) {
    MoneyCommand row{.command_id = credit.order_id.str()};
    if (!ledger_.load(row)) {
        return false;
    }
    if (!row.order_id.empty()) {
        credited_orders_.emplace(row.shop_id, row.order_id);
    }
    if (row.topic != Topic::kWriteOff || take.is_negative()) {
        return false;
    }
    open_write_offs_.emplace_back(credit, take);
    return true;
}

/// A write-off makes up for amounts below 0 of its creator, program and currency, and no more, so
/// that it is never paid. The rest is blocked. It counts in every close that deducts its debt, also
/// one until an instant before it was given, because a debt that was deducted once is gone, and the
/// write-off would have nothing left to stand against.
void PayoutPlan::add_write_offs() {
    std::ranges::sort(open_write_offs_, [](const auto& a, const auto& b) {
        return a.first.order_id < b.first.order_id;
    });
    for (const auto& [row, take] : open_write_offs_) {
        Decimal& below = below_zero_[{row.program, row.creator, row.currency}];
        const Decimal offset = std::min(take, -below);
        const Decimal used = offset.is_zero() ? zero_amount(row.currency) : offset;
        below += used;
        write_offs_.emplace(row.order_id.str(), used);
        add_to_share(row, used);
        if (take != used) {
            share_of(row).blocked += take - used;
        }
    }
}

void PayoutPlan::add_share(const OpenAmount& row, const Decimal& take) {
    if (take.is_zero() || (is_credit(row) && note_credit(row, take))) {
        return;
    }
    if (take.is_negative()) {
        below_zero_[{row.program, row.creator, row.currency}] += take;
    }
    add_to_share(row, take);
}

PayoutPlan::Share& PayoutPlan::share_of(const OpenAmount& row) {
    const Decimal zero = zero_amount(row.currency);
    return value_at(shares_, {row.creator, row.currency}, Share{zero, zero, zero, 0});
}

void PayoutPlan::add_to_share(const OpenAmount& row, const Decimal& take) {
    if (take.is_zero()) {
        return;
    }
    Share& share = share_of(row);
    const std::optional<SkipReason> block = block_of(row, take);
    if (!block) {
        share.amount += take;
        ++share.units;
    } else if (*block == SkipReason::kHeld) {
        share.held += take;
    } else {
        share.blocked += take;
    }
}

std::optional<SkipReason> PayoutPlan::skip_reason(const Key& key, const Decimal& amount) {
    if (amount > Decimal() && excluded_.contains(key.first)) {
        return SkipReason::kExcluded;
    }
    return sluice::skip_reason(settings_.policy, profiles_[key.first], key.second, amount,
                               request_.received_at, request_.close.ignore_minimum);
}

/// Reads a few profiles one by one, and many in one scan.
void PayoutPlan::read_profiles() {
    constexpr std::size_t kOneByOne = 32;
    for (const auto& [key, share] : shares_) {
        CreatorRow& row = profiles_.try_emplace(key.first).first->second;
        row.account = request_.account;
        row.creator = key.first;
    }
    if (profiles_.size() > kOneByOne) {
        ledger_.scan(CreatorRow{request_.account, {}, {}, {}, {}}, {1, 1},
                     [this](const CreatorRow& row) {
                         const auto wanted = profiles_.find(row.creator);
                         if (wanted != profiles_.end()) {
                             wanted->second = row;
                         }
                     });
        return;
    }
    for (auto& [creator, row] : profiles_) {
        if (!ledger_.load(row)) {
            row = CreatorRow{request_.account, creator, {}, {}, {}};
        }
    }
}

void PayoutPlan::decide() {
    read_profiles();
    for (const auto& [key, share] : shares_) {
        const auto skip = [&, creator = key.first, currency = key.second](SkipReason why,
                                                                          const Decimal& amount) {
            skipped_.push_back({request_.payout_run, creator, currency, why, amount});
        };
        if (!share.held.is_zero()) {
            skip(SkipReason::kHeld, share.held);
        }
        if (!share.blocked.is_zero()) {
            skip(SkipReason::kBlocked, share.blocked);
        }
        if (share.units == 0) {
            continue;
        }
        if (const std::optional<SkipReason> why = skip_reason(key, share.amount)) {
            skip(*why, share.amount);
        } else {
            paid_.emplace_back(key, share.amount);
        }
    }
    find_waiting();
}

void PayoutPlan::find_waiting() {
    const Policy& policy = settings_.policy;
    waits_.assign(paid_.size(), policy.approve_payees_file);
    if (paid_.empty() || !(policy.approve_payout_above || policy.approve_run_above)) {
        return;
    }
    const LimitSums counted(ledger_, request_.account, LimitKind::kPayout,
                            accounting_date(request_.received_at, settings_.row.closed_until),
                            ledger_);
    std::vector<LimitAmount> amounts;
    std::map<Currency, Decimal> totals;
    for (const auto& [key, amount] : paid_) {
        const auto& [creator, currency] = key;
        const std::string& payee = profiles_[creator].payee;
        amounts.push_back(
            {creator, payee.empty() ? Digest256{} : payee_digest(payee), {currency, amount}});
        totals.try_emplace(currency, counted.of_run(currency)).first->second += amount;
    }
    const std::vector<std::string> excesses =
        counted.excesses(policy.approve_payout_above, amounts);
    for (std::size_t i = 0; i < paid_.size(); ++i) {
        const Currency currency = paid_[i].first.second;
        waits_[i] = waits_[i] || !excesses[i].empty() ||
                    needs_approval(policy.approve_run_above, {currency, totals.at(currency)});
    }
}

}  // namespace sluice
