// Payout plan: what a close would take, per creator and currency over the programs of an account
// (books P1, P2, P5). A preview and a close run the same plan.
//
// Memory: sums per creator and currency, and the items of about kItemsAtOnce positions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/program_cache.hpp"
#include "core/rules/open_amounts.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// What one payout takes.
struct PlannedPayout {
    CreatorId creator;
    Currency currency;
    Decimal amount;
    std::vector<PayoutItem> items;  ///< By key; payout_id is left empty.
    std::uint64_t orders_count = 0;
    Digest256 digest{};  ///< Of the items.
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

    /// Adds up what there is to take. kInvalid, kNotFound: the request makes no sense.
    [[nodiscard]] Status add_up();
    /// By creator and currency; `run` is empty. Valid after add_up().
    [[nodiscard]] const std::vector<Skipped>& skipped() const noexcept { return skipped_; }
    /// How many payouts there are to be.
    [[nodiscard]] std::size_t payouts() const noexcept { return paid_.size(); }
    /// Payouts by (creator, currency). `take` may change the orders of the payout that it is given.
    /// Throws LedgerFailure if the ledger changed otherwise.
    void visit(const std::function<void(const PlannedPayout&)>& take);
    /// Of all payouts, as `payout preview` prints it. Valid after visit().
    [[nodiscard]] const Digest256& digest() const noexcept { return digest_; }

private:
    using Key = std::pair<CreatorId, Currency>;
    struct Share {
        Decimal amount, held, blocked;
        std::uint64_t units = 0;
    };
    using UnitVisitor = std::function<void(const OpenAmount&)>;

    [[nodiscard]] Status check_programs();
    [[nodiscard]] bool wants(const CreatorId& creator) const;
    [[nodiscard]] const Program* program_of(const ProgramId& id) const;
    /// Rows of the index that have matured, slice by slice: no scan is open while one is visited.
    void visit_index(const UnitVisitor& visit);
    void visit_rows(const Program& program, bool matured, Timestamp to, const UnitVisitor& visit);
    /// Positions and credits that have nothing open now, but had another due at `until`.
    void find_booked_later();
    void add_later_order(const OrderKey& key, const ProgramId& program, const CreatorId& creator);
    void add_later_credit(const std::string& credit_id);

    /// What is taken of a row, as the order or credit says; by line.
    [[nodiscard]] LineAmounts take_of_row(const OpenAmount& row);
    [[nodiscard]] LineAmounts take_of_credit(const OpenAmount& row);
    [[nodiscard]] Decimal sum_of_row(const OpenAmount& row);
    [[nodiscard]] std::vector<PayoutItem> items_of(const OpenAmount& row);
    [[nodiscard]] std::optional<SkipReason> block_of(const OpenAmount& row, const Decimal& take);
    [[nodiscard]] bool is_held(const CreatorId& creator, const ProgramId& program);

    void add_share(const OpenAmount& row);
    void decide();
    [[nodiscard]] std::optional<SkipReason> why_not(const Key& key, const Decimal& amount);
    void visit_chunk(const std::vector<std::pair<Key, Decimal>>& shares,
                     const std::function<void(const PlannedPayout&)>& take);
    void finish(PlannedPayout& payout);
    /// Says which orders the payouts from `at` on will change, as many as make a slice.
    /// @return how many payouts that are.
    std::size_t expect_payouts(std::map<Key, PlannedPayout>::const_iterator at,
                               std::map<Key, PlannedPayout>::const_iterator end);
    [[nodiscard]] ShopId shop_id_of(ShopNumber shop);

    const PlanRequest& request_;
    const AccountSettings& settings_;
    LedgerReader& ledger_;
    std::vector<Program> programs_;
    std::set<CreatorId> creators_, excluded_;
    std::vector<OpenAmount> later_;  ///< Amounts are what is taken.
    std::set<std::string> later_credits_;
    std::map<Key, Share> shares_;
    std::vector<std::pair<Key, Decimal>> paid_;
    std::vector<Skipped> skipped_;
    /// Of the account, once they were read; an empty program: all.
    std::optional<std::set<std::pair<CreatorId, ProgramId>>> holds_;
    std::map<ShopNumber, ShopId> shop_ids_;
    std::string digest_bytes_;
    Digest256 digest_{};
    OrderState state_;
};

}  // namespace sluice
