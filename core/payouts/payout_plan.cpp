#include "core/payouts/payout_plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/ledger/row_name.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/creator_names.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

/// Rows that are collected before their orders are read.
constexpr std::size_t kSliceRows = 4096;
constexpr unsigned kOpenKeyColumns = 8;

DamagedRow damaged(const OpenAmount& row) {
    return {row_name(row), "the order or credit does not say that this is open", order_of(row)};
}

bool is_credit(const OpenAmount& row) noexcept {
    return row.shop.value == 0;
}

bool is_same(const OpenAmount& a, const OpenAmount& b) noexcept {
    return a.sold_at == b.sold_at && a.shop == b.shop && a.order_id == b.order_id &&
           a.creator == b.creator && a.currency == b.currency;
}

Decimal sum_of(const LineAmounts& amounts, Currency currency) {
    Decimal sum = zero_amount(currency);
    for (const auto& [line, amount] : amounts) {
        sum = sum + amount;
    }
    return sum;
}

}  // namespace

PayoutPlan::PayoutPlan(const PlanRequest& request, const AccountSettings& settings,
                       LedgerReader& ledger)
    : request_(request), settings_(settings), ledger_(ledger) {
    for (const CreatorId& creator : request.close.creators) {
        creators_.insert(first_id(ledger, request.account, creator));
    }
    for (const CreatorId& creator : request.close.excluded) {
        excluded_.insert(first_id(ledger, request.account, creator));
    }
}

// ---- What there is to take
// --------------------------------------------------------------------------

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
            return Error{ErrorCode::kNotFound, request_.account_id.empty()
                                                   ? "there is no program " + id.str()
                                                   : "account " + request_.account_id.str() +
                                                         " has no program " + id.str()};
        }
        named.push_back(*program);
    }
    programs_ = std::move(named);
    return {};
}

bool PayoutPlan::wants(const CreatorId& creator) const {
    return creators_.empty() || creators_.contains(creator);
}

const Program* PayoutPlan::program_of(const ProgramId& id) const {
    const auto found = std::find_if(programs_.begin(), programs_.end(),
                                    [&id](const Program& program) { return program.id == id; });
    return found == programs_.end() ? nullptr : &*found;
}

Status PayoutPlan::add_up() {
    if (request_.close.until > request_.received_at) {
        return Error{ErrorCode::kInvalid,
                     "--until " + request_.close.until.to_string() + " lies in the future"};
    }
    if (Status known = check_programs(); !known) {
        return known;
    }
    visit_index([this](const OpenAmount& row) { add_share(row); });
    if (!request_.close.settles) {
        find_booked_later();
    }
    for (const OpenAmount& row : later_) {
        add_share(row);
    }
    decide();
    return {};
}

void PayoutPlan::visit_index(const UnitVisitor& visit) {
    for (const Program& program : programs_) {
        visit_rows(program, true, kEndOfTime, visit);
        visit_rows(program, false, program.held_since(request_.close.until), visit);
    }
}

void PayoutPlan::visit_rows(const Program& program, bool matured, Timestamp to,
                            const UnitVisitor& visit) {
    OpenAmount last;
    last.account = request_.account;
    last.program = program.id;
    last.matured = matured;
    bool resumed = false;
    for (;;) {
        std::vector<OpenAmount> rows;
        ledger_.scan(last, {3, resumed ? kOpenKeyColumns : 3U}, [&](const OpenAmount& row) {
            if (row.sold_at > to) {
                return false;
            }
            if (!resumed || !is_same(row, last)) {
                rows.push_back(row);
            }
            return rows.size() < kSliceRows;
        });
        for (const OpenAmount& row : rows) {
            if (wants(row.creator)) {
                visit(row);
            }
        }
        if (rows.size() < kSliceRows) {
            return;
        }
        last = rows.back();
        resumed = true;
    }
}

void PayoutPlan::find_booked_later() {
    std::set<std::tuple<ShopNumber, OrderId, ProgramId, CreatorId>> orders;
    std::set<std::string> commands;
    ledger_.scan_account_journal(
        request_.account, next_instant(request_.close.until), kEndOfTime,
        [&](const JournalGroup& group) {
            if (!wants(group.creator) || program_of(group.program) == nullptr ||
                group.entries.empty() || into(group.entries.front(), Book::kExpense).is_zero()) {
                return true;
            }
            const JournalReason reason = group.entries.front().reason;
            if (reason == JournalReason::kCredit || reason == JournalReason::kReversal) {
                commands.insert(group.command_id);
            }
            if (reason != JournalReason::kCredit && group.shop.value != 0) {
                orders.emplace(group.shop, group.order_id, group.program, group.creator);
            }
            return true;
        });
    for (const auto& [shop, order, program, creator] : orders) {
        add_later_order({request_.account, shop, order}, program, creator);
    }
    for (const std::string& command : commands) {
        add_later_credit(command);
    }
}

void PayoutPlan::add_later_order(const OrderKey& key, const ProgramId& program,
                                 const CreatorId& creator) {
    if (!load_sound_order(ledger_, key, state_)) {
        return;
    }
    const std::optional<std::uint32_t> index = find_position(state_, program, creator);
    if (!index) {
        return;
    }
    const Position& position = state_.positions[*index];
    const bool mature = has_standing(position) ||
                        state_.ordered_at <= program_of(program)->held_since(request_.close.until);
    if (!mature || position.last_booked <= request_.close.until) {
        return;
    }
    const std::vector<JournalGroup> journal = ledger_.order_journal(state_);
    for (const Currency currency : currencies_of(position)) {
        if (due_in(position, currency) != taken_in(position, currency)) {
            continue;  // the index has it
        }
        const LineAmounts then = due_as_of(journal, position, currency, request_.close.until);
        const Decimal take = sum_of(take_of(position, currency, &then), currency);
        if (!take.is_zero()) {
            later_.push_back({request_.account, program, has_standing(position), state_.ordered_at,
                              key.shop, key.order_id, creator, currency, take, position.last_booked,
                              0});
        }
    }
}

void PayoutPlan::add_later_credit(const std::string& command) {
    MoneyCommand row;
    row.command_id = command;
    if (!ledger_.load(row)) {
        return;
    }
    if (row.topic == Topic::kReverse) {
        const std::string of = row.reverses;
        row = MoneyCommand{};
        row.command_id = of;
        if (!ledger_.load(row)) {
            return;
        }
    }
    const bool known = !later_credits_.insert(row.command_id).second;  // with its reversal
    const Program* program = program_of(row.program);
    if (row.topic != Topic::kCredit || known || row.due != row.taken || program == nullptr ||
        !(row.standing_items != 0 || row.sale_at <= program->held_since(request_.close.until))) {
        return;
    }
    const OpenAmount open{row.account,
                          row.program,
                          row.standing_items != 0,
                          row.sale_at,
                          ShopNumber{},
                          OrderId(row.command_id),
                          row.creator,
                          row.currency,
                          {},
                          row.last_booked,
                          0};
    const Decimal take = sum_of(take_of_credit(open), row.currency);
    if (!take.is_zero()) {
        later_.push_back(open);
        later_.back().amount = take;
    }
}

// ---- Of one position or credit
// ------------------------------------------------------------------------

LineAmounts PayoutPlan::take_of_credit(const OpenAmount& row) {
    MoneyCommand credit;
    credit.command_id = row.order_id.str();
    if (!ledger_.load(credit)) {
        throw damaged(row);
    }
    Decimal due = credit.due;
    if (!request_.close.settles && credit.last_booked > request_.close.until) {
        // A credit is posted at once and reversed at most once: before its last entry it was not
        // there, or not reversed yet.
        Decimal then = zero_amount(credit.currency);
        ledger_.scan_creator_journal(
            row.account, row.creator, kFirstInstant, next_instant(request_.close.until),
            [&](const JournalGroup& group) {
                if (group.command_id == credit.command_id ||
                    (!credit.reversed_by.empty() && group.command_id == credit.reversed_by)) {
                    for (const JournalEntry& entry : group.entries) {
                        then = then + into(entry, Book::kOwed);
                    }
                }
                return true;
            });
        due = std::min(due, then);
    }
    const Decimal take = due - credit.taken;
    return take.is_zero() ? LineAmounts{} : LineAmounts{{LineItemId(credit.command_id), take}};
}

/// Leaves the order in state_.
LineAmounts PayoutPlan::take_of_row(const OpenAmount& row) {
    if (is_credit(row)) {
        return take_of_credit(row);
    }
    if (!load_sound_order(ledger_, {row.account, row.shop, row.order_id}, state_)) {
        throw damaged(row);
    }
    const std::optional<std::uint32_t> index = find_position(state_, row.program, row.creator);
    if (!index) {
        throw damaged(row);
    }
    const Position& position = state_.positions[*index];
    if (request_.close.settles || position.last_booked <= request_.close.until) {
        return take_of(position, row.currency, nullptr);
    }
    const LineAmounts then =
        due_as_of(ledger_.order_journal(state_), position, row.currency, request_.close.until);
    return take_of(position, row.currency, &then);
}

Decimal PayoutPlan::sum_of_row(const OpenAmount& row) {
    if (request_.close.settles || row.last_booked <= request_.close.until) {
        return row.amount;
    }
    return sum_of(take_of_row(row), row.currency);
}

std::vector<PayoutItem> PayoutPlan::items_of(const OpenAmount& row) {
    const LineAmounts amounts = take_of_row(row);
    std::vector<PayoutItem> items;
    if (is_credit(row)) {
        MoneyCommand credit;
        credit.command_id = row.order_id.str();
        static_cast<void>(ledger_.load(credit));
        for (const auto& [line, amount] : amounts) {
            items.push_back({{},
                             row.program,
                             credit.shop_id,
                             credit.order_id,
                             line,
                             ItemKind::kCredit,
                             amount,
                             credit.shop,
                             row.sold_at});
        }
        return items;
    }
    const Position& position = state_.positions[*find_position(state_, row.program, row.creator)];
    const ItemKind kind =
        has_commission(position, request_.run) ? ItemKind::kAdjustment : ItemKind::kCommission;
    for (const auto& [line, amount] : amounts) {
        items.push_back({{},
                         row.program,
                         shop_id_of(row.shop),
                         row.order_id,
                         line,
                         line.empty() ? ItemKind::kManual : kind,
                         amount,
                         row.shop,
                         row.sold_at});
    }
    return items;
}

/// Holds on creators are few: all of the account's are read at once.
bool PayoutPlan::is_held(const CreatorId& creator, const ProgramId& program) {
    if (!holds_) {
        holds_.emplace();
        ledger_.scan(CreatorHold{request_.account, {}, {}, {}, {}, {}}, {1, 1},
                     [this](const CreatorHold& hold) {
                         holds_->emplace(hold.creator, hold.program);
                         return true;
                     });
    }
    return holds_->contains({creator, ProgramId()}) || holds_->contains({creator, program});
}

/// Blocks stop increases only (H1).
std::optional<SkipReason> PayoutPlan::block_of(const OpenAmount& row, const Decimal& take) {
    if (request_.close.settles || take <= Decimal()) {
        return std::nullopt;
    }
    if ((row.blocks & kBlockedByHold) != 0 || is_held(row.creator, row.program)) {
        return SkipReason::kHeld;
    }
    return (row.blocks & settings_.blocking) != 0 ? std::optional(SkipReason::kBlocked)
                                                  : std::nullopt;
}

ShopId PayoutPlan::shop_id_of(ShopNumber shop) {
    const auto [known, added] = shop_ids_.try_emplace(shop);
    if (added) {
        const std::optional<ShopRow> row = ledger_.shop(shop);
        if (!row) {
            throw LedgerFailure({ErrorCode::kCorrupt,
                                 "ledger: there is no shop number " + std::to_string(shop.value)});
        }
        known->second = row->shop_id;
    }
    return known->second;
}

// ---- Who gets a payout
// ----------------------------------------------------------------------------------

void PayoutPlan::add_share(const OpenAmount& row) {
    const Decimal take = sum_of_row(row);
    if (take.is_zero()) {
        return;
    }
    const Decimal zero = zero_amount(row.currency);
    Share& share =
        shares_.try_emplace({row.creator, row.currency}, Share{zero, zero, zero, 0}).first->second;
    const std::optional<SkipReason> block = block_of(row, take);
    if (!block) {
        share.amount = share.amount + take;
        ++share.units;
    } else if (*block == SkipReason::kHeld) {
        share.held = share.held + take;
    } else {
        share.blocked = share.blocked + take;
    }
}

std::optional<SkipReason> PayoutPlan::why_not(const Key& key, const Decimal& amount) {
    if (amount <= Decimal()) {
        return SkipReason::kNotPositive;
    }
    if (request_.close.settles) {
        return std::nullopt;
    }
    if (excluded_.contains(key.first)) {
        return SkipReason::kExcluded;
    }
    if (settings_.policy.require_payee) {
        CreatorRow profile{request_.account, key.first, {}, {}, {}};
        if (!ledger_.load(profile) || profile.payee.empty()) {
            return SkipReason::kNoPayee;
        }
    }
    const Decimal* minimum = amount_in(settings_.policy.min_payout, key.second);
    if (!request_.close.ignore_minimum && minimum != nullptr && amount < *minimum) {
        return SkipReason::kBelowMinimum;
    }
    return std::nullopt;
}

void PayoutPlan::decide() {
    for (const auto& [key, share] : shares_) {
        const auto skip = [&, creator = key.first, currency = key.second](SkipReason why,
                                                                          const Decimal& amount) {
            skipped_.push_back({request_.run, creator, currency, why, amount});
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
        if (const std::optional<SkipReason> why = why_not(key, share.amount)) {
            skip(*why, share.amount);
        } else {
            paid_.emplace_back(key, share.amount);
        }
    }
}

}  // namespace sluice
