// Visits the payouts of a plan: position by position, one payout after the other.
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/approvals/subject.hpp"
#include "core/payouts/items.hpp"
#include "core/payouts/plan.hpp"

namespace sluice {
namespace {

auto key_of(const PayoutItem& item) {
    return std::tuple(item.program.view(), item.shop_id.view(), item.order_id.view(),
                      item.line.view(), item.kind);
}

struct ByKey {
    bool operator()(const PayoutItem& a, const PayoutItem& b) const {
        return key_of(a) < key_of(b);
    }
};

/// Counts items and distinct orders, and digests the items in the order of their keys. A payout's
/// credits come before its orders, so they wait here for their place.
class ItemsInOrder {
public:
    explicit ItemsInOrder(Currency currency) : currency_(currency) {}

    /// @param recurs  Whether items of the order may follow in another program, or of a credit.
    void add(const PayoutItem& item, bool recurs) {
        const bool is_credit = item.kind == ItemKind::kCredit;
        if (recurs || is_credit) {
            counted_.emplace(std::pair(item.shop_id, item.order_id), false);
        }
        if (is_credit) {
            credits_.insert(item);
            return;
        }
        while (!credits_.empty() && ByKey()(*credits_.begin(), item)) {
            count(*credits_.begin());
            credits_.erase(credits_.begin());
        }
        count(item);
    }
    void finish(PlannedPayout& payout) {
        for (const PayoutItem& credit : credits_) {
            count(credit);
        }
        payout.items_count = items_count_;
        payout.programs = {programs_.begin(), programs_.end()};
        payout.orders_count = orders_count_;
        payout.digest = digest_.digest();
    }

private:
    void count(const PayoutItem& item) {
        const bool same_order = items_count_ != 0 && last_.shop_id == item.shop_id &&
                                last_.order_id == item.order_id && last_.program == item.program;
        orders_count_ += same_order || item.order_id.empty() || was_counted(item) ? 0U : 1U;
        ++items_count_;
        digest_.add(item, currency_);
        if (!same_order) {
            last_ = item;
            programs_.insert(item.program);
        }
    }

    bool was_counted(const PayoutItem& item) {
        const auto found = counted_.find({item.shop_id, item.order_id});
        return found != counted_.end() && std::exchange(found->second, true);
    }

    Currency currency_;
    std::set<PayoutItem, ByKey> credits_;
    std::map<std::pair<ShopId, OrderId>, bool> counted_;  ///< Orders that may come again.
    std::set<ProgramId> programs_;
    PayoutItem last_;
    std::uint64_t orders_count_ = 0, items_count_ = 0;
    ItemsDigest digest_;
};

}  // namespace

class PayoutPlan::Visit {
public:
    Visit(PayoutPlan& plan, const FinishPayout& finish, const TakeItems& take)
        : plan_(plan),
          finish_payout_(finish),
          take_items_(take),
          later_(plan.later_.begin()),
          next_(plan.paid_.begin()) {}

    void run() {
        plan_.cleared_->visit([this](const OpenAmount& row) {
            add_later_before(&row);
            add(row);
        });
        add_later_before(nullptr);
        take_slice();
        finish();
        if (finished_ != plan_.paid_.size()) {
            throw_disagreement(plan_.paid_[finished_].first.first);
        }
        plan_.digest_ = run_.digest();
    }

private:
    struct Payout {
        PlannedPayout planned;
        Decimal sum;
        ItemsInOrder items;
    };

    /// @param row  nullptr means all that are left.
    void add_later_before(const OpenAmount* row) {
        if (later_ == plan_.later_.end()) {
            return;
        }
        const std::string end =
            row == nullptr ? "" : cleared_key(*row, plan_.shop_id_of(row->shop).view());
        for (; later_ != plan_.later_.end() && (row == nullptr || later_->first < end); ++later_) {
            add(later_->second);
        }
    }

    static std::tuple<const CreatorId&, const Currency&> tied(const std::pair<Key, Decimal>& paid) {
        return std::tie(paid.first.first, paid.first.second);
    }

    [[noreturn]] static void throw_disagreement(const CreatorId& creator) {
        throw LedgerFailure(
            {ErrorCode::kCorrupt, "ledger: open amounts of creator " + creator.str() +
                                      " do not agree with the orders; run sluice doctor"});
    }

    void add(const OpenAmount& row) {
        const auto key = std::tie(row.creator, row.currency);
        while (next_ != plan_.paid_.end() && tied(*next_) < key) {
            ++next_;
        }
        if (next_ == plan_.paid_.end() || tied(*next_) != key) {
            return;
        }
        slice_.push_back(row);
        if (slice_.size() == kPayoutSlice) {
            take_slice();
        }
    }

    void take_slice() {
        plan_.expect(slice_);
        for (const OpenAmount& row : slice_) {
            take(row);
        }
        slice_.clear();
    }

    void take(const OpenAmount& row) {
        const std::vector<PayoutItem> items = plan_.items_of(row);
        Decimal sum = zero_amount(row.currency);
        for (const PayoutItem& item : items) {
            sum += item.amount;
        }
        if (sum.is_zero() || plan_.block_of(row, sum)) {
            return;
        }
        begin(row);
        payout_->sum += sum;
        const bool recurs = !is_credit(row) &&
                            (plan_.state_.positions.size() > 1 || plan_.is_credited(items.front()));
        for (const PayoutItem& item : items) {
            payout_->items.add(item, recurs);
        }
        if (take_items_) {
            take_items_(payout_->planned, items, is_credit(row) ? nullptr : &plan_.state_);
        }
    }

    void begin(const OpenAmount& row) {
        if (payout_ && payout_->planned.creator == row.creator &&
            payout_->planned.currency == row.currency) {
            return;
        }
        finish();
        if (finished_ == plan_.paid_.size() ||
            tied(plan_.paid_[finished_]) != std::tie(row.creator, row.currency)) {
            throw_disagreement(row.creator);
        }
        const auto& [key, amount] = plan_.paid_[finished_];
        payout_.emplace(Payout{{finished_ + 1, key.first, key.second, amount,
                                plan_.profiles_[key.first].payee, plan_.waits_[finished_]},
                               zero_amount(key.second),
                               ItemsInOrder(key.second)});
    }

    void finish() {
        if (!payout_) {
            return;
        }
        PlannedPayout& planned = payout_->planned;
        if (payout_->sum != planned.amount) {
            throw_disagreement(planned.creator);
        }
        payout_->items.finish(planned);
        add_payout(run_, planned.creator, planned.currency, planned.amount,
                   payout_digest(planned.digest, planned.payee));
        finish_payout_(planned);
        payout_.reset();
        ++finished_;
    }

    PayoutPlan& plan_;
    const FinishPayout& finish_payout_;
    const TakeItems& take_items_;
    Later::const_iterator later_;
    std::vector<std::pair<Key, Decimal>>::const_iterator next_;
    std::vector<OpenAmount> slice_;
    std::optional<Payout> payout_;
    std::size_t finished_ = 0;
    RunningSha256 run_;
};

void PayoutPlan::visit(const FinishPayout& finish, const TakeItems& take) {
    Visit(*this, finish, take).run();
}

}  // namespace sluice
