// CreatorLedger: one creator's rows of one snapshot.
//
// Made of a reader and a scope, so that no function takes an account or a creator. Account and
// creator of every row that is read are compared with the scope's; a row of another one is thrown
// as ForeignRow, because an index that leads there is wrong. An id of another creator is answered
// as an unknown id is: with nothing.
//
// A payment's id is its day and currency, `20260131-EUR`, with `-2` behind the second one. A payout
// id would tell how many creators were paid before her in the payout run.
//
// Requires: the reader is a snapshot of a stored ledger. Storage failures are thrown as
// LedgerFailure.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/creators/answers.hpp"
#include "core/creators/creator_scope.hpp"
#include "core/creators/figures.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/lists/places.hpp"
#include "core/lists/statement.hpp"
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

/// The place of an order: not its instant, of which a creator sees the day alone.
struct CreatorOrderPlace {
    ShopId shop;
    OrderId order;
};

using CreatorOrders = CreatorPage<CreatorOrder, CreatorOrderPlace>;
using CreatorPayments = CreatorPage<CreatorPayment, std::string>;
using CreatorFigurePage = CreatorPage<CreatorFigures, std::string>;
using CreatorPaymentItems = CreatorPage<CreatorPaymentItem, ItemPlace>;

inline constexpr std::size_t kCreatorPageRows = 200;

/// An order that a creator misses: shop, and number, or day and total, or all three.
struct MissedOrder {
    ShopId shop;
    std::optional<std::string> number;
    std::optional<Timestamp> day;  ///< The first instant of a UTC day.
    std::optional<Decimal> total;  ///< Before refunds, in the order's currency.
};

class CreatorLedger {
public:
    CreatorLedger(LedgerReader& ledger, CreatorScope scope)
        : ledger_(ledger), scope_(std::move(scope)) {}

    [[nodiscard]] CreatorHome home(Timestamp now);
    /// Her orders, the newest first, without those that were taken back; or nothing if `after` is
    /// no order of hers any more.
    [[nodiscard]] std::optional<CreatorOrders> orders(const std::optional<CreatorOrderPlace>& after,
                                                      Timestamp now);
    [[nodiscard]] std::optional<CreatorOrderDetail> order(const ShopId& shop, const OrderId& id,
                                                          Timestamp now);
    /// Her payments, the newest first; or nothing if `after` is no payment of hers.
    [[nodiscard]] std::optional<CreatorPayments> payments(const std::optional<std::string>& after);
    [[nodiscard]] std::optional<CreatorPayment> payment(const std::string& id);
    /// The items of a payment of hers, or nothing if there is no such payment.
    [[nodiscard]] std::optional<CreatorPaymentItems> items(const std::string& id,
                                                           const std::optional<ItemPlace>& after);
    [[nodiscard]] std::vector<CreatorLeftOut> left_out();
    /// The only read that sees orders of others; its answer has nothing of them. An order answers
    /// if it is or was hers, if it has a code of hers, if number, day and total fit, or if the
    /// number is its confirmation number; all others answer as if they did not exist.
    /// @param is_behind  Inputs of this node wait for longer than usual.
    [[nodiscard]] CreatorFound find(const MissedOrder& missed, Timestamp now,
                                    bool is_behind = false);
    /// @param from, until  First instants of a month and of the next one.
    [[nodiscard]] CreatorStatement statement(Timestamp from, Timestamp until);
    /// Returns figures of her links and codes, sorted by what they are of. Links without figures
    /// are among them, unless they were removed; codes without are not.
    /// @param month  Absent: the last twelve months by month, else the last 30 days.
    /// @param after  The name of the last row before, as `next` has it.
    [[nodiscard]] CreatorFigurePage figures(FiguresBy by, const std::optional<lists::Month>& month,
                                            const std::optional<std::string>& after, Timestamp now);

private:
    class FigureReader;

    /// Throws ForeignRow unless both are the scope's.
    void check(AccountNumber account, const CreatorId& creator) const;
    [[nodiscard]] bool is_own(const OrderState& order) const;
    /// Returns the orders that the number may mean: by the id, then by their numbers.
    [[nodiscard]] std::vector<OrderState> orders_called(const ShopId& shop,
                                                        const std::string& number);
    [[nodiscard]] std::optional<ShopNumber> shop_of(const ShopId& shop);
    [[nodiscard]] bool lags(Timestamp now);
    [[nodiscard]] CreatorFound not_found(const MissedOrder& missed, Timestamp now, bool is_behind);
    /// Returns whether an order may answer her question.
    [[nodiscard]] bool answers(const OrderState& order, const MissedOrder& missed);
    [[nodiscard]] std::optional<OrderState> missed_by_number(const MissedOrder& missed);
    [[nodiscard]] std::optional<OrderState> missed_by_total(const MissedOrder& missed);
    /// Returns her codes, also those of before, without regard to case.
    [[nodiscard]] std::set<std::string> own_codes();
    /// Returns an order of the account, or nothing.
    [[nodiscard]] std::optional<OrderState> any_order(const ShopId& shop, const OrderId& id);
    /// Returns an order that is hers, or nothing.
    [[nodiscard]] std::optional<OrderState> own_order(const ShopId& shop, const OrderId& id);
    /// Returns her payments of a day: the page's id by payout id.
    /// @param beginning  Of the day's payout ids, `P260131`.
    const std::map<std::string, std::string>& payments_on(const std::string& beginning);
    [[nodiscard]] std::string payment_id(const std::string& payout_id);
    /// Returns the payout id of a payment of hers, or nothing.
    [[nodiscard]] std::optional<std::string> payout_of(const std::string& payment_id);
    [[nodiscard]] CreatorPayment payment_of(const Payout& payout);
    [[nodiscard]] std::vector<std::string> payments_of(const OrderState& order);
    [[nodiscard]] std::vector<Balance> balances();
    void add_amounts(CreatorHome& home, Timestamp now);
    void add_months(CreatorHome& home, Timestamp now);
    void add_tiers(CreatorHome& home, Timestamp now);
    [[nodiscard]] CreatorOrder order_of(const OrderState& order, OrderJudge& judge, Timestamp now);
    void say_source(const OrderState& order, CreatorOrder& shown) const;
    [[nodiscard]] std::optional<std::string> title_of(const OrderState& order,
                                                      const OrderLine& line);
    void add_link(CreatorFigures& figures);
    [[nodiscard]] std::string spelled(const std::string& folded);
    [[nodiscard]] CreatorFigures figures_of(FiguresBy by, const std::string& name);
    [[nodiscard]] const std::string& shop_name(ShopNumber shop);
    /// Returns what people call an order that is or was hers; the id of any other one.
    [[nodiscard]] const std::string& number_of(const OrderKey& order);

    LedgerReader& ledger_;
    CreatorScope scope_;
    std::map<ShopNumber, std::string> shops_;
    std::map<OrderKey, std::string> numbers_;
    std::map<std::string, std::map<std::string, std::string>>
        days_;  ///< By the argument of payments_on().
};

}  // namespace sluice
