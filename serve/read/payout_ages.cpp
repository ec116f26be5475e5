// Payouts that a person has to look after, and how old the unfinished ones are.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/lists/places.hpp"
#include "core/lists/report.hpp"
#include "core/payouts/items.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/hour_sums.hpp"
#include "serve/read/lists.hpp"
#include "serve/read/masks.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;
using lists::List;
using lists::Value;

std::vector<Payout> payouts_in(Read& read, std::initializer_list<PayoutState> states) {
    std::vector<Payout> payouts;
    for (const PayoutState state : states) {
        lists::scan_payouts_in(read.ledger, read.grant.account, state,
                               [&](const Payout& payout) { payouts.push_back(payout); });
    }
    return payouts;
}

/// Returns the payouts of these creators from the first of each on, by creator. Reads the ids of a
/// few creators one by one, and those of many in one scan.
/// @param first  The id of the first payout that is wanted, by creator.
std::map<CreatorId, std::vector<Payout>> payouts_from(
    Read& read, const std::map<CreatorId, std::string>& first) {
    constexpr std::size_t kOneByOne = 16;
    std::vector<std::string> ids;
    const auto add = [&](const PayoutByCreator& row) {
        const auto wanted = first.find(row.creator);
        if (wanted != first.end() && wanted->second <= row.payout_id) {
            ids.push_back(row.payout_id);
        }
    };
    if (kOneByOne < first.size()) {
        read.ledger.scan(PayoutByCreator{read.grant.account, {}, {}}, {1, 1}, add);
    } else {
        for (const auto& [creator, id] : first) {
            read.ledger.scan(PayoutByCreator{read.grant.account, creator, id}, {2, 3}, add);
        }
    }
    std::map<CreatorId, std::vector<Payout>> payouts;
    lists::visit_payouts(read.ledger, ids,
                         [&](const Payout& payout) { payouts[payout.creator].push_back(payout); });
    return payouts;
}

/// Since when the payout has its state.
Timestamp state_since(const Payout& payout) {
    switch (payout.state) {
        case PayoutState::kApproved:
            return payout.approved_at.value_or(payout.closed_at);
        case PayoutState::kSent:
            return payout.sent_at.value_or(payout.closed_at);
        case PayoutState::kClosed:
            return payout.closed_at;
        default:
            return payout.ended_at.value_or(payout.closed_at);
    }
}

/// Unfinished payouts of one state and currency, and their amounts by age.
struct PayoutAges {
    static constexpr std::array<std::int64_t, 3> kDays{7, 14, 30};

    PayoutState state;
    Currency currency;
    std::uint64_t payouts = 0;
    Timestamp oldest{};
    std::array<Decimal, kDays.size() + 1> amounts{};  ///< The last one is older than all.

    PayoutAges(PayoutState of_state, Currency of_currency)
        : state(of_state), currency(of_currency) {
        amounts.fill(zero_amount(currency));
    }

    void add(const Payout& payout, Timestamp now) {
        const Timestamp at = state_since(payout);
        oldest = payouts == 0 ? at : std::min(oldest, at);
        ++payouts;
        const auto bucket = std::ranges::find_if(
            kDays, [&](std::int64_t days) { return now <= at.plus_days(days); });
        amounts[static_cast<std::size_t>(bucket - kDays.begin())] += payout.amount;
    }
};

/// Ids of the payouts that may have paid what another one did not.
using LaterIds = std::set<std::string>;

/// Returns the payouts of the creator in the currency that were closed after this one ended, but
/// void ones.
LaterIds later_than(const Payout& ended, const std::vector<Payout>& of_creator) {
    LaterIds later;
    for (const Payout& other : of_creator) {
        if (other.currency == ended.currency && other.state != PayoutState::kVoid &&
            ended.ended_at && *ended.ended_at <= other.closed_at) {
            later.insert(other.payout_id);
        }
    }
    return later;
}

/// The eight days of the oldest sale of which something is open above 0, by creator and currency.
/// Most payouts that ended long ago have no sale so late, so that their items are not read.
class OldestOpen {
public:
    /// @param until  Later sales are left out.
    OldestOpen(Read& read, Timestamp until) : last_(span_of(until)) {
        for (const ProgramRow& row : read.ledger.programs(read.grant.account)) {
            OpenHours first{.account = read.grant.account, .program = row.program.id};
            // Kind 0 has the amounts that wait for their clearing days, most of them of late sales.
            read.ledger.scan(first, {3, 3}, [this](const OpenHours& sum) {
                add(sum);
                return sum.span <= last_;
            });
            first.kind = 1;
            read.ledger.scan(first, {2, 3}, [this](const OpenHours& sum) { add(sum); });
        }
    }

    [[nodiscard]] bool is_before(const Payout& payout) const {
        const auto found = spans_.find({payout.creator, payout.currency});
        return found != spans_.end() && found->second <= span_of(payout.until);
    }

private:
    void add(const OpenHours& sum) {
        if ((sum.kind & kOpenBelow) == 0 && sum.span <= last_) {
            const auto [found, is_new] = spans_.try_emplace({sum.creator, sum.currency}, sum.span);
            found->second = std::min(found->second, sum.span);
        }
    }

    std::uint32_t last_;
    std::map<std::pair<CreatorId, Currency>, std::uint32_t> spans_;
};

OrderKey key_of(const Payout& payout, const PayoutItem& item) {
    return {payout.account, item.shop, item.order_id};
}

/// Returns whether the item's position has an open amount, and none of the later payouts took of
/// it.
/// @param order  Its buffers are used again.
bool is_left(Read& read, const Payout& payout, const PayoutItem& item, const LaterIds& later,
             OrderState& order) {
    const OrderKey key = key_of(payout, item);
    const auto position = read.ledger.load_order(key, order)
                              ? find_position(order, item.program, payout.creator)
                              : std::nullopt;
    if (!position) {
        throw DamagedRow(
            row_name("orders", key),
            "payout " + payout.payout_id + " has an item of a position that it does not have", key);
    }
    const Position& of = order.positions[*position];
    return is_open_above_zero(of, payout.currency) &&
           std::ranges::none_of(of.payouts, [&later](const PositionPayout& row) {
               return later.contains(row.payout_id);
           });
}

/// The same of an item of a credit.
bool is_credit_left(Read& read, const PayoutItem& item, const LaterIds& later) {
    MoneyCommand credit{.command_id = item.line.str()};
    if (!read.ledger.load(credit) || credit.accrued - credit.allocated <= Decimal()) {
        return false;
    }
    return std::ranges::none_of(later, [&](const std::string& id) {
        PayoutItem other = item;
        other.payout_id = id;
        return read.ledger.load(other);
    });
}

/// Returns the ids of the payouts of which a later payout did not take everything that is open.
/// @param later  By the payout's id.
std::set<std::string> left_of(Read& read, std::span<const Payout> payouts,
                              const std::map<std::string, LaterIds>& later) {
    std::set<std::string> left;
    OrderState order;
    ItemSlices slices(payouts, read.ledger);
    for (std::vector<std::pair<const Payout*, PayoutItem>> slice; slices.next(slice);) {
        std::vector<OrderKey> keys;
        for (const auto& [payout, item] : slice) {
            if (item.kind != ItemKind::kCredit) {
                keys.push_back(key_of(*payout, item));
            }
        }
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        read.ledger.expect_orders(keys);
        const PayoutItem* before = nullptr;
        for (const auto& [payout, item] : slice) {
            const bool is_credit = item.kind == ItemKind::kCredit;
            const bool is_judged =
                left.contains(payout->payout_id) ||
                (!is_credit && before != nullptr && is_of_one_order(*before, item));
            if (!is_judged &&
                (is_credit ? is_credit_left(read, item, later.at(item.payout_id))
                           : is_left(read, *payout, item, later.at(item.payout_id), order))) {
                left.insert(payout->payout_id);
            }
            before = is_credit ? before : &item;
        }
    }
    return left;
}

}  // namespace

std::vector<Payout> unpaid_payouts(Read& read) {
    std::vector<Payout> ended = payouts_in(read, {PayoutState::kFailed, PayoutState::kReturned});
    std::ranges::sort(ended, {}, &Payout::payout_id);
    std::map<CreatorId, std::string> first;
    for (const Payout& payout : ended) {
        first.try_emplace(payout.creator, payout.payout_id);
    }
    const auto of_creators = payouts_from(read, first);
    std::map<std::string, LaterIds> later;
    Timestamp until = kFirstInstant;
    for (const Payout& payout : ended) {
        LaterIds ids = later_than(payout, of_creators.at(payout.creator));
        if (!ids.empty()) {
            later.emplace(payout.payout_id, std::move(ids));
            until = std::max(until, payout.until);
        }
    }
    if (later.empty()) {
        return ended;
    }
    const OldestOpen open(read, until);
    std::vector<Payout> doubtful;
    std::ranges::copy_if(ended, std::back_inserter(doubtful), [&](const Payout& payout) {
        return later.contains(payout.payout_id) && open.is_before(payout);
    });
    const std::set<std::string> left = left_of(read, doubtful, later);
    std::erase_if(ended, [&](const Payout& payout) {
        return later.contains(payout.payout_id) && !left.contains(payout.payout_id);
    });
    return ended;
}

std::vector<Payout> payouts_sent_long_ago(Read& read) {
    const Timestamp before = read.now.plus_days(-kSentDays);
    std::vector<Payout> payouts = payouts_in(read, {PayoutState::kSent});
    std::erase_if(payouts,
                  [before](const Payout& payout) { return before <= state_since(payout); });
    return payouts;
}

namespace {

const List<PayoutAges>& payout_age_list() {
    using Of = const PayoutAges&;
    static const List<PayoutAges> list{
        {"state", kText, kLedger, [](Of of) -> Value { return to_string(of.state); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.currency.code(); }},
        {"payouts", kInteger, kLedger, [](Of of) -> Value { return of.payouts; }},
        {"amount", kAmount, kLedger,
         [](Of of) -> Value {
             return std::accumulate(of.amounts.begin(), of.amounts.end(), Decimal());
         }},
        {"oldest_at", kTime, kLedger, [](Of of) -> Value { return of.oldest; }},
        {"up_to_7_days", kAmount, kLedger, [](Of of) -> Value { return of.amounts[0]; }},
        {"up_to_14_days", kAmount, kLedger, [](Of of) -> Value { return of.amounts[1]; }},
        {"up_to_30_days", kAmount, kLedger, [](Of of) -> Value { return of.amounts[2]; }},
        {"over_30_days", kAmount, kLedger, [](Of of) -> Value { return of.amounts[3]; }}};
    return list;
}

/// By state and currency, with the payouts that wait for a person: those that are not paid after a
/// failure, and those that were sent long ago.
Page list_payout_ages(Read& read) {
    constexpr std::size_t kWaitingMax = 1000;
    std::map<std::pair<PayoutState, Currency>, PayoutAges> ages;
    std::vector<Payout> waiting = unpaid_payouts(read);
    std::vector<Payout> open =
        payouts_in(read, {PayoutState::kClosed, PayoutState::kApproved, PayoutState::kSent});
    for (const auto* payouts : {&waiting, &open}) {
        for (const Payout& payout : *payouts) {
            ages.try_emplace({payout.state, payout.currency}, payout.state, payout.currency)
                .first->second.add(payout, read.now);
        }
    }
    Page page;
    page.rows = mapped(ages, [](const auto& one) { return payout_age_list().row(one.second); });
    for (Payout& payout : payouts_sent_long_ago(read)) {
        waiting.push_back(std::move(payout));
    }
    std::ranges::sort(waiting, {}, state_since);
    const std::size_t count = waiting.size();
    waiting.resize(std::min(count, kWaitingMax));
    Json rows = lists::objects_of(lists::payout_list().columns(), payout_rows(read, waiting));
    Masks(true).mask_members(rows, lists::payout_list().columns());
    page.extras.emplace_back("waiting", std::move(rows));
    page.extras.emplace_back("waiting_count", Json(count));
    return page;
}

}  // namespace

Resource payout_age_resource() {
    return Resource(
        "payouts/ages", kReadLedger,
        "Unfinished payouts by state and age, and those that wait for a person: failed or "
        "returned and not paid since, or sent over seven days ago",
        {}, payout_age_list().columns(), list_payout_ages, kPlain,
        extra("waiting", kObjects) + integers("waiting_count"));
}

}  // namespace sluice::serve
