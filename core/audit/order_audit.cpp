#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/audit/parts.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/volume.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/pricing.hpp"
#include "core/rules/soundness.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

/// Sums of one position, by line and currency.
using LineSums = std::map<std::pair<LineItemId, Currency>, Decimal>;
/// The owner of an order's postings.
using Holder = std::pair<ProgramId, CreatorId>;
using VolumeKey = std::tuple<AccountNumber, ProgramId, CreatorId, std::uint32_t, Currency>;

std::string text_of(const LineSums& sums) {
    std::string text;
    for (const auto& [key, sum] : sums) {
        if (!sum.is_zero()) {
            text += text.empty() ? "" : ", ";
            text += key.first.empty() ? "by hand" : "line " + key.first.str();
            text += " " + sum.to_string() + " " + std::string(key.second.code());
        }
    }
    return text.empty() ? "nothing" : text;
}

std::string text_of(const Holder& holder) {
    return holder.second.str() + " in " + holder.first.str();
}

std::string text_of(const std::optional<OpenAmount>& open) {
    return open ? open->amount.to_string() + " posted until " + open->last_posted.to_string() +
                      ", blocks " + std::to_string(open->blocks)
                : "nothing";
}

/// Returns what the lines earn by the rules. A position that is not live earns nothing.
LineSums earned(const OrderState& state, const Position& position) {
    LineSums sums;
    if (&position == state.position() && state.earns()) {
        const std::vector<Decimal> earns =
            line_commissions(state, position, EffectiveRefunds(state.refunds));
        for (std::size_t i = 0; i < state.lines.size(); ++i) {
            if (state.lines[i].present) {
                add_to(sums, {state.lines[i].id, state.currency}, {state.currency, earns[i]});
            }
        }
    }
    return sums;
}

LineSums accrued_of(const Position& position, bool by_hand) {
    LineSums sums;
    for (const LineAccrual& accrual : position.accruals) {
        if (by_hand || !accrual.line.empty()) {
            add_to(sums, {accrual.line, accrual.currency}, {accrual.currency, accrual.accrued});
        }
    }
    return sums;
}

constexpr Decimal kOne{1, 0};

/// Orders of one day.
struct Day {
    Decimal orders, attributed;
};

class OrderAudit {
public:
    OrderAudit(LedgerReader& ledger, const JournalFacts& facts, const ItemFacts& items,
               Findings& findings)
        : ledger_(ledger), facts_(facts), items_(items), findings_(findings) {}

    void run() {
        visit_orders();
        visit_credits();
        if (!findings_.wanted()) {
            return;
        }
        findings_.compare('d', "table payout_items", "its number of active and ended items",
                          items_.count, "orders and credits", items_count_);
        findings_.compare('d', "table journal", "its number of groups that name an order",
                          facts_.order_groups, "the orders", order_groups_);
        check_open_count();
        check_days();
        check_volumes();
    }

private:
    void visit_orders() {
        std::vector<ShopRow> shops;
        ledger_.scan_shops([&shops](const ShopRow& shop) { shops.push_back(shop); });
        for (const ShopRow& shop : shops) {
            findings_.guard('d', [&] {
                ledger_.scan_orders(shop.account, shop.shop, [&](const OrderState& state) {
                    findings_.guard('d', [&] { check_order(state, shop.shop_id); });
                    return findings_.wanted();
                });
            });
        }
    }

    void check_order(const OrderState& state, const ShopId& shop_id) {
        const std::string name = row_name("orders", state.key);
        Day& day = days_[{state.key.account, day_of(state.ordered_at)}];
        day.orders += kOne;
        day.attributed += state.live ? kOne : Decimal();
        if (const std::optional<std::string> damage = damage_of(state)) {
            findings_.add('d', name, *damage);
            return;
        }
        const std::map<Holder, LineSums> posted = posted_of(state);
        std::set<Holder> holders;
        for (const Position& position : state.positions) {
            const Holder holder{position.attribution.program, position.attribution.creator};
            holders.insert(holder);
            check_position(state, position, name + ", " + text_of(holder),
                           value_or(posted, holder));
            check_allocated(state, position, shop_id, name + ", " + text_of(holder));
        }
        for (const auto& [holder, sums] : posted) {
            if (!holders.contains(holder) && text_of(sums) != "nothing") {
                findings_.add('d', name,
                              "its journal gives " + text_of(sums) + " to " + text_of(holder) +
                                  ", who has no position");
            }
        }
        check_indexes(state, name);
        count_volume(state);
    }

    std::map<Holder, LineSums> posted_of(const OrderState& state) {
        std::map<Holder, LineSums> posted;
        std::set<std::uint64_t> changes;
        for (const JournalGroup& group : ledger_.order_journal(state)) {
            ++order_groups_;
            changes.insert(group.order_change);
            for (const JournalEntry& entry : group.entries) {
                if (!is_memo(entry.reason)) {
                    add_to(posted[{group.program, group.creator}], {entry.line, entry.currency},
                           {entry.currency, change_in(entry, LedgerAccount::kOwed)});
                }
            }
        }
        check_changes(state, changes);
        return posted;
    }

    /// The groups of an order are numbered 1, 2, 3 ... without gaps, whichever node wrote them.
    void check_changes(const OrderState& state, const std::set<std::uint64_t>& changes) {
        const bool dense = changes.size() == state.changes_count &&
                           (changes.empty() ||
                            (*changes.begin() == 1 && *changes.rbegin() == state.changes_count));
        if (!dense) {
            findings_.add('d', row_name("orders", state.key),
                          "its journal does not have the changes 1 to " +
                              std::to_string(state.changes_count));
        }
    }

    void check_position(const OrderState& state, const Position& position, const std::string& name,
                        const LineSums& posted) {
        findings_.compare('d', name, "accrued", text_of(accrued_of(position, true)), "its postings",
                          text_of(posted));
        findings_.compare('d', name, "accrued of its lines", text_of(accrued_of(position, false)),
                          "the rules", text_of(earned(state, position)));
    }

    void check_allocated(const OrderState& state, const Position& position, const ShopId& shop_id,
                         const std::string& name) {
        LineSums allocated;
        for (const LineAccrual& accrual : position.accruals) {
            add_to(allocated, {accrual.line, accrual.currency},
                   {accrual.currency, accrual.allocated});
        }
        LineSums active;
        for (const PositionPayout& row : position.payouts) {
            Payout payout{.payout_id = row.payout_id};
            const bool is_active_payout = ledger_.load(payout) && is_active(payout.state);
            if (is_active_payout != row.active) {
                findings_.add('d', name,
                              "payout " + row.payout_id +
                                  (is_active_payout ? " is active" : " is not active") +
                                  ", the order says otherwise");
            }
            add_items(state, position, shop_id, row, is_active_payout ? &active : nullptr);
        }
        findings_.compare('d', name, "allocated", text_of(allocated), "its active items",
                          text_of(active));
    }

    void add_items(const OrderState& state, const Position& position, const ShopId& shop_id,
                   const PositionPayout& row, LineSums* active) {
        constexpr unsigned kOfOrder = 4;
        const PayoutItem first{.payout_id = row.payout_id,
                               .program = position.attribution.program,
                               .shop_id = shop_id,
                               .order_id = state.key.order_id};
        ledger_.scan(first, {kOfOrder, kOfOrder}, [&](const PayoutItem& item) {
            if (item.kind != ItemKind::kCredit) {
                ++items_count_;
                if (active != nullptr) {
                    add_to(*active, {item.line, row.currency}, {row.currency, item.amount});
                }
            }
        });
    }

    void check_indexes(const OrderState& state, const std::string& name) {
        for (const OpenAmount& open : open_amounts(state)) {
            check_open(open);
        }
        for (const WaitKey& key : wait_keys(state)) {
            WaitingOrder stored{key, state.ordered_at, state.key.shop, state.key.order_id};
            if (!ledger_.load(stored)) {
                findings_.add('e', name,
                              "it waits for a creator, but the index that imports read lacks it");
            }
        }
    }

    void check_open(const OpenAmount& open) {
        ++open_count_;
        OpenAmount stored = open;
        const auto found = ledger_.load(stored) ? std::optional(stored) : std::nullopt;
        findings_.compare('e', row_name(open), "it", text_of(found), "order or credit",
                          text_of(std::optional(open)));
    }

    void visit_credits() {
        for (const MoneyCommand& credit :
             ledger_.rows(MoneyCommand{}, {}, std::mem_fn(&MoneyCommand::is_credit))) {
            if (findings_.wanted()) {
                check_credit(credit);
            }
        }
    }

    void check_credit(const MoneyCommand& credit) {
        const std::string name = row_name(credit);
        const CreditEntries entries = value_or(facts_.credits, credit.command_id);
        findings_.compare('d', name, "its amount", credit.amount, "its postings", entries.posted);
        findings_.compare('d', name, "accrued", credit.accrued, "its postings", entries.accrued);
        for (const OpenAmount& open : open_amounts(credit)) {
            check_open(open);
        }
        const CreditItems found = value_or(
            items_.credits,
            {credit.program, credit.shop_id, credit.order_id, LineItemId(credit.command_id)});
        items_count_ += found.count;
        findings_.compare('d', name, "allocated", credit.allocated, "its active items",
                          found.allocated);
        if (found.largest > std::max(entries.posted, -entries.posted)) {
            findings_.add('d', name,
                          "a payout took " + found.largest.to_string() + " of it, more than the " +
                              entries.posted.to_string() + " that it ever accrued");
        }
    }

    /// Every expected row was loaded before, so a higher count means an unexpected row.
    void check_open_count() {
        std::uint64_t stored = 0;
        ledger_.scan(OpenAmount{}, {}, [&stored](const OpenAmount& /*row*/) { ++stored; });
        findings_.compare('e', "table open", "its number of rows", stored, "orders and credits",
                          open_count_);
    }

    // ---- Tier volumes ---------------------------------------------------------------------------

    struct Tiers {
        bool has_some = false, by_month = false;
    };
    Tiers tiers_of(const ProgramId& program) {
        const auto [found, added] = tiers_.try_emplace(program);
        if (added) {
            if (const std::optional<ProgramRow> row = ledger_.program(program)) {
                found->second = {row->program.has_tiers(), row->program.rates_by_month()};
            }
        }
        return found->second;
    }

    void count_volume(const OrderState& state) {
        const Position* position = state.position();
        const Tiers tiers = position == nullptr ? Tiers() : tiers_of(position->attribution.program);
        if (!tiers.has_some) {
            return;
        }
        const Attribution& attribution = position->attribution;
        const std::uint32_t month = month_of(state.ordered_at);
        volumes_[{state.key.account, attribution.program, attribution.creator, month,
                  state.currency}] += net_sales(state);
        if (tiers.by_month) {
            TierOrder row{state.key.account, attribution.program, attribution.creator, month,
                          state.ordered_at,  state.key.shop,      state.key.order_id};
            if (!ledger_.load(row)) {
                findings_.add('g', row_name(row), "it is missing");
            }
            ++tier_orders_count_;
        }
    }

    void check_days() {
        Decimal orders;
        ledger_.scan(OrderDay{}, {}, [&](const OrderDay& part) {
            Day& left = days_[{part.account, part.day}];
            left.orders -= part.orders;
            left.attributed -= part.attributed;
            orders += part.orders;
        });
        for (const auto& [key, left] : days_) {
            if (!left.orders.is_zero() || !left.attributed.is_zero()) {
                findings_.add('d',
                              "table order_days, account " + std::to_string(key.first.value) +
                                  ", " + std::to_string(key.second),
                              "the orders sold that day exceed it by " + left.orders.to_string() +
                                  ", of which attributed " + left.attributed.to_string());
            }
        }
        std::uint64_t all_orders = 0;
        ledger_.scan_heads(
            [&all_orders](const LedgerHead& head) { all_orders += head.totals.orders; });
        findings_.compare('d', "table order_days", "the number of orders", orders, "the heads",
                          Decimal(static_cast<Int128>(all_orders), 0));
    }

    void check_volumes() {
        ledger_.scan(TierVolume{}, {}, [this](const TierVolume& row) {
            if (tiers_of(row.program).has_some) {
                const VolumeKey key{row.account, row.program, row.creator, row.month, row.currency};
                findings_.compare('g', row_name(row), "its volume", row.amount, "the orders",
                                  volumes_[key]);
                volumes_.erase(key);
            }
            return findings_.wanted();
        });
        for (const auto& [key, sum] : volumes_) {
            const auto& [account, program, creator, month, currency] = key;
            findings_.compare('g', row_name(TierVolume{account, program, creator, month, currency}),
                              "its volume", Decimal(), "the orders", sum);
        }
        std::uint64_t listed = 0;
        ledger_.scan(TierOrder{}, {}, [&listed](const TierOrder& /*row*/) { ++listed; });
        findings_.compare('g', "table tier_orders", "its number of rows", listed, "the orders",
                          tier_orders_count_);
    }

    LedgerReader& ledger_;
    const JournalFacts& facts_;
    const ItemFacts& items_;
    Findings& findings_;
    std::uint64_t order_groups_ = 0, items_count_ = 0, open_count_ = 0, tier_orders_count_ = 0;
    std::map<ProgramId, Tiers> tiers_;
    std::map<VolumeKey, Decimal> volumes_;
    std::map<std::pair<AccountNumber, std::uint32_t>, Day> days_;  ///< By day of the sale.
};

}  // namespace

void audit_orders(LedgerReader& ledger, const JournalFacts& facts, const ItemFacts& items,
                  Findings& findings) {
    OrderAudit(ledger, facts, items, findings).run();
}

}  // namespace sluice
