// Payout plan: what a close would take, per creator and currency over the programs of an account
// (books P1, P2, P5). A preview and a close run the same plan.
//
// What has matured is walked twice, each time once through, in the order of the payouts: to add up,
// and to take. Memory: sums per creator and currency, a slice of rows, and what was posted after
// `until` on positions that have nothing open; not the positions, however many a payout has.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/journal/open_amounts.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/program_cache.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// What one payout takes.
struct PlannedPayout {
    std::size_t number = 0;  ///< Within the run, from 1.
    CreatorId creator;
    Currency currency;
    Decimal amount;
    // Known when all of its items were taken:
    std::uint64_t orders_count = 0, items_count = 0;
    Digest256 digest{};  ///< Of the items.
};

/// Told what is taken: payouts by (creator, currency), position by position.
class PayoutTaker {
public:
    PayoutTaker() = default;
    PayoutTaker(const PayoutTaker&) = delete;
    PayoutTaker& operator=(const PayoutTaker&) = delete;
    virtual ~PayoutTaker() = default;

    /// Items of one position; payout_id is left empty.
    /// @param order  Loaded and sound; may be changed and written. nullptr: a credit's item.
    virtual void take(const PlannedPayout& payout, std::span<const PayoutItem> items,
                      OrderState* order) = 0;
    /// All items of the payout were taken.
    virtual void finish(const PlannedPayout& payout) = 0;
};

struct PlanRequest {
    AccountNumber account;
    AccountId account_id;
    const PayoutClose& close;
    Timestamp received_at;
    std::string run{};  ///< Command id of the close; empty: a preview.
};

class PayoutPlan {
public:
    PayoutPlan(const PlanRequest& request, const AccountSettings& settings, LedgerReader& ledger);
    ~PayoutPlan();
    PayoutPlan(const PayoutPlan&) = delete;
    PayoutPlan& operator=(const PayoutPlan&) = delete;

    /// Adds up what there is to take. kInvalid, kNotFound: the request makes no sense.
    [[nodiscard]] Status add_up();
    /// By creator and currency; `run` is empty. Valid after add_up().
    [[nodiscard]] const std::vector<Skipped>& skipped() const noexcept { return skipped_; }
    /// How many payouts there are to be.
    [[nodiscard]] std::size_t payouts() const noexcept { return paid_.size(); }
    /// Throws LedgerFailure if the orders do not say what their open amounts say.
    void visit(PayoutTaker& taker);
    /// Only what each payout is.
    void visit(const std::function<void(const PlannedPayout&)>& finished);
    /// Of all payouts, as `payout preview` prints it. Valid after visit().
    [[nodiscard]] const Digest256& digest() const noexcept { return digest_; }

private:
    using Key = std::pair<CreatorId, Currency>;
    struct Share {
        Decimal amount, held, blocked;
        std::uint64_t units = 0;
    };
    using Later = std::map<std::string, OpenAmount>;  ///< By matured_key().
    using LaterOrder = std::tuple<ShopNumber, OrderId, ProgramId, CreatorId>;
    class Taking;

    [[nodiscard]] Status check_programs();
    [[nodiscard]] bool wants(const CreatorId& creator) const;
    [[nodiscard]] const Program* program_of(const ProgramId& id) const;
    /// Says which orders are asked for next, and of which the journal is, too.
    void expect(std::span<const OpenAmount> rows);
    [[nodiscard]] const ShopId& shop_id_of(ShopNumber shop);
    [[nodiscard]] bool has_later_bookings(const OpenAmount& row) const;

    // payout_later.cpp
    /// Positions and credits that have nothing open now, but had another due at `until`.
    void find_booked_later();
    void add_later_orders(const std::set<LaterOrder>& orders);
    void add_later_order(const LaterOrder& order);
    void add_later_credit(const std::string& command);
    [[nodiscard]] bool was_booked_later(const Position& position);

    /// What is taken of a row, as the order or credit says; by line. Leaves the order in state_.
    [[nodiscard]] LineAmounts take_of_row(const OpenAmount& row);
    [[nodiscard]] LineAmounts take_of_credit(const OpenAmount& row);
    [[nodiscard]] std::vector<PayoutItem> items_of(const OpenAmount& row);
    [[nodiscard]] std::optional<SkipReason> block_of(const OpenAmount& row, const Decimal& take);
    [[nodiscard]] bool is_held(const CreatorId& creator, const ProgramId& program);

    void add_shares();
    void add_share(const OpenAmount& row, const Decimal& take);
    void decide();
    [[nodiscard]] std::optional<SkipReason> why_not(const Key& key, const Decimal& amount);

    const PlanRequest& request_;
    const AccountSettings& settings_;
    LedgerReader& ledger_;
    std::vector<Program> programs_;
    std::set<CreatorId> creators_, excluded_;
    std::unique_ptr<MaturedRows> matured_;
    Later later_;  ///< Amounts are what is taken.
    std::map<Key, Share> shares_;
    std::vector<std::pair<Key, Decimal>> paid_;
    std::vector<Skipped> skipped_;
    /// Of the account, once they were read; an empty program: all.
    std::optional<std::set<std::pair<CreatorId, ProgramId>>> holds_;
    std::map<ShopNumber, ShopId> shop_ids_;
    Digest256 digest_{};
    OrderState state_;
};

}  // namespace sluice
