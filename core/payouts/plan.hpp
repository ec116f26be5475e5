// Payout plan: what a close would pay, by creator and currency over the programs of an account
// (rules P1, P2, P5). Preview and close execute the same plan.
//
// The plan reads what has cleared twice, each time in the order of the payouts: first to add up,
// then to allocate. Memory: sums by creator and currency, a slice of rows, and what was posted
// from `until` on, on positions that have nothing open; the number of positions does not matter.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/payouts/sound_credit.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/values/result.hpp"

namespace sluice {

struct PlannedPayout {
    std::size_t number = 0;  ///< Within the payout run, from 1.
    CreatorId creator;
    Currency currency;
    Decimal amount;
    std::string payee;  ///< May be empty.
    bool needs_approval = false;
    // Known once all items were visited:
    std::uint64_t orders_count = 0, items_count = 0;
    Digest256 digest{};                 ///< ItemsDigest of the items.
    std::vector<ProgramId> programs{};  ///< Programs of the items, sorted.
};

/// Receives the planned items, one position at a time, ordered by creator and currency.
/// @param items  Items of one position; their payout_id is empty.
/// @param order  Loaded and sound, to be changed and written; nullptr for a credit's item.
using TakeItems = std::function<void(const PlannedPayout& payout, std::span<const PayoutItem> items,
                                     OrderState* order)>;
/// Ends a payout: all of its items were taken.
using FinishPayout = std::function<void(const PlannedPayout& payout)>;

struct PlanRequest {
    AccountNumber account;
    AccountId account_id;
    const PayoutClose& close;
    Timestamp received_at;
    std::string payout_run{};  ///< Command id of the close; empty means a preview.
};

class PayoutPlan {
public:
    PayoutPlan(const PlanRequest& request, const AccountSettings& settings, LedgerReader& ledger);
    PayoutPlan(const PayoutPlan&) = delete;
    PayoutPlan& operator=(const PayoutPlan&) = delete;

    /// Adds up what there is to pay. Returns kInvalid if `until` lies in the future, kNotFound if
    /// the account has no program of a name, kConflict if a payout run paid one of the programs
    /// until a later instant (K7).
    [[nodiscard]] Status add_up();
    /// Ordered by creator and currency; `payout_run` is empty. Valid after add_up().
    [[nodiscard]] const std::vector<Skipped>& skipped() const noexcept { return skipped_; }
    /// Returns the number of payouts. Valid after add_up().
    [[nodiscard]] std::size_t payouts() const noexcept { return paid_.size(); }
    /// Throws LedgerFailure if an order disagrees with its open amounts.
    /// @param take  Empty: the items are not passed on.
    void visit(const FinishPayout& finish, const TakeItems& take = {});
    /// Returns the digest over all payouts, as `payout preview` prints it. Valid after visit().
    [[nodiscard]] const Digest256& digest() const noexcept { return digest_; }

private:
    using Key = std::pair<CreatorId, Currency>;
    struct Share {
        Decimal amount, held, blocked;
        std::uint64_t units = 0;
    };
    using Later = std::map<std::string, OpenAmount>;  ///< By cleared_key().
    using LaterOrder = std::tuple<ShopNumber, OrderId, ProgramId, CreatorId>;
    class Visit;

    [[nodiscard]] Status check_programs();
    [[nodiscard]] Status check_forward();
    [[nodiscard]] bool pays_program_of(const RunUntil& run) const;
    [[nodiscard]] bool is_void(const std::string& payout_run);
    [[nodiscard]] bool wants(const CreatorId& creator) const;
    [[nodiscard]] const Program* program_of(const ProgramId& id) const;
    /// Announces the orders that are read next, and those whose journal is read.
    void expect(std::span<const OpenAmount> rows);
    [[nodiscard]] const ShopId& shop_id_of(ShopNumber shop);
    [[nodiscard]] bool has_later_postings(const OpenAmount& row) const;

    // plan_later.cpp
    /// Finds positions and credits that have nothing open now, but had accrued less before `until`.
    void find_posted_later();
    void add_later_orders(const std::set<LaterOrder>& orders);
    void add_later_order(const LaterOrder& order);
    void add_later_credit(const std::string& command);
    [[nodiscard]] bool was_posted_later(const Position& position);

    /// Computes the amounts that the close pays of a row, by line, from the order or credit. Leaves
    /// the order in state_.
    [[nodiscard]] LineAmounts payable_of_row(const OpenAmount& row);
    [[nodiscard]] LineAmounts payable_of_credit(const OpenAmount& row);
    [[nodiscard]] Decimal accrued_before(const MoneyCommand& credit, Timestamp until);
    [[nodiscard]] std::vector<PayoutItem> items_of(const OpenAmount& row);
    [[nodiscard]] std::optional<SkipReason> block_of(const OpenAmount& row, const Decimal& take);
    [[nodiscard]] bool is_held(const CreatorId& creator, const ProgramId& program);

    void add_shares();
    [[nodiscard]] bool note_credit(const OpenAmount& credit, const Decimal& take);
    void add_write_offs();
    [[nodiscard]] bool is_credited(const PayoutItem& item) const {
        return !credited_orders_.empty() &&
               credited_orders_.contains({item.shop_id, item.order_id});
    }
    void add_share(const OpenAmount& row, const Decimal& take);
    void add_to_share(const OpenAmount& row, const Decimal& take);
    [[nodiscard]] Share& share_of(const OpenAmount& row);
    void decide();
    [[nodiscard]] std::optional<SkipReason> skip_reason(const Key& key, const Decimal& amount);
    void read_profiles();
    /// Decides which payouts wait, by what each creator got and by the total of the run.
    void find_waiting();

    const PlanRequest& request_;
    const AccountSettings& settings_;
    LedgerReader& ledger_;
    SoundCredits credits_;
    std::vector<Program> programs_;
    std::set<CreatorId> creators_, excluded_;
    std::unique_ptr<ClearedRows> cleared_;
    Later later_;  ///< Amounts are what the close pays.
    std::map<Key, Share> shares_;
    /// Sums of what is below 0, less what write-offs made up for.
    std::map<std::tuple<ProgramId, CreatorId, Currency>, Decimal> below_zero_;
    std::vector<std::pair<OpenAmount, Decimal>> open_write_offs_;
    std::map<std::string, Decimal> write_offs_;  ///< By command id: what the close takes.
    std::map<CreatorId, CreatorRow> profiles_;   ///< Creators of shares_.
    std::vector<std::pair<Key, Decimal>> paid_;
    std::vector<bool> waits_;  ///< One for each payout of paid_.
    std::vector<Skipped> skipped_;
    /// Holds on creators of the account, once they were read; an empty program means all.
    std::optional<std::set<std::pair<CreatorId, ProgramId>>> holds_;
    std::map<ShopNumber, ShopId> shop_ids_;
    /// Orders that credits of the plan name. Their own items count the same order (P2).
    std::set<std::pair<ShopId, OrderId>> credited_orders_;
    Digest256 digest_{};
    OrderState state_;
};

}  // namespace sluice
