// CreatorLedger: one creator's rows of one snapshot.
//
// Made of a reader and a scope, so that no function takes an account or a creator. Account and
// creator of every row that is read are compared with the scope's; a row of another one is thrown
// as ForeignRow, because an index that leads there is wrong. Unknown ids and ids of others are
// nothing alike.
//
// Requires: the reader is a snapshot of a stored ledger. Storage failures are thrown as
// LedgerFailure.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/creators/answers.hpp"
#include "core/creators/creator_scope.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/reports/lists.hpp"
#include "core/statements/statements.hpp"

namespace sluice {

class ForeignRow : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override {
        return "a row of another creator was about to be shown";
    }
};

template <class Row, class Place>
struct CreatorPage {
    std::vector<Row> rows;
    std::optional<Place> next;  ///< The last row's place, if more follow.
};

/// The place of an item of a payment: program, shop and order.
struct ItemPlace {
    ProgramId program;
    ShopId shop;
    OrderId order;
    friend bool operator==(const ItemPlace&, const ItemPlace&) = default;
};

using CreatorOrders = CreatorPage<CreatorOrder, reports::OrderPlace>;
using CreatorPayments = CreatorPage<CreatorPayment, std::string>;
using CreatorPaymentItems = CreatorPage<CreatorPaymentItem, ItemPlace>;

inline constexpr std::size_t kCreatorPageRows = 200;

class CreatorLedger {
public:
    CreatorLedger(LedgerReader& ledger, CreatorScope scope)
        : ledger_(ledger), scope_(std::move(scope)) {}

    [[nodiscard]] CreatorHome home(Timestamp now);
    /// Her orders, the newest first, without those that were taken back.
    [[nodiscard]] CreatorOrders orders(const std::optional<reports::OrderPlace>& after,
                                       Timestamp now);
    [[nodiscard]] std::optional<CreatorOrderDetail> order(const ShopId& shop, const OrderId& id,
                                                          Timestamp now);
    /// Her payments, the newest first.
    [[nodiscard]] CreatorPayments payments(const std::optional<std::string>& after);
    [[nodiscard]] std::optional<CreatorPayment> payment(const std::string& id);
    /// The items of a payment of hers, or nothing if there is no such payment.
    [[nodiscard]] std::optional<CreatorPaymentItems> items(const std::string& id,
                                                           const std::optional<ItemPlace>& after);
    [[nodiscard]] std::vector<CreatorLeftOut> left_out();
    /// @param from, until  First instants of a month and of the next one.
    [[nodiscard]] CreatorStatement statement(Timestamp from, Timestamp until);

private:
    /// Throws ForeignRow unless both are the scope's.
    void check(AccountNumber account, const CreatorId& creator) const;
    [[nodiscard]] bool is_own(const OrderState& order) const;
    [[nodiscard]] std::vector<Balance> balances();
    void add_amounts(CreatorHome& home, Timestamp now);
    void add_months(CreatorHome& home, Timestamp now);
    void add_tiers(CreatorHome& home, Timestamp now);
    [[nodiscard]] CreatorOrder order_of(const OrderState& order, OrderJudge& judge, Timestamp now);
    [[nodiscard]] std::optional<std::string> code_of(const OrderState& order);
    [[nodiscard]] const std::string& shop_name(ShopNumber shop);

    LedgerReader& ledger_;
    CreatorScope scope_;
    std::map<ShopNumber, std::string> shops_;
};

}  // namespace sluice
