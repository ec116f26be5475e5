// CreatorLedger: payments, and what a payout run left out.
#include <algorithm>
#include <set>

#include "core/creators/creator_ledger.hpp"
#include "core/creators/words.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/programs/policy.hpp"
#include "core/rules/account.hpp"
#include "core/values/payee_mask.hpp"

namespace sluice {
namespace {

constexpr std::size_t kDayOfPayoutId = 7;   // P260131
constexpr std::size_t kDayOfPaymentId = 8;  // 20260131

}  // namespace

const std::map<std::string, std::string>& CreatorLedger::payments_on(const std::string& beginning) {
    const auto [day, added] = days_.try_emplace(beginning);
    if (!added) {
        return day->second;
    }
    std::vector<std::string> payouts;
    const PayoutByCreator first{scope_.account(), scope_.creator(), beginning};
    ledger_.scan(first, {2, 3}, [&](const PayoutByCreator& row) {
        check(row.account, row.creator);
        const bool is_of_day = row.payout_id.starts_with(beginning);
        if (is_of_day) {
            payouts.push_back(row.payout_id);
        }
        return is_of_day;
    });
    std::map<std::string, std::size_t> numbers;  // by currency
    for (const std::string& id : payouts) {
        Payout payout{.payout_id = id};
        if (ledger_.load(payout)) {
            check(payout.account, payout.creator);
            const std::string currency(payout.currency.code());
            const std::size_t number = ++numbers[currency];
            day->second.emplace(id, "20" + beginning.substr(1) + "-" + currency +
                                        (number == 1 ? "" : "-" + std::to_string(number)));
        }
    }
    return day->second;
}

std::string CreatorLedger::payment_id(const std::string& payout_id) {
    const auto& day = payments_on(payout_id.substr(0, kDayOfPayoutId));
    const auto found = day.find(payout_id);
    if (found == day.end()) {
        throw ForeignRow();
    }
    return found->second;
}

std::optional<std::string> CreatorLedger::payout_of(const std::string& payment_id) {
    if (payment_id.size() <= kDayOfPaymentId || payment_id[kDayOfPaymentId] != '-') {
        return std::nullopt;
    }
    for (const auto& [payout, payment] :
         payments_on("P" + payment_id.substr(2, kDayOfPaymentId - 2))) {
        if (payment == payment_id) {
            return payout;
        }
    }
    return std::nullopt;
}

CreatorPayment CreatorLedger::payment_of(const Payout& payout) {
    const bool is_paid = payout.state == PayoutState::kPaid;
    return CreatorPayment{
        .id = payment_id(payout.payout_id),
        .amount = payout.amount,
        .currency = std::string(payout.currency.code()),
        .state = creator_payment_state(payout.state),
        .day = day_of_creator(payout.closed_at),
        .sent_on = day_of_creator(payout.sent_at),
        .paid_on = is_paid ? day_of_creator(payout.paid_at ? payout.paid_at : payout.ended_at)
                           : std::nullopt,
        .ended_on = is_paid ? std::nullopt : day_of_creator(payout.ended_at),
        .payee = payout.payee.empty() ? "" : masked_payee(payout.payee)};
}

/// Returns all of her payments that ever held items of the order.
std::vector<std::string> CreatorLedger::payments_of(const OrderState& order) {
    std::set<std::string> ids;
    for (const Position& position : order.positions) {
        if (position.attribution.creator == scope_.creator()) {
            for (const PositionPayout& payout : position.payouts) {
                ids.insert(payment_id(payout.payout_id));
            }
        }
    }
    return {ids.begin(), ids.end()};
}

std::optional<CreatorPayments> CreatorLedger::payments(const std::optional<std::string>& after) {
    const std::optional<std::string> last = after ? payout_of(*after) : std::string();
    if (!last) {
        return std::nullopt;
    }
    std::vector<std::string> ids;
    const PayoutByCreator place{scope_.account(), scope_.creator(), *last};
    paged(ledger_).scan_back(place, {2, after ? 3U : 2U}, [&](const PayoutByCreator& row) {
        check(row.account, row.creator);
        ids.push_back(row.payout_id);
        return ids.size() <= kCreatorPageRows;
    });
    CreatorPayments page;
    if (ids.size() > kCreatorPageRows) {
        ids.pop_back();
        page.next = payment_id(ids.back());
    }
    for (const std::string& id : ids) {
        Payout payout{.payout_id = id};
        if (ledger_.load(payout)) {
            check(payout.account, payout.creator);
            page.rows.push_back(payment_of(payout));
        }
    }
    return page;
}

std::optional<CreatorPayment> CreatorLedger::payment(const std::string& id) {
    const std::optional<std::string> payout_id = payout_of(id);
    Payout payout{.payout_id = payout_id.value_or("")};
    if (!payout_id || !ledger_.load(payout)) {
        return std::nullopt;
    }
    check(payout.account, payout.creator);
    return payment_of(payout);
}

std::optional<CreatorPaymentItems> CreatorLedger::items(const std::string& id,
                                                        const std::optional<ItemPlace>& after) {
    const std::optional<std::string> payout = payout_of(id);
    if (!payout) {
        return std::nullopt;
    }
    PayoutItem first{.payout_id = *payout};
    if (after) {
        first.program = after->program;
        first.shop_id = after->shop;
        first.order_id = after->order;
    }
    CreatorPaymentItems page;
    std::optional<ItemPlace> last;
    ledger_.scan(first, {1, after ? 4U : 1U}, [&](const PayoutItem& item) {
        const ItemPlace place{item.program, item.shop_id, item.order_id};
        if (after == place) {
            return true;
        }
        if (last == place) {
            page.rows.back().amount += item.amount;
            return true;
        }
        if (page.rows.size() == kCreatorPageRows) {
            page.next = last;
            return false;
        }
        const bool has_order = !item.order_id.view().empty();
        CreatorPaymentItem& shown = page.rows.emplace_back();
        if (has_order) {
            shown.number = number_of({scope_.account(), item.shop, item.order_id});
            shown.shop = item.shop_id.str();
            shown.order = item.order_id.str();
        }
        shown.amount = item.amount;
        last = place;
        return true;
    });
    return page;
}

std::vector<CreatorLeftOut> CreatorLedger::left_out() {
    std::vector<CreatorLeftOut> list;
    const Policy policy = account_settings(ledger_, scope_.account()).policy;
    for (const PayoutRun& run : lists::runs_before(ledger_, scope_.account(), "", 1)) {
        const Skipped first{.payout_run = run.payout_run, .creator = scope_.creator()};
        ledger_.scan(first, {2, 2}, [&](const Skipped& row) {
            check(run.account, row.creator);
            const std::string_view reason = creator_skip_reason(row.skip_reason);
            const auto same = std::ranges::find_if(list, [&](const CreatorLeftOut& left) {
                return left.reason == reason && left.currency == row.currency.code();
            });
            if (same != list.end()) {  // two rows would show that there are two kinds
                same->amount += row.amount;
                return true;
            }
            const Decimal* const minimum = amount_in(policy.min_payout, row.currency);
            list.push_back({day_of_creator(run.closed_at), std::string(row.currency.code()), reason,
                            row.amount,
                            minimum == nullptr ? std::nullopt : std::optional(*minimum)});
            return true;
        });
    }
    // The minimum is that of the next close. The one of the run may have been higher.
    for (CreatorLeftOut& left : list) {
        const bool is_reached = left.minimum && left.amount >= *left.minimum;
        if (is_reached && left.reason == creator_skip_reason(SkipReason::kBelowMinimum)) {
            left.minimum.reset();
        }
    }
    return list;
}

}  // namespace sluice
