// Today: yesterday's figures, and the work that waits.
#include <algorithm>
#include <array>
#include <map>

#include "core/ledger/paged_reads.hpp"
#include "core/lists/approvals.hpp"
#include "core/lists/names.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/places.hpp"
#include "core/lists/silence.hpp"
#include "core/rules/account.hpp"
#include "core/statements/next_close.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;

constexpr std::size_t kDays = 30;  ///< Bars of a chart.
constexpr std::size_t kListed = 10;
constexpr std::size_t kOrdersAtOnce = 100;
/// Orders that are read in search of those without a creator.
constexpr std::size_t kOrdersReadMax = 2000;
constexpr std::int64_t kWeeks = 4;
constexpr std::int64_t kDaysOfWeek = 7;

std::string day_text(Timestamp first, std::size_t days_later = 0) {
    constexpr std::size_t kDateBytes = 10;
    return first.plus_days(static_cast<std::int64_t>(days_later)).to_string().substr(0, kDateBytes);
}

/// Days of the view, by `now`.
struct Calendar {
    explicit Calendar(Timestamp now)
        : today(start_of_day(now)),
          yesterday(today.plus_days(-1)),
          first_bar(today.plus_days(-static_cast<std::int64_t>(kDays))) {}

    Timestamp today, yesterday, first_bar;
};

/// Sums of one currency.
struct Figures {
    explicit Figures(Currency currency)
        : owed(zero_amount(currency)),
          payable(owed),
          pending(owed),
          blocked(owed),
          in_payout(owed),
          taken(owed),
          earned(kDays, owed),
          adjusted(kDays, owed),
          clearing(kDays, owed) {}

    /// An amount and its creators.
    struct Left {
        Decimal amount;
        std::uint64_t creators = 0;
    };

    void leave(SkipReason reason, const Decimal& amount) {
        Left& one = left[reason];
        one.amount += amount;
        ++one.creators;
    }

    Decimal owed, payable, pending, blocked, in_payout;
    Decimal taken;  ///< By the next close.
    std::uint64_t creators_taken = 0;
    std::map<SkipReason, Left> left;                              ///< Left by the next close.
    std::vector<Decimal> earned, adjusted;                        ///< By day of accounting.
    std::vector<Decimal> clearing;                                ///< By day, from today on.
    std::map<CreatorId, std::pair<Decimal, Decimal>> by_creator;  ///< Earned this month and last.
};

/// Compares what is owed in minor units, because a yen is nearer to a cent than to a euro.
bool is_more(const Figures& a, const Figures& b) {
    return b.owed.unscaled() < a.owed.unscaled();
}

/// Count and sums of a kind of work that waits.
struct Waiting {
    std::uint64_t count = 0;
    std::map<Currency, Decimal> amounts;
    std::vector<std::string> sentences;  ///< About the first rows, if their kind has some.

    void add(const std::optional<Currency>& currency, const Decimal& amount,
             std::uint64_t more = 1) {
        count += more;
        if (currency) {
            amounts.try_emplace(*currency, zero_amount(*currency)).first->second += amount;
        }
    }
};

class Today {
public:
    explicit Today(Read& read)
        : read_(read),
          days_(read.now),
          settings_(account_settings(read.ledger, read.grant.account)) {}

    Json object() {
        read_orders();
        read_clicks();
        read_anomalies();
        read_others();
        if (!read_.sees_ledger()) {
            return shown(std::nullopt);
        }
        read_balances();
        read_bars();
        read_creators();
        read_approvals();
        return shown(chosen());
    }

private:
    Figures& of(Currency currency) {
        return figures_.try_emplace(currency, currency).first->second;
    }

    /// Counts yesterday's orders, and finds the newest without a creator.
    void read_orders() {
        const lists::OrdersOfDay day =
            lists::orders_of_day(read_.ledger, read_.grant.account, day_of(days_.yesterday));
        orders_ = day.orders;
        attributed_ = day.attributed;
        lists::OrderListing listing{
            .account = read_.grant.account, .from = days_.yesterday, .to = days_.today};
        const std::size_t wanted = std::min<std::uint64_t>(kListed, orders_ - attributed_);
        for (std::size_t seen = 0; unattributed_.items().size() < wanted && seen < kOrdersReadMax;
             seen += kOrdersAtOnce) {
            const auto places = lists::order_places(read_.ledger, listing, kOrdersAtOnce);
            if (places.empty()) {
                return;
            }
            lists::visit_places(read_.ledger, listing.account, places,
                                [&](const OrderState& order) {
                                    add(order);
                                    return unattributed_.items().size() < wanted;
                                });
            listing.after = places.back();
        }
    }

    void add(const OrderState& order) {
        if (!order.live) {
            unattributed_.push_back({{"order_id", order.key.order_id.str()},
                                     {"shop_id", read_.ledger.shop_id(order.key.shop).str()},
                                     {"ordered_at", order.ordered_at.to_string()},
                                     {"codes", order.codes}});
        }
    }

    /// A shop whose orders carry no device id shows only while visitors come by links.
    void read_clicks() {
        const std::uint32_t yesterday = day_of(days_.yesterday);
        const ClickFigures figures =
            lists::clicks_of_day(read_.ledger, read_.grant.account, yesterday);
        clicks_ = lists::whole_number(figures.clicks);
        devices_ = lists::whole_number(figures.devices);
        for (const lists::ShopWithoutDevices& one :
             lists::shops_without_devices(read_.ledger, read_.grant.account, yesterday)) {
            Waiting& line = waiting_["shops_without_devices"];
            line.add({}, {});
            if (line.sentences.size() < kListed) {
                line.sentences.push_back(
                    read_.ledger.shop_id(one.shop).str() +
                    ": no order of yesterday carries a device id, and " +
                    std::to_string(one.devices) +
                    (one.devices == 1 ? " device clicked" : " devices clicked"));
            }
        }
    }

    void read_anomalies() {
        for (const auto& [kind, count] :
             lists::attention_counts(read_.ledger, read_.grant.account)) {
            if (kind != AttentionKind::kHold &&
                (settings_.blocking & bit(static_cast<AnomalyKind>(kind))) == 0) {
                waiting_["anomalies"].count += count;
            }
        }
    }

    void read_others() {
        read_.ledger.scan(
            CreatorHold{read_.grant.account}, {1, 1},
            [&](const CreatorHold& /*row*/) { waiting_["creator_holds"].add({}, {}); });
        for (const auto& [shop, letters] :
             paged(read_.ledger).dead_by_shop(read_.grant.account, kFirstInstant, kEndOfTime)) {
            waiting_["dead_letters"].add({}, {}, letters.others);
            waiting_["privacy_requests"].add({}, {}, letters.privacy_requests);
        }
        const auto silences = lists::silences_of(read_.ledger, read_.grant.account);
        for (const store::RegisteredShop& shop : registered_shops(read_)) {
            const auto silence = silences.find(shop.number);
            if (!shop.suspended && silence != silences.end() &&
                shop_silence(silence->second.last_event, silence->second.usual, read_.now) ==
                    ShopSilence::kSilent) {
                waiting_["silent_shops"].add({}, {});
            }
        }
        for (const NodeState& node : node_states(read_)) {
            if (node.pace == lists::NodePace::kBehind) {
                waiting_["nodes_behind"].add({}, {});
            }
        }
    }

    void read_balances() {
        OpenTotals totals;
        NextClose close(read_.ledger, read_.grant.account, settings_.policy);
        std::map<std::pair<Currency, CreatorId>, Decimal> blocked_of;
        balances_at(
            read_.ledger, read_.grant.account, read_.now,
            [&](const BalanceAt& balance) {
                Figures& sums = of(balance.key.currency);
                sums.owed += balance.owed;
                sums.payable += balance.payable;
                sums.pending += balance.pending;
                sums.blocked += balance.blocked;
                sums.in_payout += balance.in_payout;
                close.add(balance);
                if (!balance.blocked.is_zero()) {
                    blocked_of[{balance.key.currency, balance.key.creator}] += balance.blocked;
                }
            },
            &totals);
        for (const CreatorClose& one : close.decide(read_.now)) {
            add(one);
        }
        for (const auto& [key, amount] : blocked_of) {
            of(key.first).leave(SkipReason::kBlocked, amount);
        }
        for (const auto& [currency, blocked] : totals.blocked) {
            waiting_["blocked_orders"].add(currency, blocked.amount,
                                           static_cast<std::uint64_t>(blocked.amounts));
        }
        for (const auto& [key, amount] : clearing_days(read_.ledger, read_.grant.account, totals)) {
            const std::int64_t day = (key.second.seconds - days_.today.seconds) / kSecondsPerDay;
            if (days_.today <= key.second && day < static_cast<std::int64_t>(kDays)) {
                of(key.first).clearing[static_cast<std::size_t>(day)] += amount;
            }
        }
    }

    void add(const CreatorClose& close) {
        Figures& sums = of(close.currency);
        if (close.left) {
            sums.leave(*close.left, close.amount);
            return;
        }
        sums.taken += close.amount;
        ++sums.creators_taken;
    }

    void read_bars() {
        std::map<std::uint32_t, std::size_t> bar_of;
        for (std::size_t bar = 0; bar < kDays; ++bar) {
            bar_of[day_of(days_.first_bar.plus_days(static_cast<std::int64_t>(bar)))] = bar;
        }
        lists::scan_days(read_.ledger, read_.grant.account, day_of(days_.first_bar),
                         day_of(days_.yesterday), [&](const DailySum& sum) {
                             const std::size_t bar = bar_of.at(sum.day);
                             of(sum.currency).earned[bar] += sum.earned;
                             of(sum.currency).adjusted[bar] += sum.adjusted;
                         });
    }

    void read_creators() {
        for (const auto& [key, amounts] :
             lists::earned_by_month(read_.ledger, read_.grant.account, month_of(read_.now))) {
            for (const auto& [currency, months] : amounts) {
                const Decimal zero = zero_amount(currency);
                auto& earned = of(currency)
                                   .by_creator.try_emplace(key.second, std::pair(zero, zero))
                                   .first->second;
                earned.first += months.this_month;
                earned.second += months.last_month;
            }
        }
    }

    void read_approvals() {
        auto pending = lists::pending_totals(read_.ledger, read_.grant.account);
        if (pending.count != 0) {
            waiting_["approvals"] = {pending.count, std::move(pending.amounts), {}};
        }
        for (const Payout& payout : unpaid_payouts(read_)) {
            waiting_["payouts_failed"].add(payout.currency, payout.amount);
        }
        for (const Payout& payout : payouts_sent_long_ago(read_)) {
            waiting_["payouts_sent"].add(payout.currency, payout.amount);
        }
    }

    /// Returns the currency of the parameter, else the one with the most owed.
    [[nodiscard]] std::optional<Currency> chosen() const {
        if (const auto given = Currency::parse(read_.arguments.text("currency").value_or(""))) {
            return given;
        }
        const auto most = std::ranges::max_element(
            figures_, [](const auto& a, const auto& b) { return is_more(b.second, a.second); });
        return most == figures_.end() ? std::nullopt : std::optional(most->first);
    }

    [[nodiscard]] Json waiting_json() const {
        constexpr std::array<std::string_view, 11> kOrder{
            "approvals",     "payouts_failed",   "payouts_sent", "blocked_orders",
            "creator_holds", "anomalies",        "silent_shops", "shops_without_devices",
            "dead_letters",  "privacy_requests", "nodes_behind"};
        Json list = Json::array();
        for (const std::string_view kind : kOrder) {
            const auto found = waiting_.find(kind);
            if (found == waiting_.end() || found->second.count == 0) {
                continue;
            }
            Json amounts = Json::array();
            for (const auto& [currency, amount] : found->second.amounts) {
                if (!amount.is_zero()) {
                    amounts.push_back(
                        {{"currency", currency.code()}, {"amount", amount.to_string()}});
                }
            }
            list.push_back({{"kind", kind},
                            {"count", found->second.count},
                            {"amounts", std::move(amounts)},
                            {"sentences", found->second.sentences}});
        }
        return list;
    }

    [[nodiscard]] Json currencies_json() const {
        auto sorted =
            mapped(figures_, [](const auto& one) { return std::pair(one.first, &one.second); });
        std::ranges::stable_sort(
            sorted, [](const auto& a, const auto& b) { return is_more(*a.second, *b.second); });
        return Json::list(sorted, [](const auto& one) -> Json {
            return {{"currency", one.first.code()}, {"owed", one.second->owed.to_string()}};
        });
    }

    /// Returns the creators who earned most this month.
    [[nodiscard]] Json creators_json(const Figures& sums) const {
        using Earner = std::pair<CreatorId, std::pair<Decimal, Decimal>>;
        std::vector<Earner> earners(sums.by_creator.begin(), sums.by_creator.end());
        std::ranges::stable_sort(earners, [](const Earner& a, const Earner& b) {
            return b.second.first < a.second.first;
        });
        earners.resize(std::min(earners.size(), kListed));
        Json list = Json::array();
        for (const auto& [creator, earned] : earners) {
            list.push_back(
                {{"creator_id", shown_id(read_.ledger, read_.grant.account, creator).str()},
                 {"name",
                  text_or_null(lists::profile_of(read_.ledger, read_.grant.account, creator).name)},
                 {"earned", earned.first.to_string()},
                 {"earned_last_month", earned.second.to_string()}});
        }
        return list;
    }

    /// Returns the mean of yesterday's weekday over the four weeks before.
    [[nodiscard]] static Json usual(const Figures& sums, Currency currency) {
        Decimal total = zero_amount(currency);
        for (std::int64_t week = 1; week <= kWeeks; ++week) {
            total += sums.earned[kDays - 1 - static_cast<std::size_t>(kDaysOfWeek * week)];
        }
        const Int128 half = total.is_negative() ? -kWeeks / 2 : kWeeks / 2;
        return Json(Decimal((total.unscaled() + half) / kWeeks, total.scale()).to_string());
    }

    [[nodiscard]] Json shown(const std::optional<Currency>& currency) {
        const Figures* const sums = currency ? &of(*currency) : nullptr;
        const auto money = [&](Decimal Figures::*member) {
            return sums == nullptr ? Json() : Json((sums->*member).to_string());
        };
        Json yesterday{{"orders", orders_},
                       {"attributed", attributed_},
                       {"clicks", clicks_},
                       {"devices", devices_},
                       {"earned", sums == nullptr ? Json() : Json(sums->earned.back().to_string())},
                       {"usual", sums == nullptr ? Json() : usual(*sums, *currency)}};
        return {{"account_id", read_.grant.account_id.str()},
                {"day", day_text(days_.yesterday)},
                {"currency", currency ? Json(currency->code()) : Json()},
                {"currencies", read_.sees_ledger() ? currencies_json() : Json()},
                {"yesterday", std::move(yesterday)},
                {"payable", money(&Figures::payable)},
                {"pending", money(&Figures::pending)},
                {"blocked", money(&Figures::blocked)},
                {"in_payout", money(&Figures::in_payout)},
                {"next_close", sums == nullptr ? Json() : next_close_json(*sums)},
                {"waiting", waiting_json()},
                {"days", sums == nullptr ? Json() : days_json(*sums)},
                {"clearing", sums == nullptr ? Json() : clearing_json(*sums)},
                {"creators", sums == nullptr ? Json() : creators_json(*sums)},
                {"unattributed", std::move(unattributed_)}};
    }

    [[nodiscard]] Json next_close_json(const Figures& sums) const {
        Json left = Json::array();
        for (const auto& [reason, one] : sums.left) {
            left.push_back({{"reason", to_string(reason)},
                            {"amount", one.amount.to_string()},
                            {"creators", one.creators}});
        }
        return {{"payout_day", payout_day_from(settings_.policy, days_.today)},
                {"amount", sums.taken.to_string()},
                {"creators", sums.creators_taken},
                {"left", std::move(left)}};
    }

    template <class Each>
    [[nodiscard]] static Json list_of_days(Each&& each) {
        Json days = Json::array();
        for (std::size_t day = 0; day < kDays; ++day) {
            days.push_back(each(day));
        }
        return days;
    }

    [[nodiscard]] Json days_json(const Figures& sums) const {
        return list_of_days([&](std::size_t day) -> Json {
            return {{"day", day_text(days_.first_bar, day)},
                    {"earned", sums.earned[day].to_string()},
                    {"adjusted", sums.adjusted[day].to_string()}};
        });
    }

    [[nodiscard]] Json clearing_json(const Figures& sums) const {
        return list_of_days([&](std::size_t day) -> Json {
            return {{"day", day_text(days_.today, day)},
                    {"amount", sums.clearing[day].to_string()}};
        });
    }

    Read& read_;
    const Calendar days_;
    const AccountSettings settings_;
    std::uint64_t orders_ = 0, attributed_ = 0, clicks_ = 0, devices_ = 0;  ///< Yesterday's.
    Json unattributed_ = Json::array();  ///< The newest of yesterday first.
    std::map<Currency, Figures> figures_;
    std::map<std::string_view, Waiting> waiting_;
};

Columns today_members() {
    return texts("account_id day") +
           Columns{{"currency", kText, kLedger}, {"currencies", kObjects, kLedger}} +
           extra("yesterday", kObject,
                 integers("orders attributed clicks devices") +
                     columns_of(kAmount, kLedger, "earned usual")) +
           columns_of(kAmount, kLedger, "payable pending blocked in_payout") +
           columns_of(kObject, kLedger, "next_close") +
           extra("waiting", kObjects,
                 texts("kind") + integers("count") + extra("amounts", kObjects) +
                     extra("sentences", kTexts)) +
           columns_of(kObjects, kLedger, "days clearing creators") +
           extra("unattributed", kObjects,
                 texts("order_id shop_id") + times("ordered_at") + extra("codes", kTexts));
}

}  // namespace

std::vector<Resource> today_resources() {
    return {Resource(
        "today", kReadOrders, "Yesterday's figures, and the work that waits",
        {{"currency", ValueKind::kCurrency,
          "Currency (default: the one with the most owed, in minor units)"}},
        today_members(), [](Read& read) { return Today(read).object(); }, kUnpaged)};
}

}  // namespace sluice::serve
