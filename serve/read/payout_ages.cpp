// Payouts that a person has to look after, and how old the unfinished ones are.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/list_rows.hpp"
#include "core/lists/places.hpp"
#include "core/lists/report.hpp"
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

}  // namespace

std::vector<Payout> unpaid_payouts(Read& read) {
    std::vector<Payout> ended = payouts_in(read, {PayoutState::kFailed, PayoutState::kReturned});
    std::ranges::sort(ended, {}, &Payout::payout_id);
    std::map<CreatorId, std::string> first;
    for (const Payout& payout : ended) {
        first.try_emplace(payout.creator, payout.payout_id);
    }
    const auto later = payouts_from(read, first);
    std::vector<Payout> unpaid;
    for (Payout& payout : ended) {
        const auto is_later = [&payout](const Payout& other) {
            return other.currency == payout.currency && other.state != PayoutState::kVoid &&
                   payout.ended_at && *payout.ended_at <= other.closed_at;
        };
        const bool is_replaced = std::ranges::any_of(later.at(payout.creator), is_later);
        if (!is_replaced) {
            unpaid.push_back(std::move(payout));
        }
    }
    return unpaid;
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
